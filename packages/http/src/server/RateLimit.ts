/**
 * Limits how fast an account may spend: a bucket of credits fills at a steady rate.
 *
 * A request takes the price of one result on arrival, and the rest of its price when the answer is known. The rest may
 * leave the bucket in debt: then the next requests wait longer. Buckets are in memory, one for each account and process.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
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

export interface RateLimit {
  /** Takes the price of one result; fails with the seconds to wait. */
  readonly admit: (account: number, credits: number) => Effect.Effect<void, RequestLimitReached>
  /** Takes the rest of an answer's price. */
  readonly spend: (account: number, credits: number) => Effect.Effect<void>
}

interface Bucket {
  credits: number
  /** Milliseconds since the Unix epoch. */
  at: number
}

/** Above this number of buckets, full ones are dropped: a new bucket is full too. */
const maxBuckets = 10_000

const make = ({ burst, creditsPerSecond }: Rate): RateLimit => {
  const buckets = new Map<number, Bucket>()

  const filled = (account: number, now: number): Bucket => {
    const bucket = buckets.get(account) ?? { credits: burst, at: now }
    bucket.credits = Math.min(burst, bucket.credits + (Math.max(0, now - bucket.at) * creditsPerSecond) / 1000)
    bucket.at = now
    if (!buckets.has(account)) {
      if (buckets.size >= maxBuckets) dropFull(now)
      buckets.set(account, bucket)
    }
    return bucket
  }

  const dropFull = (now: number) => {
    for (const [account, { at, credits }] of buckets) {
      if (credits + ((now - at) * creditsPerSecond) / 1000 >= burst) buckets.delete(account)
    }
  }

  return {
    admit: (account, credits) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const bucket = filled(account, now)
        // A price above the size of a bucket needs a full bucket.
        const needed = Math.min(credits, burst)
        if (bucket.credits >= needed) {
          bucket.credits -= credits
          return Effect.void
        }
        return Effect.fail(
          new RequestLimitReached({
            message: `The account may spend ${creditsPerSecond} credits a second`,
            retryAfter: Math.max(1, Math.ceil((needed - bucket.credits) / creditsPerSecond))
          })
        )
      }),
    spend: (account, credits) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        filled(account, now).credits -= credits
      })
  }
}

const unlimited: RateLimit = { admit: () => Effect.void, spend: () => Effect.void }

/** The limit that the surrounding {@link AccountRate} asks for. */
export const fromRate: Effect.Effect<RateLimit> = Effect.map(AccountRate, (rate) =>
  rate === undefined ? unlimited : make(rate)
)
