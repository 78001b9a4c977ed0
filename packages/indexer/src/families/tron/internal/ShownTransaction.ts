/** A transaction of Tron as endpoints show it, by the node's JSON: the transaction's own, and that of what it has used and paid. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TronTransaction from "@headwater/core/tron/TronTransaction"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { ExplorerTransaction } from "../../evm/Explorer.ts"
import * as TransactionOutcome from "./TransactionOutcome.ts"
import * as TronJson from "./TronJson.ts"

const Amount = Schema.optionalKey(TronJson.Sun)
const Count = Schema.optionalKey(TronJson.Count)

/** What an info says of what a transaction has used and paid; what is zero is left out. */
export const Info = Schema.Struct({
  id: TronJson.Hash,
  blockNumber: Count,
  /** All that was burned. */
  fee: Amount,
  contract_address: Schema.optionalKey(Schema.String),
  receipt: Schema.optionalKey(
    Schema.Struct({
      net_usage: Count,
      energy_fee: Amount,
      /** From the stake of the caller, and of the contract's owner. */
      energy_usage: Count,
      origin_energy_usage: Count,
      energy_usage_total: Count
    })
  ),
  internal_transactions: Schema.optionalKey(Schema.Array(Schema.Unknown))
})
type Info = typeof Info.Type

const Transaction = Schema.Struct({ txID: TronJson.Hash, raw_data_hex: TronJson.Hex })

/** What a unit of energy has cost that no stake gave; 0 where there was none. */
const priceOf = ({
  energy_fee: fee = 0,
  energy_usage: own = 0,
  energy_usage_total: total = 0,
  origin_energy_usage: origin = 0
}: NonNullable<Info["receipt"]>): bigint => {
  const bought = BigInt(total - own - origin)
  return bought > 0n ? BigInt(fee) / bought : 0n
}

/** Where a transaction stands. */
export interface Place {
  readonly block: ExplorerTransaction["block"]
  readonly position: number
}

/** A transaction by its JSON and the JSON of its info, which the first block has none of. */
export const of = (chain: Chain, json: unknown, infoJson: unknown, { block, position }: Place) =>
  Result.gen(function* () {
    const plain = Predicate.isReadonlyObject(json) ? json : {}
    const { raw_data_hex: rawHex, txID } = yield* Result.mapError(
      Schema.decodeUnknownResult(Transaction)(json),
      ({ message }) => `transaction: ${message.split("\n")[0]}`
    )
    const rawData = TronJson.bytes(rawHex)
    const hash = TronJson.bytes(txID)
    if (!Bytes.equal(TronTransaction.id(rawData), hash)) {
      return yield* Result.fail(`transaction ${txID} does not hash to its id`)
    }
    if (infoJson === undefined && block.height > 0) return yield* Result.fail(`there is no info of transaction ${txID}`)
    const info =
      infoJson === undefined
        ? undefined
        : yield* Result.mapError(
            Schema.decodeUnknownResult(Info)(infoJson),
            ({ message }) => `info: ${message.split("\n")[0]}`
          )
    if (
      info !== undefined &&
      (info.id.toLowerCase() !== Buffer.from(hash).toString("hex") || (info.blockNumber ?? 0) !== block.height)
    ) {
      return yield* Result.fail(`the info is not of transaction ${txID} in block ${block.height}`)
    }
    const { contracts, data, feeLimit } = yield* Result.mapError(
      TronTransaction.decode(rawData),
      ({ message }) => message
    )
    const [contract, ...more] = contracts
    if (contract === undefined || more.length > 0) return yield* Result.fail("a transaction has one contract")
    const { callData, recipient, sender } = TronTransaction.partiesOf(contract)
    const creates = contract.type === TronTransaction.contractTypes.createSmartContract
    const calls = contract.type === TronTransaction.contractTypes.triggerSmartContract
    // What the virtual machine runs, which alone may burn energy.
    const runs = creates || calls
    const ran: AddressBytes | undefined =
      runs && info?.contract_address !== undefined
        ? yield* TronJson.address(chain, info.contract_address, "contract_address")
        : undefined
    // Of other contracts nobody reads the limit, which may be any number.
    const gasLimit = runs ? Number(feeLimit) : 0
    if (gasLimit < 0 || !Number.isSafeInteger(gasLimit)) return yield* Result.fail(`fee_limit ${feeLimit} is no amount`)
    const { receipt = {} } = info ?? {}
    const energy = receipt.energy_usage_total ?? 0
    const to = recipient ?? ran
    return {
      ...{ hash, block, position, from: sender, to },
      created: creates ? to : undefined,
      called: calls ? to : undefined,
      value: contract.transfer?.amount ?? 0n,
      fee: BigInt(info?.fee ?? 0),
      gasPrice: priceOf(receipt),
      ...{ gasLimit, gasUsed: energy, nonce: 0 },
      // Elsewhere the memo stands where a call has its data.
      input: runs ? callData : data,
      succeeded: yield* TransactionOutcome.succeeded(plain, infoJson as Readonly<Record<string, unknown>> | undefined),
      resources: { bandwidth: receipt.net_usage ?? 0, energy }
    } satisfies ExplorerTransaction
  })
