/**
 * Limits how fast an account may spend: a bucket of credits fills at a steady rate, whether or not credits are charged.
 *
 * A request takes the price of one result on arrival, and the rest of its price when the answer is known. The rest may
 * leave the bucket in debt: then the next requests wait longer. An operation without a price takes as much as a cheap
 * one. Every answer says what is left, in the headers `RateLimit` and `RateLimit-Policy` of the IETF's draft and in the
 * older `X-RateLimit-…`.
 */
import * as RateBuckets from "@headwater/indexer/store/accounts/RateBuckets"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { RequestInfo } from "../contract/Envelope.ts"
import { RequestLimitReached } from "../contract/Errors.ts"

export interface Rate {
  readonly creditsPerSecond: number
  /** The most that a bucket holds. */
  readonly burst: number
}

/** The rate of every account; undefined for none. */
export const AccountRate = Context.Reference<Rate | undefined>("@headwater/http/server/RateLimit/AccountRate", {
  defaultValue: () => undefined
})

/** Requests of an account that this process answers at the same time: each may hold a connection for a minute. */
export const RequestsAtOnce = Context.Reference<number>("@headwater/http/server/RateLimit/RequestsAtOnce", {
  defaultValue: () => 256
})

/** Runs a request unless its account has as many under way as it may. */
export const atOnce = Effect.map(RequestsAtOnce, (most) => {
  const running = new Map<number, number>()
  return <A, E, R>(account: number, request: Effect.Effect<A, E, R>): Effect.Effect<A, E | RequestLimitReached, R> =>
    Effect.suspend((): Effect.Effect<A, E | RequestLimitReached, R> => {
      const count = (running.get(account) ?? 0) + 1
      if (count > most) {
        const message = `The account has ${most} requests under way, which is all that it may`
        return Effect.fail(new RequestLimitReached({ message, retryAfter: 1 }))
      }
      running.set(account, count)
      return Effect.ensuring(
        request,
        Effect.sync(() => {
          const left = running.get(account)! - 1
          if (left === 0) running.delete(account)
          else running.set(account, left)
        })
      )
    })
})

/**
 * Runs requests with long answers one after another, of each account one in its turn. Side by side the steps of all of
 * them would come between two steps of anybody's request, and their answers would be written in the same moment.
 */
export const inTurn = Effect.map(PartitionedSemaphore.make<number>({ permits: 1 }), ({ withPermit }) => withPermit)

/** Credits that a request takes of the rate where its operation has no price. */
const withoutPrice = 30

export interface RateLimit {
  /** Takes the price of one result; fails with the seconds to wait. */
  readonly admit: (account: number, credits: number) => Effect.Effect<void, RequestLimitReached>
  /** Takes the rest of an answer's price. */
  readonly spend: (account: number, credits: number) => Effect.Effect<void>
  /** Takes what so many results cost beyond the first, each as much as a request of their operation. */
  readonly spendResults: (account: number, price: number, results: number) => Effect.Effect<void>
}

const seconds = (duration: Duration.Duration) => Math.ceil(Duration.toSeconds(duration))

const make = Effect.fnUntraced(function* ({ burst, creditsPerSecond }: Rate) {
  const { consume } = yield* Effect.provide(RateLimiter.make, RateBuckets.layer)
  const window = Duration.seconds(burst / creditsPerSecond)
  const policy = `"account";q=${burst};w=${seconds(window)}`

  const tell = (remaining: number, resetAfter: Duration.Duration) =>
    Effect.map(RequestInfo, ({ headers }) => {
      const [left, reset] = [Math.max(0, Math.floor(remaining)), seconds(resetAfter)]
      headers["ratelimit-policy"] = policy
      headers.ratelimit = `"account";r=${left};t=${reset}`
      headers["x-ratelimit-limit"] = String(burst)
      headers["x-ratelimit-remaining"] = String(left)
      headers["x-ratelimit-reset"] = String(reset)
    })

  const take = (account: number, tokens: number, onExceeded: "fail" | "delay") =>
    consume({ ...{ algorithm: "token-bucket", window, limit: burst }, key: String(account), tokens, onExceeded }).pipe(
      Effect.flatMap(({ remaining, resetAfter }) => tell(remaining, resetAfter))
    )

  /** What is left is less than was asked for by what comes in until the request may be made again. */
  const refuse =
    (asked: number) =>
    ({ reason }: RateLimiter.RateLimiterError) => {
      if (reason._tag === "RateLimitStoreError") return Effect.die(reason)
      const missing = Duration.toSeconds(reason.retryAfter) * creditsPerSecond
      const full = Duration.seconds((burst - asked + missing) / creditsPerSecond)
      const retryAfter = Math.max(1, seconds(reason.retryAfter))
      const message = `The account may spend ${creditsPerSecond} credits a second`
      return Effect.andThen(tell(asked - missing, full), new RequestLimitReached({ message, retryAfter }))
    }

  const spend = (account: number, credits: number) =>
    credits <= 0 ? Effect.void : Effect.orDie(take(account, credits, "delay"))

  const creditsOf = (price: number) => (price === 0 ? withoutPrice : price)

  return {
    admit: (account, price) => {
      const credits = creditsOf(price)
      // A price above the size of a bucket needs a full bucket.
      const first = Math.min(credits, burst)
      return take(account, first, "fail").pipe(
        Effect.catch(refuse(first)),
        Effect.andThen(spend(account, credits - first))
      )
    },
    spend,
    spendResults: (account, price, results) => spend(account, (results - 1) * creditsOf(price))
  } satisfies RateLimit
})

const unlimited: RateLimit = { admit: () => Effect.void, spend: () => Effect.void, spendResults: () => Effect.void }

/** The limit that the surrounding {@link AccountRate} asks for. */
export const fromRate = Effect.flatMap(AccountRate, (rate) =>
  rate === undefined ? Effect.succeed(unlimited) : make(rate)
)
