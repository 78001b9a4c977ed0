/** Readers of feeds that stay connected: an account may have so many of them in this process. */
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { RequestLimitReached } from "../contract/Errors.ts"

/** How long a reader hears nothing at most, in milliseconds: then a sign of life is sent. */
export const HeartbeatMillis = Context.Reference<number>("@headwater/http/server/FeedStreams/HeartbeatMillis", {
  defaultValue: () => 15_000
})

/** Seconds after which a reader may try again that was one too many. */
const retryAfter = 5

export class FeedStreams extends Context.Service<
  FeedStreams,
  {
    /** Counts a reader of the account until the scope closes. */
    readonly open: (account: number) => Effect.Effect<void, RequestLimitReached, Scope.Scope>
    /** Readers that the account has. */
    readonly used: (account: number) => Effect.Effect<number>
  }
>()("@headwater/http/server/FeedStreams") {
  static readonly layer = Layer.effect(
    FeedStreams,
    Effect.gen(function* () {
      const maxima = yield* Limits.Limits
      const readers = new Map<number, number>()
      const used = (account: number) => readers.get(account) ?? 0
      const enter = (account: number) =>
        Effect.suspend(() =>
          Effect.map(Limits.check("streams", used(account), maxima), () => {
            readers.set(account, used(account) + 1)
          })
        )
      const leave = (account: number) =>
        Effect.sync(() => {
          const left = used(account) - 1
          if (left === 0) readers.delete(account)
          else readers.set(account, left)
        })
      return FeedStreams.of({
        open: (account) =>
          Effect.acquireRelease(enter(account), () => leave(account)).pipe(
            Effect.catchTag("LimitReached", ({ message }) => new RequestLimitReached({ message, retryAfter }))
          ),
        used: (account) => Effect.sync(() => used(account))
      })
    })
  )
}
