/** Asks a node for the traces of a block, more than once where the node cannot give them yet. */
import type { MissingPart } from "@headwater/core/Block"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import type { BlockAnswer } from "./BlockAnswer.ts"
import * as CallTracer from "./CallTracer.ts"
import * as Headers from "./Headers.ts"
import * as Hex from "./Hex.ts"
import { read } from "./NodeAnswer.ts"
import { NotTraced, type Trace, type Tracer } from "./Trace.ts"
import * as TraceBlock from "./TraceBlock.ts"

/** The traces of a block, undefined where none are needed, or why the node cannot give them. */
export type Traced = Result.Result<ReadonlyArray<Trace> | undefined, MissingPart>

/** What a block has that needs no traces. */
export const none: Effect.Effect<Traced> = Effect.succeed(Result.succeed(undefined))

/** Waits before a block that the node could not trace is traced again: at most five, over some seconds. */
const retries = Schedule.exponential("200 millis").pipe(Schedule.upTo({ times: 5, duration: "5 seconds" }))

/**
 * After so many blocks in a row that could not be traced, the next ones are asked for once: the node has lost their
 * state, and catching up with thousands of such blocks must not wait for each.
 */
const untracedLimit = 8

/** A node that has no trace of a block younger than this lags behind the one that gave the block. */
const lagSeconds = 60

/** The traces out of the node's answer about them. */
const decode = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  tracer: Tracer,
  block: BlockAnswer,
  answer: Result.Result<unknown, NodeRejected>
): Effect.fn.Return<ReadonlyArray<Trace>, NodeError | NotTraced> {
  const traces = Result.getOrElse(answer, () => null)
  if (traces === null) {
    const reason = Result.isFailure(answer) ? answer.failure.message || "refused" : "block not found"
    const age = (yield* Clock.currentTimeMillis) / 1000 - block.header.time
    if (Math.abs(age) < lagSeconds && Headers.missingWords.test(reason)) {
      return yield* Headers.missing(rpc, String(block.header.height))
    }
    return yield* new NotTraced({ reason })
  }
  const decoded = yield* read(rpc, tracer, () =>
    tracer === "trace_block" ? Result.succeed(TraceBlock.decode(traces, block)) : CallTracer.decode(traces, block)
  )
  return yield* Effect.fromResult(decoded)
})

/**
 * Traces of this very block. `byNumber` is the answer to `trace_block` with the block's number, where that was asked
 * for with the block. A node that is overloaded, lags or does not answer is an error: it can give the traces later.
 *
 * No second tracer is asked for a block: `trace_block` leaves out calls of precompiled contracts and so counts calls
 * otherwise (erigon #9784). A replay with the first tracer would tell the same moves again, under other operation ids
 * and so other keys.
 */
export const make = (rpc: JsonRpc, tracer: Tracer) => {
  /** Blocks in a row that the node could not trace. */
  let untraced = 0
  return Effect.fnUntraced(function* (
    block: BlockAnswer,
    byNumber: Result.Result<unknown, NodeRejected> | undefined
  ): Effect.fn.Return<Traced, NodeError> {
    // A block without transactions needs no trace, and geth's genesis has none.
    if (block.transactions.length === 0) return Result.succeed(undefined)
    const params =
      tracer === "trace_block" ? [Hex.encodeQuantity(block.header.height)] : [block.hashText, CallTracer.config]
    let first = byNumber
    const answer = Effect.suspend(() => {
      const given = first
      first = undefined
      if (given !== undefined) return Effect.succeed(given)
      return Effect.map(rpc.results([{ method: tracer, params }]), ([result]) => result!)
    })
    const traced: Traced = yield* Effect.flatMap(answer, (answer) => decode(rpc, tracer, block, answer)).pipe(
      Effect.retry({ schedule: retries, while: ({ _tag }) => _tag === "NotTraced" && untraced < untracedLimit }),
      Effect.map(Result.succeed),
      Effect.catchTag("NotTraced", ({ reason }) => {
        const printable = `${tracer}: ${reason}`.replace(/\p{Cc}+/gu, " ").slice(0, 200)
        return Effect.succeed(Result.fail<MissingPart>({ part: "internal", reason: printable }))
      })
    )
    untraced = Result.isFailure(traced) ? untraced + 1 : 0
    return traced
  })
}
