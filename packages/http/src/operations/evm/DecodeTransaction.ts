/** A raw transaction of an EVM chain in the words of the interface. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as RawTransaction from "@headwater/indexer/families/evm/RawTransaction"
import * as Effect from "effect/Effect"
import type { Transaction } from "ethers/transaction"
import { invalidField } from "../../contract/Errors.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"
import * as SafeInteger from "./SafeInteger.ts"

/** Gas for bytes of input data (EIP-2028), and of any transaction. */
const gasOf = (data: Uint8Array) => data.reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 0)
const plainGas = 21_000

/** Gas for a byte that is 0 in the floor of what data costs (EIP-7623), and for any other one. Some chains have no floor. */
const floorOf = (data: Uint8Array) => data.reduce((gas, byte) => gas + (byte === 0 ? 10 : 40), 0)

/** Of a creation of a contract, and for each word of the code that makes it (EIP-3860). */
const creationGas = 32_000
const codeWordGas = 2
const wordBytes = 32

/** For each address and key of an access list (EIP-2930), and each authorization (EIP-7702). */
const listedAddressGas = 2_400
const listedKeyGas = 1_900
const authorizationGas = 25_000

/** Gas of a blob (EIP-4844). */
const blobGas = 131_072n

/** Gas that a transaction has to have before anything of it is run. */
const leastGas = ({ accessList, authorizationList, to }: Transaction, data: Uint8Array): bigint => {
  const creation = to === null ? creationGas + codeWordGas * Math.ceil(data.length / wordBytes) : 0
  const listed = (accessList ?? []).reduce(
    (gas, { storageKeys }) => gas + listedAddressGas + listedKeyGas * storageKeys.length,
    0
  )
  const authorizations = authorizationGas * (authorizationList ?? []).length
  return BigInt(plainGas + Math.max(gasOf(data) + creation + listed + authorizations, floorOf(data)))
}

const attribute = "rawTransactionHex"

const decode = Effect.fnUntraced(function* (chain: Chain, text: string) {
  const read = RawTransaction.read(`0x${text.replace(/^0x/, "").toLowerCase()}`)
  const transaction = yield* Effect.mapError(read, (rule) => invalidField(attribute, rule))
  const { chainId, maxFeePerGas, maxPriorityFeePerGas, signature } = transaction
  const own = chain.evm?.chainId
  if (own !== undefined && chainId !== 0n && chainId !== BigInt(own)) {
    return yield* invalidField(attribute, `is of the chain with id ${chainId}; ${chain.blockchain} has ${own}`)
  }
  const coins = (wei: bigint) => Amount.format(wei, chain.decimals)
  const price = maxFeePerGas ?? transaction.gasPrice ?? 0n
  const data = Hex.decode(transaction.data)
  const blobs = (transaction.maxFeePerBlobGas ?? 0n) * blobGas * BigInt((transaction.blobVersionedHashes ?? []).length)
  const approximateAmount = coins(price * transaction.gasLimit + blobs)
  return {
    id: transaction.hash ?? transaction.unsignedHash,
    gasLimit: yield* SafeInteger.of(attribute, transaction.gasLimit),
    gasPaidForData: gasOf(data),
    inputData: transaction.data,
    nonce: transaction.nonce,
    r: signature?.r ?? "",
    recipient: transaction.to ?? "",
    s: signature?.s ?? "",
    sender: transaction.from ?? "",
    type: transaction.type ?? 0,
    v: String(
      signature === null ? 0 : (signature.networkV ?? (transaction.type === 0 ? signature.v : signature.yParity))
    ),
    fee: {
      approximateAmount,
      approximateMinimumRequiredAmount: coins(price * leastGas(transaction, data) + blobs),
      unit: chain.unit,
      aproximateAmount: approximateAmount
    },
    gasPrice: { amount: String(price), unit: "Wei" },
    value: { amount: coins(transaction.value), unit: chain.unit },
    ...(maxFeePerGas === null
      ? {}
      : {
          blockchainSpecific: {
            fee: {
              maxFeePerGas: String(maxFeePerGas),
              maxPrioriryFeePerGas: String(maxPriorityFeePerGas ?? 0n),
              unit: "Wei"
            }
          }
        })
  }
})

export const make = (chain: Chain): ChainOperations["evmDecode"] =>
  Effect.fn("DecodeTransaction.evmDecode")(({ rawTransactionHex }) => decode(chain, rawTransactionHex))
