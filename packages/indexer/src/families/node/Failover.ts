/**
 * Several nodes of one chain, asked as if they were one: bounded retries, and fail-over from a node that is not well.
 *
 * The first healthy node is asked. One that fails rests for a while, longer each time, and is then preferred again. So
 * does one whose block fails its proof, and one that stands still, until it has caught up.
 * Every question is a read or may be repeated.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as SteadyTime from "../../SteadyTime.ts"
import * as BytesInFlight from "./BytesInFlight.ts"
import * as NodeHealth from "./internal/NodeHealth.ts"
import { type NodeError, NodeUnreachable } from "./NodeError.ts"

/** A question that a node did not answer. */
export interface Failure {
  readonly error: NodeError
  /** The same question may succeed later, or at another node. */
  readonly retry: boolean
  /** How long the node asked to be left alone. */
  readonly waitMillis: number
  /** Asking the same node again does not help, and another one may do better. */
  readonly elsewhere?: boolean
  /** When the question began, where it was one of several of the same work. */
  readonly since?: number
}

/** A node that is not asked while another one is well, and why. */
export interface Resting {
  readonly node: string
  readonly reason: string
}

export interface Failover<N> {
  /** In order of preference. */
  readonly nodes: ReadonlyArray<N>
  /** The node that was asked last. */
  readonly current: () => N
  /** Asks the healthiest node, and after a failure worth a retry again, or the next, until the attempts are used up. */
  readonly ask: <A>(question: (node: N) => Effect.Effect<A, Failure>) => Effect.Effect<A, NodeError>
  /** As `ask`, of one node alone, once. */
  readonly only: (node: N) => Failover<N>
  /**
   * Work whose questions all go to one node: the healthiest, or the next where that one fails, refuses or lacks what is
   * asked for, contradicts itself, or gives what fails its proof. A node that fails a proof is named in the log, and rests.
   */
  readonly withOne: <A>(work: (one: Failover<N>) => Effect.Effect<A, NodeError>) => Effect.Effect<A, NodeError>
  /** Lets a node rest, and says why in the log where the node did not rest yet. */
  readonly rest: (node: N, reason: string) => Effect.Effect<void>
  /** Ends a node's rest. */
  readonly wake: (node: N) => Effect.Effect<void>
  /** The nodes that rest by `rest` or after a failed proof. */
  readonly resting: Effect.Effect<ReadonlyArray<Resting>>
  /** Whether a node was waited for in vain, and has not answered since. */
  readonly isDoubted: (node: N) => boolean
}

const failures = Metric.counter("headwater_node_errors_total", {
  description: "Requests that a node did not answer as it should, by method",
  incremental: true
})

/** A request of many calls counts for its first method. */
const count = ({ _tag, method, node }: NodeError & { readonly method?: string }) =>
  Metric.update(Metric.withAttributes(failures, { node, method: method?.split(/,| and /)[0] ?? "", error: _tag }), 1)

/** How long a node that was waited for in vain is waited for until it has answered, while another is well and not in doubt. */
const doubtMillis = 1_000
const firstBackoffMillis = 200
const longestBackoffMillis = 5_000

/** Errors of what was answered, by which another node may do better. */
const elsewhereTags: ReadonlySet<NodeError["_tag"]> = new Set([
  ...(["ProofFailed", "NodeInconsistent", "BlockMissing", "NodeRejected"] as const)
])

interface Member<N> {
  readonly node: N
  readonly health: NodeHealth.NodeHealth
}

