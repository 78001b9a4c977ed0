/**
 * A transaction of a UTXO chain as endpoints show it: decoded from its bytes, whose hash is the id, with what its inputs
 * spend, which of its outputs are spent, and its fee.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as BatchInParts from "../node/BatchInParts.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import type { MinedOutputs, Output } from "../SideSources.ts"
import * as AssetUnlock from "./internal/AssetUnlock.ts"
import * as BlockBody from "./internal/BlockBody.ts"
import { refuse } from "./internal/Malformed.ts"
import { consistent, consistentInSlices, isMethodMissing } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"
import * as WholeTransaction from "./WholeTransaction.ts"

/** The chain's nodes do not show something for good, whatever the transaction. */
export class NotShown extends Schema.TaggedError<NotShown>()("NotShown", { message: Schema.String }) {}

/** What transactions spend, and which of their outputs are spent, takes more calls of the node than a request may take. */
export class TooManyCalls extends Schema.TaggedError<TooManyCalls>()("TooManyCalls", { calls: Schema.Finite }) {}

/** Why nodes that answer show nothing. */
export type Refused = NotShown | TooManyCalls

export interface ExplorerTransaction {
  readonly transaction: WholeTransaction.WholeTransaction
  /** What each input spends; undefined for a coinbase, and for what Litecoin moves inside MWEB. */
  readonly spent: ReadonlyArray<Output | undefined>
  /** Whether each output is spent, in a block or by a transaction that waits. */
  readonly isSpent: ReadonlyArray<boolean>
  readonly isCoinbase: boolean
  /** In the smallest unit. */
  readonly fee: bigint
  /** Undefined for one that waits. */
  readonly block: { readonly hash: string; readonly height: number; readonly position: number } | undefined
  /** Of the block, or when the node saw one that waits; in seconds since the Unix epoch. */
  readonly time: number
}

/** A transaction as a node gives it: its bytes, and what its inputs spend where the node shows it. */
export interface Given {
  readonly id: string
  readonly hex: unknown
  readonly inputs: unknown
}

export const noIndex = new NotShown({
  message: "The chain's node has no index of transactions (txindex=1), and does not show what inputs spend"
})

const noOutput = 0xffff_ffff

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const isCoinbaseOf = ({ inputs }: WholeTransaction.WholeTransaction): boolean =>
  inputs.length === 1 && inputs[0]!.outputIndex === noOutput

const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)

/** What a transaction leaves for the miner. Throws `Malformed` where that would be less than nothing. */
const feeOf = (transaction: WholeTransaction.WholeTransaction, spent: ReadonlyArray<Output | undefined>): bigint => {
  if (isCoinbaseOf(transaction)) return 0n
  const { mwebFee = 0n, outputs, special, zcash } = transaction
  if (special?.type === AssetUnlock.type) return AssetUnlock.feeOf(special.payload)
  const fee =
    sum(spent.map((output) => output?.amount ?? 0n)) +
    (zcash?.revealed.all ?? 0n) +
    mwebFee -
    sum(outputs.map(({ amount }) => amount))
  return fee < 0n ? refuse("the outputs", "must not be more than the inputs") : fee
}

/** Counts the calls that what a stranger put into a block takes. */
type TakeCalls = (calls: number) => Effect.Effect<void, TooManyCalls>

const takeOf = (mostCalls: number): TakeCalls => {
  let taken = 0
  return (calls) =>
    Effect.suspend(() => {
      taken += calls
      return taken <= mostCalls ? Effect.void : Effect.fail(new TooManyCalls({ calls: taken }))
    })
}

