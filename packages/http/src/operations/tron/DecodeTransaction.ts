/** A raw transaction of Tron in the words of the interface: signed or not, or its `raw_data` alone, as it is prepared. */
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as TronTransfer from "@headwater/core/tron/TronTransfer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { invalidField } from "../../contract/Errors.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"

const attribute = "rawTransactionHex"

interface Read {
  readonly rawData: Uint8Array
  readonly transaction: TronTransaction.TronTransaction
  readonly signatures: ReadonlyArray<Uint8Array>
}

/**
 * A transaction has `raw_data` in a field of its own, which in `raw_data` is two bytes of a number: bytes that are read as a
 * transaction are never read otherwise, as nodes would not read fields that a transaction does not have.
 */
const read = (bytes: Uint8Array): Result.Result<Read, TronTransaction.InvalidTransaction> => {
  const whole = Result.flatMap(TronTransaction.decodeSigned(bytes), ({ rawData, signatures }) =>
    Result.map(TronTransaction.decode(rawData), (transaction) => ({ rawData, transaction, signatures }))
  )
  if (Result.isSuccess(whole) && whole.success.transaction.contracts.length > 0) return whole
  const bare = TronTransaction.decode(bytes)
  return Result.isSuccess(bare) && bare.success.contracts.length > 0
    ? Result.succeed({ rawData: bytes, transaction: bare.success, signatures: [] })
    : whole
}

const decode = Effect.fnUntraced(function* (chain: Chain, text: string) {
  const bytes = new Uint8Array(Hex.decode(text))
  const { rawData, signatures, transaction } = yield* Effect.mapError(Effect.fromResult(read(bytes)), ({ message }) =>
    invalidField(attribute, `must be a transaction of Tron, or its raw_data: ${message}`)
  )
  const [contract, ...more] = transaction.contracts
  if (contract === undefined || more.length > 0) {
    return yield* invalidField(attribute, "must be a transaction of Tron with one contract")
  }
  const { callData, recipient, sender } = TronTransaction.partiesOf(contract)
  const addressText = (address: Address.AddressBytes | undefined) =>
    address === undefined ? "" : Address.encode(chain, address)!
  const coins = (sun: bigint) => Amount.format(sun, chain.decimals)
  const [signature] = signatures
  const recovery = signature?.[64]
  const feeLimit = coins(transaction.feeLimit < 0n ? 0n : transaction.feeLimit)
  return {
    id: Hash.encode(chain, TronTransaction.id(rawData)),
    gasLimit: TronTransfer.bandwidthOf(rawData, Math.max(1, signatures.length)),
    ...{ gasPaidForData: 0, nonce: 0, type: contract.type },
    inputData: Hex.prefixed(callData.length > 0 ? callData : transaction.data),
    r: signature === undefined ? "" : Hex.prefixed(signature.subarray(0, 32)),
    recipient: addressText(recipient),
    s: signature === undefined ? "" : Hex.prefixed(signature.subarray(32, 64)),
    sender: addressText(sender),
    v: String(recovery === undefined ? 0 : recovery % 27),
    fee: {
      ...{ approximateAmount: feeLimit, aproximateAmount: feeLimit },
      ...{ approximateMinimumRequiredAmount: "0", unit: chain.unit }
    },
    gasPrice: { amount: "0", unit: "SUN" },
    value: { amount: coins(contract.transfer?.amount ?? 0n), unit: chain.unit },
    expirationTimestamp: Math.floor(transaction.expiration / 1000)
  }
})

export const make = (chain: Chain): ChainOperations["evmDecode"] =>
  Effect.fn("TronDecodeTransaction.evmDecode")(({ rawTransactionHex }) => decode(chain, rawTransactionHex))
