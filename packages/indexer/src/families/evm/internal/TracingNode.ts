/**
 * One of a chain's nodes as it is asked for traces: within a time of its own, and not again for a while after it gave no
 * answer, so that a node that takes too long for traces, or has none, does not hold up the chain. From then on until the
 * node has answered, be it about a block that lacks its traces already, no block waits for longer than a moment.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SteadyTime from "../../../SteadyTime.ts"
import { JsonText } from "../../node/JsonText.ts"
import type { Call, JsonRpc, Numbers, Sharing } from "../../node/JsonRpc.ts"
import { isTooLarge, type NodeError, type NodeRejected, NodeUnreachable } from "../../node/NodeError.ts"
import * as CallTracer from "./CallTracer.ts"
import { isMethodMissing } from "./NodeAnswer.ts"
import { NotTraced, type Tracer } from "./Trace.ts"

/** A block as nodes name it: its number as a quantity, and its hash. */
export interface BlockName {
  readonly number: unknown
  readonly hash: unknown
}

export interface TracingNode {
  readonly rpc: JsonRpc
  /**
   * The node's answer, which may be a `JsonText`, or its refusal. Fails where the node did not answer within the time; then, and where the node lacks
   * the method, the node rests for a while, unless no block waits for the answer.
   */
  readonly ask: (
    tracer: Tracer,
    block: BlockName,
    isWaitedFor: boolean
  ) => Effect.Effect<Result.Result<unknown, NodeRejected>, NodeError>
  /**
   * The call of `debug_traceBlockByHash` to send in the request for the block itself; undefined where the node is to be asked
   * apart: unless it gave the traces of the last block at once, and few, and for a while after such a request failed.
   */
  readonly callWithBlock: (hash: string, now: number) => Call | undefined
  /** Takes note of the traces that a request for a block and its traces gave; undefined where it gave none. */
  readonly notedWithBlock: (traces: unknown, now: number) => void
  /** The node's answer for one transaction of a block whose traces are too large together. */
  readonly askOne: (tracer: Tracer, transaction: string) => Effect.Effect<unknown, NodeError>
  /** The answers for all transactions of a block, within the time for a block where one waits for them. */
  readonly inTime: <A>(all: Effect.Effect<A, NotTraced>, isWaitedFor: boolean) => Effect.Effect<A, NotTraced>
  /** Whether a block waits for the node for no more than a moment, and shares no request. */
  readonly isInDoubt: () => boolean
  /** Why the node rests at present; undefined where it may be asked. */
  readonly rests: (now: number) => string | undefined
}

const firstRestMillis = 1_000
const longestRestMillis = 600_000
/** How long a block waits for a node that did not answer when it was asked last. */
const doubtMillis = 1_000

/** Traces that came within this time came at once. */
const promptMillis = 500
/** What is larger takes so long to read that a request counts for little, and may be too large for the kernel beside its block. */
const fewBytes = 4 * 2 ** 20
/** Of traces that come as values, as small ones do, and what is larger than a kernel reads, nobody knows the bytes. */
const fewValues = 100

const areFew = (traces: unknown) =>
  traces instanceof JsonText ? traces.bytes.length <= fewBytes : Array.isArray(traces) && traces.length <= fewValues

/** After a failed request for a block and its traces these are asked for apart: twice as long each time, in milliseconds. */
const [firstApartMillis, longestApartMillis] = [60_000, 3_600_000]

/** The node's own limit for a transaction, as a part of ours for a block: the node gives up first, and says at which one. */
const nodesShare = 0.9

const invalidParams = -32602

/**
 * `rpc` asks this node alone, and gives up after `timeoutMillis`. `isDoubted`: whether the node was waited for in vain with
 * another question.
 */