/** Reads transactions that nodes of a chain give. */
export const completing = (chain: Chain, minedOutputs: MinedOutputs) => {
  /** Fails where the bytes are not those of the id. */
  const decode = (one: JsonRpc, { hex, id }: Given) =>
    consistentInSlices(one, "getrawtransaction", function* () {
      const read = WholeTransaction.decode(chain, yield* NodeJson.longBytes(hex, () => "the transaction"))
      if (Result.isFailure(read)) return refuse("the transaction", read.failure)
      if (text(read.success.id) !== id) refuse("the transaction", "is not the one that was asked for")
      return read.success
    })

  /** What the node's answer about a block shows of an input. */
  const shownBy = (inputs: unknown, index: number): Output | undefined => {
    const input: unknown = Array.isArray(inputs) ? inputs[index] : undefined
    const prevout = Predicate.isReadonlyObject(input) ? input.prevout : undefined
    return prevout === undefined ? undefined : NodeTransaction.readOutput(chain, prevout, () => `vin[${index}].prevout`)
  }

  const spentBy = Effect.fnUntraced(function* (
    one: JsonRpc,
    all: ReadonlyArray<Given & { readonly transaction: WholeTransaction.WholeTransaction }>,
    take: TakeCalls
  ) {
    const wanted = yield* consistent(one, "getblock", () =>
      all.flatMap(({ inputs, transaction }) =>
        isCoinbaseOf(transaction)
          ? []
          : transaction.inputs.map(({ outputIndex, transactionId }, index) => ({
              outpoint: { transactionId, index: outputIndex },
              shown: shownBy(inputs, index)
            }))
      )
    )
    const asked = wanted.filter(({ shown }) => shown === undefined).map(({ outpoint }) => outpoint)
    yield* take(asked.length)
    const answers = yield* minedOutputs(asked)
    const found = new Map(
      wanted.flatMap(({ outpoint, shown }) => (shown === undefined ? [] : [[keyOf(outpoint), shown] as const]))
    )
    for (const [index, outpoint] of asked.entries()) {
      const answer = answers[index]
      if (answer === undefined) return yield* noIndex
      found.set(keyOf(outpoint), answer)
    }
    return found
  })

  /** Whether each output that can be spent is; one that nobody can spend is not. */
  const spentAmong = Effect.fnUntraced(function* (
    one: JsonRpc,
    all: ReadonlyArray<WholeTransaction.WholeTransaction>,
    take: TakeCalls
  ) {
    const spendable = all.flatMap(({ id, outputs }) =>
      outputs.flatMap(({ script }, index) => (BlockBody.isSpendable(script) ? [`${text(id)} ${index}`] : []))
    )
    const calls = spendable.map((key) => {
      const [id, index] = key.split(" ")
      return { method: "gettxout", params: [id, Number(index), true] }
    })
    yield* take(calls.length)
    const answers = yield* Effect.catchIf(
      BatchInParts.batch(one, calls, "decimalText"),
      (error) => error._tag === "NodeRejected" && isMethodMissing(error),
      () => new NotShown({ message: "The chain's node does not show which outputs are spent (gettxout)" })
    )
    const unspent = new Set(spendable.filter((_, index) => Predicate.isReadonlyObject(answers[index])))
    return all.map(({ id, outputs }) =>
      outputs.map(({ script }, index) => BlockBody.isSpendable(script) && !unspent.has(`${text(id)} ${index}`))
    )
  })

  /** Transactions where they stand, with at most so many calls. */
  const complete = Effect.fnUntraced(function* (
    one: JsonRpc,
    given: ReadonlyArray<Given>,
    mostCalls: number,
    placeOf: (index: number) => Pick<ExplorerTransaction, "block" | "time">
  ): Effect.fn.Return<ReadonlyArray<ExplorerTransaction>, NodeError | Refused> {
    const all = yield* Effect.forEach(given, (each) =>
      Effect.map(decode(one, each), (transaction) => ({ ...each, transaction }))
    )
    const take = takeOf(mostCalls)
    const coins = yield* spentBy(one, all, take)
    const isSpent = yield* spentAmong(
      one,
      all.map(({ transaction }) => transaction),
      take
    )
    return yield* consistent(one, "getrawtransaction", () =>
      all.map(({ transaction }, index): ExplorerTransaction => {
        const isCoinbase = isCoinbaseOf(transaction)
        const spent = transaction.inputs.map(({ outputIndex, transactionId }) =>
          coins.get(keyOf({ transactionId, index: outputIndex }))
        )
        return {
          ...{ transaction, spent, isCoinbase, isSpent: isSpent[index]!, fee: feeOf(transaction, spent) },
          ...placeOf(index)
        }
      })
    )
  })

  return { decode, complete }
}
