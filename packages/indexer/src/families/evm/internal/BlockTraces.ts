/**
 * The traces of a block, from whichever of the chain's nodes can give them. What no node gives is missing, with the
 * reason, and never holds up the chain for longer than one answer may take.
 */
import type { BlockHeader, MissingPart } from "@headwater/core/Block"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as SteadyTime from "../../../SteadyTime.ts"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as JsonText from "../../node/JsonText.ts"
import type { Call, JsonRpc } from "../../node/JsonRpc.ts"
import { isTooLarge, type NodeError, type NodeRejected } from "../../node/NodeError.ts"
import * as PrintableText from "../../node/PrintableText.ts"
import type { BlockAnswer } from "./BlockAnswer.ts"
import * as BlockInParts from "./BlockInParts.ts"
import * as CallTracer from "./CallTracer.ts"
import * as Headers from "./Headers.ts"
import * as Hex from "./Hex.ts"
import * as KernelBlock from "./KernelBlock.ts"
import { readInSlices } from "./NodeAnswer.ts"
import * as RepeatedMoves from "./RepeatedMoves.ts"
import * as Retryable from "./Retryable.ts"
import { needsNone, NotTraced, type Tracer, type Traces } from "./Trace.ts"
import * as TraceBlock from "./TraceBlock.ts"
import type { TracingNode } from "./TracingNode.ts"

/** The traces of a block, undefined where none are needed, or why no node can give them. */
export type Traced = Result.Result<Traces | undefined, MissingPart>

/** What a block has that needs no traces. */
export const none: Effect.Effect<Traced> = Effect.succeed(Result.succeed(undefined))

/** A block as traces are asked for, and found. */
export interface Traceable {
  readonly header: BlockHeader
  readonly hashText: string
  readonly count: number
  /** Of the transactions, 32 bytes each; undefined where they do not tell them apart, or calls are not what moves coins. */
  readonly hashes: Uint8Array | undefined
  /** The block as it was answered. */
  readonly whole: Effect.Effect<BlockAnswer, NodeError>
}

/** Hashes that are known, and differ, of transactions that are no tickets and need a trace. */
const hashesOf = ({ listed }: BlockAnswer): Uint8Array | undefined => {
  const hashes = listed.flatMap((each) =>
    each.hash === undefined || Retryable.isTicket(each.transaction?.type ?? 0) || needsNone(each) ? [] : each.hash
  )
  const differ = new Set(listed.map(({ hashText }) => hashText)).size === listed.length
  return differ && hashes.length === listed.length ? Buffer.concat(hashes) : undefined
}

export const traceable = (block: BlockAnswer): Traceable => {
  const { hashText, header, listed } = block
  return { header, hashText, count: listed.length, hashes: hashesOf(block), whole: Effect.succeed(block) }
}

/** Who is asked for the traces of the block with this hash, in the request for the block itself. */
export interface AskedWithBlock {
  readonly hashText: string
  readonly node: TracingNode
  readonly call: Call
}

/** A node's answer for the traces that it was asked for in the request for their block. */
export interface GivenWithBlock {
  readonly asked: AskedWithBlock
  readonly answer: Result.Result<unknown, NodeRejected>
}

export interface BlockTraces {
  /** How to ask for the traces of the block with this hash in the request for it by `rpc`; undefined where they are not to be. */
  readonly withBlock: (rpc: JsonRpc, hash: Uint8Array) => Effect.Effect<AskedWithBlock | undefined>
  /**
   * Of a block that is about to be committed, as they were given with it; or else asks nodes that do not rest, again where a
   * young block may be traced soon.
   */
  readonly atOnce: (block: Traceable, given?: GivenWithBlock) => Effect.Effect<Traced, NodeError>
  /** Of a block that was committed without them: asks every node once. */
  readonly fromAny: (block: Traceable) => Effect.Effect<Traced>
  /** Of the transactions that the answer lists, which need not be all of the block's, each by itself: asks every node once. */
  readonly oneByOne: (block: BlockAnswer) => Effect.Effect<Traces, NotTraced>
}