export const make = (rpc: JsonRpc, timeoutMillis: number, isDoubted = () => false): TracingNode => {
  const timeout = `${Math.floor(timeoutMillis * nodesShare)}ms`
  let takesTimeout = true
  let restsUntil = 0
  let restMillis = 0
  let reason = ""
  let isPrompt = false
  let apartUntil = 0
  let apartMillis = firstApartMillis

  const callOf = (method: string, of: unknown, takesConfig: boolean, limited: boolean): Call => ({
    method,
    params: takesConfig ? [of, CallTracer.config(limited ? timeout : undefined)] : [of]
  })

  /** One call of `method` about a block or a transaction. */
  const send = Effect.fnUntraced(function* (
    method: string,
    of: unknown,
    takesConfig: boolean,
    numbers: Numbers = "plain",
    sharing: Sharing = "alone"
  ) {
    const call = (limited: boolean) =>
      Effect.map(rpc.results([callOf(method, of, takesConfig, limited)], numbers, sharing), ([result]) => result!)
    const answer = yield* call(takesTimeout)
    if (!takesTimeout || Result.isSuccess(answer) || answer.failure.code !== invalidParams) return answer
    // Hosted nodes refuse a limit above their own.
    const unlimited = yield* call(false)
    if (Result.isSuccess(unlimited)) takesTimeout = false
    return unlimited
  })

  const rest = (why: string, since: number, now: number) => {
    reason = why
    // Of several questions at the same time, the first that fails counts.
    if (now < restsUntil) return
    restMillis = Math.min(Math.max(firstRestMillis, now - since, restMillis * 2), longestRestMillis)
    restsUntil = now + restMillis
  }

  const answered = () => {
    restMillis = 0
    restsUntil = 0
  }

  const isInDoubt = () => restMillis > 0 || isDoubted()

  /** How long a block waits for an answer. */
  const waitMillis = () => (isInDoubt() ? Math.min(doubtMillis, timeoutMillis) : timeoutMillis)

  const ask: TracingNode["ask"] = Effect.fnUntraced(function* (tracer, { hash, number }, isWaitedFor) {
    const since = yield* SteadyTime.millis
    const wait = waitMillis()
    const sharing = isInDoubt() ? "alone" : "shared"
    const sent =
      tracer === "trace_block"
        ? send(tracer, number, false, "text", sharing)
        : send(tracer, hash, true, "text", sharing)
    const inDoubt = Effect.timeoutOrElse(sent, {
      duration: wait,
      orElse: () =>
        new NodeUnreachable({
          node: rpc.node,
          method: tracer,
          message: `no answer within ${wait} ms, nor to the question before`
        })
    })
    const answer = yield* Effect.tapError(isWaitedFor && wait < timeoutMillis ? inDoubt : sent, (error) =>
      Effect.map(SteadyTime.millis, (now) => {
        if (isWaitedFor) rest(error.message, since, now)
      })
    )
    const took = (yield* SteadyTime.millis) - since
    isPrompt = Result.isSuccess(answer) && took < promptMillis && areFew(answer.success)
    if (Result.isSuccess(answer)) answered()
    else if (isMethodMissing(answer.failure)) {
      if (isWaitedFor) rest(answer.failure.message, since, yield* SteadyTime.millis)
    } else if (!isTooLarge(answer.failure)) {
      answered()
    }
    return answer
  })

  const callWithBlock: TracingNode["callWithBlock"] = (hash, now) =>
    isPrompt && !isInDoubt() && now >= apartUntil
      ? callOf("debug_traceBlockByHash", hash, true, takesTimeout)
      : undefined

  const notedWithBlock: TracingNode["notedWithBlock"] = (traces, now) => {
    if (traces === undefined) {
      apartUntil = now + apartMillis
      apartMillis = Math.min(2 * apartMillis, longestApartMillis)
    } else {
      apartMillis = firstApartMillis
      isPrompt = areFew(traces)
    }
  }

  const askOne: TracingNode["askOne"] = (tracer, transaction) =>
    Effect.flatMap(
      tracer === "trace_block"
        ? send("trace_transaction", transaction, false)
        : send("debug_traceTransaction", transaction, true),
      Effect.fromResult
    )

  const limited = <A>(all: Effect.Effect<A, NotTraced>) =>
    Effect.suspend(() => {
      const wait = waitMillis()
      return Effect.timeoutOrElse(all, {
        duration: wait,
        orElse: () =>
          Effect.flatMap(SteadyTime.millis, (now) => {
            const why = `the traces of its transactions take longer than ${wait} ms together`
            rest(why, now - wait, now)
            return new NotTraced({ reason: why })
          })
      })
    })

  const inTime: TracingNode["inTime"] = (all, isWaitedFor) =>
    Effect.tap(isWaitedFor ? limited(all) : all, () => Effect.sync(answered))

  return {
    ...{ rpc, ask, callWithBlock, notedWithBlock, askOne, inTime, isInDoubt },
    rests: (now) => (now < restsUntil ? reason : undefined)
  }
}
