/**
 * The callbacks of an account in one feed, over all its chains and subscriptions, in the order in which they were committed:
 * events, retractions and returns, each with a position that never changes its meaning. A reader that comes back asks for
 * what is behind the last position that it has read; what is kept no longer is counted.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as StoreEpoch from "../database/StoreEpoch.ts"
import { type FeedCallback, toFeedCallback } from "./Callbacks.ts"
import * as FeedPosition from "./FeedPosition.ts"
import * as AccountFeedPage from "./internal/AccountFeedPage.ts"
import type { Page } from "./internal/FeedPage.ts"
import * as LongPoll from "./internal/LongPoll.ts"
import { Outbox } from "./Outbox.ts"

export interface AccountCallback extends FeedCallback {
  readonly sequence: number
  readonly position: number
  readonly referenceId: string
  /** `blockchain/network`. */
  readonly chain: string
}

export interface AccountPage {
  /** In the order of their positions. */
  readonly callbacks: ReadonlyArray<AccountCallback>
  readonly hasMore: boolean
  /** Of the store, which a reader keeps with the position. */
  readonly epoch: string
  /** From where to read on. */
  readonly end: number
  /** Callbacks between the beginning and the end of the page that are kept no longer. */
  readonly missed: number
}

/**
 * The feed of an account.
 *
 * @example
 * ```ts
 * import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
 * import * as Effect from "effect/Effect"
 *
 * export const firstCallbacks = Effect.fn(function* (account: number) {
 *   const feed = yield* AccountFeed
 *   const { callbacks } = yield* feed.read(account, { after: 0, limit: 50 })
 *   return callbacks
 * })
 * ```
 */
export class AccountFeed extends Context.Service<
  AccountFeed,
  {
    /** The callbacks behind a position. Where there are none yet, waits for some, up to `waitMillis`. */
    readonly read: (
      account: number,
      page: Page,
      waitMillis?: number
    ) => Effect.Effect<AccountPage, FeedPosition.PositionRefused | DatabaseError>
    /** The position behind everything that there is now. */
    readonly end: (account: number) => Effect.Effect<FeedPosition.FeedPosition, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/AccountFeed") {
  static readonly layer = Layer.effect(
    AccountFeed,
    Effect.suspend(() => make)
  )
}

const readPage = Effect.fnUntraced(function* (account: number, page: Page) {
  const { after, limit } = page
  // Read first: what has a position by now and is not found behind it is kept no longer.
  const last = yield* AccountFeedPage.last(account)
  const epoch = yield* FeedPosition.check(page, last)
  const found = yield* AccountFeedPage.read(account, page)
  const shown = found.slice(0, limit)
  const callbacks = yield* Effect.forEach(shown, (row) =>
    Effect.map(toFeedCallback(row), (callback): AccountCallback => {
      const { chain, feed_position: position, reference_id: referenceId, sequence } = row
      return { ...callback, sequence, position, referenceId, chain }
    })
  )
  const end = callbacks.at(-1)?.position ?? last
  const missed = end - after - callbacks.length
  return { callbacks, hasMore: found.length > limit, epoch, end, missed } satisfies AccountPage
})

const make = Effect.gen(function* () {
  const outbox = yield* Outbox
  const database = yield* Database
  const stored = Effect.provideService(Database, database)

  return AccountFeed.of({
    read: Effect.fn("AccountFeed.read")(function* (account, page, waitMillis = 0) {
      return yield* LongPoll.until(
        readPage(account, page),
        ({ callbacks, missed }) => callbacks.length > 0 || missed > 0,
        waitMillis,
        outbox.nextWakeup
      )
    }, stored),
    end: Effect.fn("AccountFeed.end")(function* (account) {
      yield* AccountFeedPage.placeAll(account)
      return { after: yield* AccountFeedPage.last(account, "query"), epoch: yield* StoreEpoch.current }
    }, stored)
  })
})
