/**
 * The rate that each account has left. Where one process has the store, the buckets are in memory. Where several share the
 * store, the buckets are rows: a process takes more out of a bucket than it needs at the moment, a twentieth of the
 * bucket, and spends that within a second, so that the store is not written for each request; what it has not spent then
 * goes back with the next request.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as SteadyTime from "../../SteadyTime.ts"
import { Database } from "../database/Database.ts"

/** Credits that this process took out of a bucket and has not spent. */
interface Allowance {
  readonly tokens: number
  /** Credits that were left in the bucket then. */
  readonly left: number
  /** Milliseconds since the Unix epoch. */
  readonly until: number
}

const allowanceMillis = 1_000
const shares = 20

/** A time that is further ahead than clocks of machines that share a store are apart: by a clock that was wrong and was put right. */
const wrongMillis = 60_000

type Wanted = Parameters<RateLimiter.RateLimiterStore["Service"]["tokenBucket"]>[0]

interface Bucket {
  readonly tokens: number
  /** Until when it has been filled, in milliseconds since the Unix epoch. */
  readonly at: number
}

/** A bucket by now, to which tokens go back. */
const filledBy = (bucket: Bucket, { limit, refillRate }: Wanted, now: number, unspent = 0): Bucket => {
  // The clocks of two machines differ: none fills a bucket with time that another has counted.
  const at = bucket.at - now > wrongMillis ? now : Math.max(now, bucket.at)
  const passed = Math.max(0, at - bucket.at)
  return { tokens: Math.min(limit, bucket.tokens + unspent + passed / Duration.toMillis(refillRate)), at }
}

/**
 * Takes out of the account's row what is wanted beyond `have`, and a share more where there is that much, and puts back what
 * was `unspent`; what is then left in the row and at hand. Takes nothing where there is too little: `hand` is below zero by what is missing.
 */
const take = Effect.fnUntraced(function* (wanted: Wanted, have: number, unspent: number, now: number) {
  const { forUpdate, query, transaction } = yield* Database
  const { allowOverflow, limit } = wanted
  const account = Number(wanted.key)
  const needed = wanted.tokens - have
  return yield* transaction(
    Effect.gen(function* () {
      yield* query((db) =>
        db
          .insertInto("rate_bucket")
          .values({ account, tokens: limit, at: now })
          .onConflict((on) => on.column("account").doNothing())
      )
      const [row] = yield* query((db) =>
        db.selectFrom("rate_bucket").selectAll().where("account", "=", account).modifyEnd(forUpdate)
      )
      const { at, tokens: filled } = filledBy(row!, wanted, now, unspent)
      if (filled < needed && !allowOverflow) {
        if (unspent > 0 || at < row!.at) {
          yield* query((db) => db.updateTable("rate_bucket").set({ tokens: filled, at }).where("account", "=", account))
        }
        return { left: filled, hand: filled - needed }
      }
      const taken = Math.max(needed, Math.min(filled, needed + limit / shares))
      yield* query((db) =>
        db
          .updateTable("rate_bucket")
          .set({ tokens: filled - taken, at })
          .where("account", "=", account)
      )
      return { left: filled - taken, hand: taken - needed }
    })
  )
})

const shared = Effect.gen(function* () {
  const database = yield* Database
  const allowances = new Map<string, Allowance>()

  const tokenBucket = Effect.fnUntraced(
    function* (wanted: Wanted) {
      const { key, tokens } = wanted
      const now = yield* Clock.currentTimeMillis
      const found = allowances.get(key)
      const allowance = found !== undefined && found.until > now ? found : undefined
      const unspent = allowance === undefined ? (found?.tokens ?? 0) : 0
      if (allowance !== undefined && allowance.tokens >= tokens) {
        allowances.set(key, { ...allowance, tokens: allowance.tokens - tokens })
        return [allowance.left + allowance.tokens - tokens, 0] as const
      }
      // Another request of this moment must not spend the same.
      allowances.delete(key)
      const have = allowance?.tokens ?? 0
      const { hand, left } = yield* Effect.orDie(take(wanted, have, unspent, now))
      const before = allowances.get(key)?.tokens ?? 0
      const kept = hand < 0 ? have : hand
      allowances.set(key, { tokens: before + kept, left, until: now + allowanceMillis })
      return [hand < 0 ? hand : left + hand, 0] as const
    },
    Effect.provideService(Database, database)
  )

  return RateLimiter.RateLimiterStore.of({
    tokenBucket,
    fixedWindow: () => Effect.die("no account has a window"),
    adaptiveConsume: () => Effect.die("no account's rate is learned"),
    adaptiveFeedback: () => Effect.die("no account's rate is learned")
  })
})

/** Time that never goes back: after a clock was put back, no bucket would be filled until it is as late again. */
const steady = (clock: Clock.Clock): Clock.Clock =>
  Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: () => SteadyTime.millisBy(clock)
  })

const inMemory = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.map(RateLimiter.RateLimiterStore, (store) =>
    RateLimiter.RateLimiterStore.of({
      ...store,
      tokenBucket: (wanted) => Effect.updateService(store.tokenBucket(wanted), Clock.Clock, steady)
    })
  )
).pipe(Layer.provide(RateLimiter.layerStoreMemory))

/** The buckets, which all processes on the store share. */
export const layer: Layer.Layer<RateLimiter.RateLimiterStore, never, Database> = Layer.unwrap(
  Effect.map(Database, ({ exclusive }) => (exclusive ? inMemory : Layer.effect(RateLimiter.RateLimiterStore, shared)))
)
