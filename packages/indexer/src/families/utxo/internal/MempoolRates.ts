/**
 * What the transactions that wait at a node pay: the rates of some hundreds of them, however many there are, for all of them.
 * They are read again after a while at the earliest, whoever asks.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as SteadyTime from "../../../SteadyTime.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { reading } from "./Malformed.ts"
import { consistent } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

/** Transactions that are asked for one by one, evenly among all: nodes list them by what they pay, or by their ids. */
const sampled = 500
/** A longer list of ids is not read: 6 MB. */
const maxListed = 100_000
const heldMillis = 15_000

interface Waiting {
  /** In the smallest unit for 1,000 virtual bytes. */
  readonly rate: bigint
  /** Virtual bytes of all transactions that this one stands for. */
  readonly size: number
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)

/** By which a miner takes it: its own rate, or with the waiting ones that it spends from, where those pay less. */
const entryOf = (chain: Chain, entry: NodeJson.Json): Waiting => {
  const fees = Predicate.isReadonlyObject(entry.fees) ? entry.fees : {}
  const size = NodeJson.count(entry.vsize ?? entry.size, () => "vsize")
  const rateOf = (fee: unknown, of: number) =>
    (NodeJson.coins(fee, chain.decimals, () => "the fee") * 1_000n) / BigInt(Math.max(1, of))
  const own = rateOf(fees.base ?? entry.fee, size)
  if (fees.ancestor === undefined) return { rate: own, size }
  const ancestors = NodeJson.count(entry.ancestorsize, () => "ancestorsize")
  return { rate: smaller(own, rateOf(fees.ancestor, ancestors)), size }
}

export const make = (chain: Chain, rpc: JsonRpc) => {
  const turn = Semaphore.makeUnsafe(1)
  let held: { readonly until: number; readonly waiting: ReadonlyArray<Waiting> } | undefined

  const read = Effect.gen(function* () {
    const answer = yield* rpc.call("getrawmempool", [])
    const ids = yield* consistent(rpc, "getrawmempool", () => NodeJson.list(answer, () => "the mempool"))
    const count = Math.min(sampled, ids.length)
    const some = Array.from({ length: count }, (_, i) => ids[Math.floor((i * ids.length) / count)])
    const entries = yield* rpc.results(
      some.map((id) => ({ method: "getmempoolentry", params: [id] })),
      "decimalText"
    )
    // Those that are gone meanwhile are in a block.
    const found = entries.flatMap((entry) => {
      if (Result.isFailure(entry) || !Predicate.isReadonlyObject(entry.success)) return []
      const { success } = entry
      const waiting = reading(() => entryOf(chain, success))
      return Result.isSuccess(waiting) ? waiting.success : []
    })
    const each = ids.length / Math.max(1, found.length)
    return found
      .map(({ rate, size }): Waiting => ({ rate, size: size * each }))
      .sort((a, b) => (a.rate < b.rate ? 1 : a.rate > b.rate ? -1 : 0))
  }).pipe(Effect.catchTag("NodeRejected", () => Effect.succeed<ReadonlyArray<Waiting>>([])))

  const waiting = turn.withPermit(
    Effect.gen(function* () {
      const now = yield* SteadyTime.millis
      if (held !== undefined && now < held.until) return held.waiting
      held = { waiting: yield* read, until: now + heldMillis }
      return held.waiting
    })
  )

  /**
   * The rate above which at most so many virtual bytes wait; undefined where fewer wait at all, or nobody can say. `info` is
   * what the node answers to `getmempoolinfo`.
   */
  return Effect.fn("MempoolRates")(function* (ahead: number, info: unknown) {
    if (!Predicate.isReadonlyObject(info)) return undefined
    const { bytes, size } = info
    if (typeof bytes !== "number" || bytes <= ahead || typeof size !== "number" || size > maxListed) return undefined
    let sum = 0
    for (const { rate, size } of yield* waiting) {
      sum += size
      if (sum > ahead) return rate + 1n
    }
    return undefined
  })
}