/** Waits before a young block is traced again: at most five, over some seconds. */
const retries = Schedule.exponential("200 millis").pipe(Schedule.upTo({ times: 5, duration: "5 seconds" }))

/** After so many blocks in a row that could not be traced, the next ones are asked for once. */
const untracedLimit = 8

/** A refusal of a block younger than this may pass: the node lags behind the one that gave the block, or is just done. */
const youngSeconds = 60

/** For so long the chain waits for nodes that do not have the young blocks yet that they are asked to trace. */
const lagMillis = 15_000

const notTraced = ({ message }: NodeError) => new NotTraced({ reason: message })

/** What one node answers for the traces of this very block, or has answered. */
const answerBy = Effect.fnUntraced(function* (
  node: TracingNode,
  tracer: Tracer,
  block: Traceable,
  isWaitedFor: boolean,
  given?: Result.Result<unknown, NodeRejected>
): Effect.fn.Return<Traces, NotTraced> {
  const name = { number: Hex.encodeQuantity(block.header.height), hash: block.hashText }
  const answer = given ?? (yield* Effect.mapError(node.ask(tracer, name, isWaitedFor), notTraced))
  const whole = Effect.mapError(block.whole, notTraced)
  if (Result.isFailure(answer)) {
    if (isTooLarge(answer.failure)) {
      return yield* node.inTime(BlockInParts.traces(node, tracer, yield* whole), isWaitedFor)
    }
    return yield* new NotTraced({ reason: answer.failure.message || "refused" })
  }
  if (answer.success === null) return yield* new NotTraced({ reason: "block not found" })
  const { hashes } = block
  if (tracer === "debug_traceBlockByHash" && hashes !== undefined) {
    const read = yield* TimeSlice.run(() => KernelBlock.traces(answer.success, hashes))
    if (read !== undefined) return read
  }
  const traces = yield* JsonText.value(answer.success)
  const decoded = (decode: () => Generator<void, Result.Result<Traces, NotTraced>>) =>
    readInSlices(node.rpc, tracer, decode).pipe(Effect.mapError(notTraced), Effect.flatMap(Effect.fromResult))
  if (tracer === "trace_block" && hashes !== undefined) {
    return yield* decoded(() => TraceBlock.decode(traces, TraceBlock.withHashes(block.hashText, hashes)))
  }
  const listed = yield* whole
  return yield* decoded(() =>
    tracer === "trace_block" ? TraceBlock.decode(traces, listed) : CallTracer.decode(traces, listed)
  )
})

/** The traces of this very block by one node. */
const traceBy = (
  node: TracingNode,
  tracer: Tracer,
  block: Traceable,
  isWaitedFor: boolean,
  given?: Result.Result<unknown, NodeRejected>
) =>
  Effect.flatMap(answerBy(node, tracer, block, isWaitedFor, given), (traces) =>
    RepeatedMoves.removed(node, Effect.mapError(block.whole, notTraced), traces, isWaitedFor)
  )

/**
 * No second tracer is asked for a block: `trace_block` leaves out calls of precompiled contracts and so counts calls
 * otherwise (erigon #9784). A replay with the first tracer would tell the same moves again, under other operation ids
 * and so other keys.
 */
