/** Matching of blocks as a service. The pure functions are those of `events/Matcher`. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Block } from "../Block.ts"
import type { Chain } from "../chains/Chain.ts"
import * as Matcher from "../events/Matcher.ts"

export class EventMatcher extends Context.Service<
  EventMatcher,
  {
    /** The occurrences of a block for the subscriptions among `candidates`. Others have turns while a large block is matched. */
    readonly match: <S extends Matcher.Subscription>(
      chain: Chain,
      block: Block,
      candidates: Matcher.Candidates<S>
    ) => Effect.Effect<Matcher.Matched<S>>
  }
>()("@headwater/core/services/EventMatcher") {
  static readonly layer = Layer.succeed(EventMatcher, {
    match: Effect.fn("EventMatcher.match")(function* <S extends Matcher.Subscription>(
      chain: Chain,
      block: Block,
      candidates: Matcher.Candidates<S>
    ) {
      const work = Matcher.matchInSteps(chain, block, candidates)
      let step = work.next()
      while (step.done !== true) {
        yield* Effect.yieldNow
        step = work.next()
      }
      return step.value
    })
  })
}
