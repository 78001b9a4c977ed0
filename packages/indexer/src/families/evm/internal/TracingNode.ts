/**
 * One of a chain's nodes as it is asked for traces: within a time of its own, and not again for a while after it gave no
 * answer, so that a node that takes too long for traces, or has none, does not hold up the chain.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"
import * as CallTracer from "./CallTracer.ts"
import { isMethodMissing } from "./NodeAnswer.ts"
import type { Tracer } from "./Trace.ts"

/** A block as nodes name it: its number as a quantity, and its hash. */
export interface BlockName {
  readonly number: unknown
  readonly hash: unknown
}

export interface TracingNode {
  readonly rpc: JsonRpc
  /**
   * The node's answer, or its refusal. Fails where the node did not answer within the time; then, and where the node lacks
   * the method, the node rests for a while, unless no block waits for the answer.
   */
  readonly ask: (
    tracer: Tracer,
    block: BlockName,
    isWaitedFor: boolean
  ) => Effect.Effect<Result.Result<unknown, NodeRejected>, NodeError>
  /** Why the node rests at present; undefined where it may be asked. */
  readonly rests: (now: number) => string | undefined
}

const firstRestMillis = 1_000
const longestRestMillis = 600_000

/** The node's own limit for a transaction, as a part of ours for a block: the node gives up first, and says at which one. */
const nodesShare = 0.9

const invalidParams = -32602

/** `rpc` asks this node alone, and gives up after `timeoutMillis`. */
export const make = (rpc: JsonRpc, timeoutMillis: number): TracingNode => {
  const timeout = `${Math.floor(timeoutMillis * nodesShare)}ms`
  let takesTimeout = true
  let restsUntil = 0
  let restMillis = 0
  let reason = ""

  const send = (tracer: Tracer, { hash, number }: BlockName, limited: boolean) =>
    Effect.map(
      rpc.results([
        {
          method: tracer,
          params: tracer === "trace_block" ? [number] : [hash, CallTracer.config(limited ? timeout : undefined)]
        }
      ]),
      ([result]) => result!
    )

  const rest = (why: string, since: number, now: number) => {
    reason = why
    // Of several questions at the same time, the first that fails counts.
    if (now < restsUntil) return
    restMillis = Math.min(Math.max(firstRestMillis, now - since, restMillis * 2), longestRestMillis)
    restsUntil = now + restMillis
  }

  const ask: TracingNode["ask"] = Effect.fnUntraced(function* (tracer, block, isWaitedFor) {
    const since = yield* Clock.currentTimeMillis
    let answer = yield* Effect.tapError(send(tracer, block, takesTimeout), (error) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        if (isWaitedFor) rest(error.message, since, now)
      })
    )
    if (takesTimeout && Result.isFailure(answer) && answer.failure.code === invalidParams) {
      // Hosted nodes refuse a limit above their own.
      const unlimited = yield* send(tracer, block, false)
      if (Result.isSuccess(unlimited)) takesTimeout = false
      answer = unlimited
    }
    if (Result.isSuccess(answer) || !isMethodMissing(answer.failure)) {
      restMillis = 0
      restsUntil = 0
    } else if (isWaitedFor) {
      rest(answer.failure.message, since, yield* Clock.currentTimeMillis)
    }
    return answer
  })

  return { rpc, ask, rests: (now) => (now < restsUntil ? reason : undefined) }
}