export const make = (nodes: ReadonlyArray<TracingNode>, tracer: Tracer): BlockTraces => {
  /** Blocks in a row that could not be traced. */
  let untraced = 0
  /** Since when the nodes lack the young blocks that they are asked to trace. */
  let lagsSince: number | undefined

  /** Asks the nodes in turn: those alone that do not rest, where a block waits for the answer. */
  const askEach = Effect.fnUntraced(function* (
    tracesBy: (node: TracingNode) => Effect.Effect<Traces, NotTraced>,
    isWaitedFor: boolean
  ): Effect.fn.Return<Traces, NotTraced> {
    const reasons: Array<string> = []
    for (const node of nodes) {
      const rests = isWaitedFor ? node.rests(yield* SteadyTime.millis) : undefined
      const traces = yield* Effect.result(
        rests === undefined ? tracesBy(node) : Effect.fail(new NotTraced({ reason: rests }))
      )
      if (Result.isSuccess(traces)) return traces.success
      reasons.push(nodes.length === 1 ? traces.failure.reason : `${node.rpc.node}: ${traces.failure.reason}`)
    }
    return yield* new NotTraced({ reason: reasons.join("; ") })
  })

  const ask = (block: Traceable, isWaitedFor: boolean) =>
    askEach((node) => traceBy(node, tracer, block, isWaitedFor), isWaitedFor)

  /** The traces that came with the block; undefined where they are to be asked for apart. */
  const readGiven = Effect.fnUntraced(function* (block: Traceable, { answer, asked }: GivenWithBlock) {
    // A block in the place of the one that was named.
    if (asked.hashText !== block.hashText) return undefined
    const traces = Result.getOrUndefined(yield* Effect.result(traceBy(asked.node, tracer, block, true, answer)))
    asked.node.notedWithBlock(traces && Result.getOrUndefined(answer), yield* SteadyTime.millis)
    return traces
  })

  const missingPart = ({ reason }: NotTraced): MissingPart => ({
    part: "internal",
    reason: PrintableText.of(`${tracer}: ${reason}`, 200)
  })

  // A block without transactions needs no trace, and geth's genesis has none.
  const isEmpty = ({ count }: Traceable) => count === 0

  return {
    withBlock: (rpc, hash) =>
      Effect.map(SteadyTime.millis, (now) => {
        const node = nodes.find((node) => node.rests(now) === undefined)
        if (tracer !== "debug_traceBlockByHash" || node?.rpc.node !== rpc.node) return undefined
        const hashText = Hex.encode(hash)
        const call = node.callWithBlock(hashText, now)
        return call && { hashText, node, call }
      }),
    atOnce: Effect.fnUntraced(function* (block, given): Effect.fn.Return<Traced, NodeError> {
      if (isEmpty(block)) return yield* none
      const early = given && (yield* readGiven(block, given))
      if (early !== undefined) {
        untraced = 0
        lagsSince = undefined
        return Result.succeed(early)
      }
      const { height, time } = block.header
      const now = yield* Clock.currentTimeMillis
      const isYoung = Math.abs(now / 1000 - time) < youngSeconds
      // "Method debug_traceBlockByHash not found" is no word about the block.
      const lags = ({ reason }: NotTraced) =>
        isYoung && Headers.missingWords.test(reason) && !/\bmethod\b/i.test(reason)
      const traced = yield* ask(block, true).pipe(
        Effect.retry({ schedule: retries, while: (error) => isYoung && untraced < untracedLimit && !lags(error) }),
        Effect.result
      )
      if (Result.isFailure(traced) && lags(traced.failure)) {
        lagsSince ??= now
        // The clock may have been put back meanwhile.
        if (Math.abs(now - lagsSince) < lagMillis) return yield* Headers.missing(nodes[0]!.rpc, String(height))
      } else {
        lagsSince = undefined
      }
      untraced = Result.isFailure(traced) ? untraced + 1 : 0
      return Result.mapError(traced, missingPart)
    }),
    fromAny: (block) =>
      isEmpty(block) ? none : Effect.map(Effect.result(ask(block, false)), Result.mapError(missingPart)),
    oneByOne: (block) =>
      askEach(
        (node) =>
          Effect.flatMap(BlockInParts.traces(node, tracer, block), (traces) =>
            RepeatedMoves.removed(node, Effect.succeed(block), traces, false)
          ),
        false
      )
  }
}