/** `attempts` over all nodes before a question fails: at least 4, and one more than there are nodes, if not given. */
export const make = <N extends { readonly name: string }>(
  nodes: readonly [N, ...Array<N>],
  attempts = Math.max(4, nodes.length + 1)
): Failover<N> => {
  const members = nodes.map((node): Member<N> => ({ node, health: NodeHealth.make() }))
  let current = members[0]!

  const isWell = ({ health }: Member<N>, now: number) => NodeHealth.isWell(health, now)
  const choose = (now: number) =>
    members.find((member) => isWell(member, now)) ??
    members.toSorted((one, other) => NodeHealth.compare(one.health, other.health))[0]!

  const restMember = Effect.fnUntraced(function* (member: Member<N>, reason: string) {
    const now = yield* SteadyTime.millis
    const { health, node } = member
    const isNew = NodeHealth.reasonAt(health, now) === undefined
    NodeHealth.rest(health, reason, now)
    if (isNew && nodes.length > 1) yield* Effect.logWarning(`${node.name} is not asked for a while: ${reason}`)
  })

  /** Asks a member, and takes note whether it was waited for in vain. */
  const judged = Effect.fnUntraced(function* <A>(
    { health }: Member<N>,
    question: Effect.Effect<A, Failure>
  ): Effect.fn.Return<A, Failure> {
    const since = yield* SteadyTime.millis
    const result = yield* Effect.result(question)
    if (Result.isSuccess(result) || !result.failure.retry) health.isDoubted = false
    else if ((yield* SteadyTime.millis) - since >= doubtMillis) health.isDoubted = true
    return yield* Effect.fromResult(result)
  })

  /**
   * Asks a doubted member once more while nobody waits: one that is slow, and right, would stay in doubt for good, and a quorum
   * without its word. What the answer has is for no reading.
   */
  const probe = (member: Member<N>, question: Effect.Effect<unknown, Failure>) =>
    Effect.suspend(() => {
      const { health } = member
      if (health.isProbed) return Effect.void
      health.isProbed = true
      const end = Effect.sync(() => {
        health.isProbed = false
      })
      return judged(member, question).pipe(
        Effect.provideService(BytesInFlight.CurrentReceiver, undefined),
        Effect.ignore,
        Effect.ensuring(end),
        Effect.forkDetach
      )
    })

  /** Asks a member, for a moment only where it is doubted and another one is not. */
  const askMember = Effect.fnUntraced(function* <A>(
    member: Member<N>,
    question: Effect.Effect<A, Failure>
  ): Effect.fn.Return<A, Failure> {
    const { health, node } = member
    const now = yield* SteadyTime.millis
    const isSpared = health.isDoubted && members.some((other) => !other.health.isDoubted && isWell(other, now))
    if (!isSpared) return yield* judged(member, question)
    const message = `no answer within ${doubtMillis} ms, nor to the question before`
    const error = new NodeUnreachable({ node: node.name, method: "", message })
    return yield* Effect.timeoutOrElse(judged(member, question), {
      duration: doubtMillis,
      orElse: () => Effect.andThen(probe(member, question), Effect.fail<Failure>({ error, retry: true, waitMillis: 0 }))
    })
  })

  /** Tries members until one succeeds, or the attempts are used up. */
  const tryMembers = Effect.fnUntraced(function* <A>(
    attemptAt: (member: Member<N>) => Effect.Effect<A, Failure>
  ): Effect.fn.Return<A, NodeError> {
    const refused = new Set<Member<N>>()
    for (let attempt = 1; ; attempt++) {
      const start = yield* SteadyTime.millis
      const member = members.find((other) => isWell(other, start) && !refused.has(other)) ?? choose(start)
      current = member
      const result = yield* Effect.result(attemptAt(member))
      const now = yield* SteadyTime.millis
      if (Result.isSuccess(result)) {
        NodeHealth.succeed(member.health, now)
        return result.success
      }
      const { elsewhere = false, error, retry, since = start, waitMillis } = result.failure
      if (error._tag !== "BlockMissing") yield* count(error)
      if (error._tag === "ProofFailed") yield* restMember(member, error.message)
      if (elsewhere) {
        refused.add(member)
        if (members.some((other) => isWell(other, now) && !refused.has(other))) continue
        return yield* error
      }
      if (!retry) {
        NodeHealth.succeed(member.health, now)
        return yield* error
      }
      NodeHealth.fail(member.health, since, now, waitMillis)
      if (attempt >= attempts) return yield* error
      if (isWell(choose(now), now)) continue
      const backoff = Math.min(firstBackoffMillis * 2 ** (attempt - 1), longestBackoffMillis)
      yield* Effect.sleep(Math.max(waitMillis, backoff * (0.5 + (yield* Random.next))))
    }
  })

  const memberOf = (node: N): Member<N> => members.find((member) => member.node === node)!

  const rest = (node: N, reason: string) => restMember(memberOf(node), reason)
  const isDoubted = (node: N) => memberOf(node).health.isDoubted
  const wake = (node: N) => Effect.sync(() => NodeHealth.wake(memberOf(node).health))
  const resting = Effect.map(SteadyTime.millis, (now) =>
    members.flatMap(({ health, node }): ReadonlyArray<Resting> => {
      const reason = NodeHealth.reasonAt(health, now)
      return reason === undefined ? [] : [{ node: node.name, reason }]
    })
  )

  /** One member; what a question failed with is kept for whoever decides what follows from the failure. */
  const view = (member: Member<N>, kept?: WeakMap<NodeError, Failure>): Failover<N> => {
    const one: Failover<N> = {
      nodes: [member.node],
      current: () => member.node,
      ask: (question) =>
        Effect.flatMap(SteadyTime.millis, (since) =>
          Effect.mapError(askMember(member, question(member.node)), (failure) => {
            kept?.set(failure.error, { ...failure, since })
            return failure.error
          })
        ),
      only: () => one,
      withOne: (work) => work(one),
      rest,
      wake,
      resting,
      isDoubted
    }
    return one
  }

  return {
    nodes,
    current: () => current.node,
    ask: (question) => tryMembers((member) => askMember(member, question(member.node))),
    only: (node) => view(memberOf(node)),
    withOne: (work) =>
      Effect.suspend(() => {
        const kept = new WeakMap<NodeError, Failure>()
        return tryMembers((member) =>
          Effect.mapError(work(view(member, kept)), (error): Failure => {
            const known = kept.get(error) ?? { error, retry: false, waitMillis: 0 }
            return known.retry ? known : { elsewhere: elsewhereTags.has(error._tag), ...known }
          })
        )
      }),
    rest,
    wake,
    resting,
    isDoubted
  }
}

