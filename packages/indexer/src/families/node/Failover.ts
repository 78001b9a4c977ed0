/**
 * Several nodes of one chain, asked as if they were one: bounded retries, and fail-over from a node that is not well.
 *
 * The first healthy node is asked. One that fails rests for a while, longer each time, and is then preferred again.
 * Every question is a read or may be repeated.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import type { NodeError } from "./NodeError.ts"

/** A question that a node did not answer. */
export interface Failure {
  readonly error: NodeError
  /** The same question may succeed later, or at another node. */
  readonly retry: boolean
  /** How long the node asked to be left alone. */
  readonly waitMillis: number
}

export interface Failover<N> {
  /** In order of preference. */
  readonly nodes: ReadonlyArray<N>
  /** The node that was asked last. */
  readonly current: () => N
  /** Asks the healthiest node, and after a failure worth a retry again, or the next, until the attempts are used up. */
  readonly ask: <A>(question: (node: N) => Effect.Effect<A, Failure>) => Effect.Effect<A, NodeError>
}

const failures = Metric.counter("headwater_node_errors_total", {
  description: "Requests that a node did not answer as it should, by method",
  incremental: true
})

/** A request of many calls counts for its first method. */
const count = ({ _tag, method, node }: NodeError & { readonly method?: string }) =>
  Metric.update(Metric.withAttributes(failures, { node, method: method?.split(/,| and /)[0] ?? "", error: _tag }), 1)

const firstRestMillis = 1_000
const longestRestMillis = 60_000
const firstBackoffMillis = 200
const longestBackoffMillis = 5_000

interface Health {
  failuresInARow: number
  /** Not asked before this time while another node is well. */
  restsUntil: number
}

/** `attempts` over all nodes before a question fails: at least 4, and one more than there are nodes, if not given. */
export const make = <N>(nodes: readonly [N, ...Array<N>], attempts = Math.max(4, nodes.length + 1)): Failover<N> => {
  const members = nodes.map((node) => ({
    node,
    health: { failuresInARow: 0, restsUntil: 0 } satisfies Health as Health
  }))
  let current = members[0]!

  const choose = (now: number) =>
    members.find(({ health }) => health.restsUntil <= now) ??
    members.reduce((soonest, member) => (member.health.restsUntil < soonest.health.restsUntil ? member : soonest))

  const ask: Failover<N>["ask"] = Effect.fnUntraced(function* (question) {
    for (let attempt = 1; ; attempt++) {
      const member = choose(yield* Clock.currentTimeMillis)
      const { health, node } = member
      current = member
      const result = yield* Effect.result(question(node))
      if (Result.isFailure(result)) yield* count(result.failure.error)
      if (Result.isSuccess(result) || !result.failure.retry) {
        health.failuresInARow = 0
        health.restsUntil = 0
        return yield* Effect.fromResult(Result.mapError(result, (failure) => failure.error))
      }
      const { error, waitMillis } = result.failure
      const now = yield* Clock.currentTimeMillis
      const rest = Math.min(firstRestMillis * 2 ** health.failuresInARow++, longestRestMillis)
      health.restsUntil = now + Math.max(rest, waitMillis)
      if (attempt >= attempts) return yield* error
      if (choose(now).health.restsUntil <= now) continue
      const backoff = Math.min(firstBackoffMillis * 2 ** (attempt - 1), longestBackoffMillis)
      yield* Effect.sleep(Math.max(waitMillis, backoff * (0.5 + (yield* Random.next))))
    }
  })

  return { nodes, current: () => current.node, ask }
}
