/**
 * The newest block that the preferred node says. A node that stands still while another goes on, or stays behind blocks that
 * another has given, rests until it has caught up.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as SteadyTime from "../../../SteadyTime.ts"
import type { Head } from "../../Source.ts"
import type { Shared } from "../Failover.ts"
import type { NodeError } from "../NodeError.ts"
import { headsOf, type Questions } from "./Questions.ts"

/** A head that has not risen for so many block times, within bounds, is compared with those of other nodes. */
const blockTimes = 4
const leastStillMillis = 15_000
const mostStillMillis = 60_000
/** How long a node may lack a block that another one has given. */
const behindMillis = 3_000
/** Between two looks at nodes that stand still or are behind. */
const lookMillis = 5_000

export interface PreferredHead<C> {
  readonly head: Effect.Effect<Head, NodeError>
  /** Notes that some node has given the block at a height. */
  readonly noteGiven: (height: number) => void
  /** Whether a node rests since it stood still or was behind. */
  readonly isStill: (client: C) => boolean
}

export const make = <C>(chain: Chain, nodes: Shared<C>, questions: Questions<C>): PreferredHead<C> => {
  const stillMillis = Math.min(Math.max(blockTimes * chain.blockSeconds * 1_000, leastStillMillis), mostStillMillis)
  let highest = -1
  let risenAt = 0
  let lookedAt = 0
  /** The highest block that some node has given, and one that the preferred node lacked when it was asked. */
  let given = -1
  let lacked: { readonly height: number; readonly at: number } | undefined
  const still = new Set<C>()

  /** Wakes the nodes that have caught up with a block of this height. */
  const wakeRisen = Effect.fnUntraced(function* (height: number) {
    for (const { client, head: other } of yield* headsOf(questions, [...still])) {
      if (other.height < height) continue
      still.delete(client)
      yield* nodes.wake(client)
      yield* Effect.logInfo(`${questions.name(client)} has caught up, and is asked again`)
    }
  })

  /** The head of the healthiest node. */
  const healthiest = nodes.withOne((one, client) => Effect.map(questions.head(one), (head) => ({ head, client })))

  /** That of one that stood still, and has caught up meanwhile, where the others have died: failing ones go before it. */
  const preferred = Effect.catch(healthiest, (error) =>
    Effect.gen(function* () {
      const before = still.size
      yield* wakeRisen(highest)
      return yield* still.size < before ? healthiest : error
    })
  )

  /** Lets the node rest that is at `head` where another one has the block at `least`; whether it does. */
  const leave = Effect.fnUntraced(function* (
    client: C,
    head: Head,
    { least, state }: { readonly least: number; readonly state: "stands still" | "is behind" }
  ) {
    const others = nodes.each.filter((other) => other !== client && !still.has(other))
    const ahead = (yield* headsOf(questions, others)).find(({ head: other }) => other.height >= least)
    if (ahead === undefined) return false
    // The node may have been a moment behind.
    const again = yield* Effect.result(questions.head(client))
    if (Result.isSuccess(again) && again.success.height >= least) return false
    still.add(client)
    yield* nodes.rest(
      client,
      `it ${state} at block ${head.height}, while ${questions.name(ahead.client)} has block ${ahead.head.height}`
    )
    return true
  })

  /** Lets the node rest that is at `head`, long behind what another one has given; whether it does. */
  const leaveBehind = Effect.fnUntraced(function* (client: C, head: Head, now: number) {
    if (lacked === undefined || head.height >= lacked.height) {
      lacked = head.height < given ? { height: given, at: now } : undefined
      return false
    }
    if (now - lacked.at < behindMillis) return false
    const least = lacked.height
    lacked = undefined
    if (yield* leave(client, head, { least, state: "is behind" })) return true
    // No node has that block any more.
    given = head.height
    return false
  })

  const head = Effect.gen(function* () {
    const { client, head } = yield* preferred
    if (nodes.each.length === 1) return head
    const now = yield* SteadyTime.millis
    if (still.size > 0 && now - lookedAt >= lookMillis) {
      lookedAt = now
      yield* wakeRisen(head.height)
    }
    if (yield* leaveBehind(client, head, now)) return (yield* preferred).head
    if (head.height > highest) {
      highest = head.height
      risenAt = now
      return head
    }
    if (now - risenAt < stillMillis) return head
    risenAt = now
    const isLeft = yield* leave(client, head, { least: head.height + 1, state: "stands still" })
    return isLeft ? (yield* preferred).head : head
  })

  return {
    head,
    noteGiven: (height) => {
      given = Math.max(given, height)
    },
    isStill: (client) => still.has(client)
  }
}