/** A client of one or several nodes, as which each of them can be asked too. */
export interface Shared<C> {
  /** The nodes, each as a client of its own that asks once and never another node. */
  readonly each: ReadonlyArray<C>
  /** As {@link Failover.withOne}; `same` is the node's client in `each`. */
  readonly withOne: <A>(work: (one: C, same: C) => Effect.Effect<A, NodeError>) => Effect.Effect<A, NodeError>
  /** As {@link Failover.rest} and {@link Failover.wake}; `one` is of `each`. */
  readonly rest: (one: C, reason: string) => Effect.Effect<void>
  readonly wake: (one: C) => Effect.Effect<void>
  readonly resting: Effect.Effect<ReadonlyArray<Resting>>
  /** As {@link Failover.isDoubted}; `one` is of `each`. */
  readonly isDoubted: (one: C) => boolean
}

/** Clients over the same nodes, which share their health. */
export const share = <N, C>(failover: Failover<N>, clientOf: (failover: Failover<N>) => C): Shared<C> => {
  const each = failover.nodes.map((node) => clientOf(failover.only(node)))
  const nodeOf = (one: C): N => failover.nodes[each.indexOf(one)]!
  return {
    each,
    withOne: (work) => failover.withOne((one) => work(clientOf(one), each[failover.nodes.indexOf(one.current())]!)),
    rest: (one, reason) => failover.rest(nodeOf(one), reason),
    wake: (one) => failover.wake(nodeOf(one)),
    resting: failover.resting,
    isDoubted: (one) => failover.isDoubted(nodeOf(one))
  }
}

/** A client of one node that has no other beside it. */
export const alone = <C>(client: C): C & Shared<C> => ({
  ...client,
  each: [client],
  withOne: (work) => work(client, client),
  rest: () => Effect.void,
  wake: () => Effect.void,
  resting: Effect.succeed([]),
  isDoubted: () => false
})
