/** Answers the feed of an account: a page, or all that comes as long as the reader stays connected. */
import * as Accounts from "@headwater/indexer/store/accounts/Accounts"
import { type AccountCallback, AccountFeed, type AccountPage } from "@headwater/indexer/store/subscriptions/AccountFeed"
import type { FeedPosition } from "@headwater/indexer/store/subscriptions/FeedPosition"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as AllowList from "../contract/AllowList.ts"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { now } from "../contract/Feed.ts"
import * as FeedCursor from "../server/FeedCursor.ts"
import { FeedStreams, HeartbeatMillis } from "../server/FeedStreams.ts"
import * as Stopping from "../server/Stopping.ts"
import { shown } from "./Callbacks.ts"
import * as FeedStream from "./FeedStream.ts"

const feedOf = (account: number) => ["feed", account]

const ofSubscription = (callback: AccountCallback) => {
  const [blockchain, network] = callback.chain.split("/") as [string, string]
  const { referenceId, sequence } = callback
  return { ...shown(callback), blockchain, network, referenceId, sequence }
}

const pageOf = (account: number, { callbacks, end, epoch, hasMore, missed }: AccountPage) => ({
  hasMore,
  nextStartingAfter: FeedCursor.encode(feedOf(account), end, epoch),
  missed,
  items: callbacks.map((callback) => ({
    ...ofSubscription(callback),
    position: FeedCursor.encode(feedOf(account), callback.position, epoch)
  }))
})

export const layer = HttpApiBuilder.group(
  Api,
  "feed",
  Effect.fnUntraced(function* (handlers) {
    const accounts = yield* Accounts.Accounts
    const feed = yield* AccountFeed
    const streams = yield* FeedStreams
    const heartbeatMillis = yield* HeartbeatMillis
    const stopping = yield* Stopping.Stopping

    /** Whether the key of a reader that stays connected may still read. */
    const mayRead = Effect.fnUntraced(function* (account: number, key: Redacted.Redacted) {
      const caller = yield* accounts.authenticate(key)
      return caller?.account === account && AllowList.allows(caller.endpoints, "feed", "read")
    })

    /** Pages without an end, each read when the one before has been taken. The first is read now, so that a refusal is told. */
    const pagesFrom = Effect.fnUntraced(function* (account: number, from: FeedPosition, limit: number) {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const key = Redacted.make(headers["x-api-key"] ?? "")
      const first = yield* feed.read(account, { ...from, limit })
      const behind = ({ end: after, epoch }: AccountPage) =>
        Effect.gen(function* () {
          const page = yield* feed.read(account, { after, epoch, limit }, heartbeatMillis)
          return (yield* mayRead(account, key)) ? ([page, page] as const) : undefined
        }).pipe(
          // A reader that is let go comes back, to this daemon after its start or to another one.
          Effect.raceFirst(Effect.as(stopping, undefined)),
          // The reader comes back, and is told then what is wrong.
          Effect.catch(({ message }) =>
            Effect.as(Effect.logDebug(`The reader of a feed is let go: ${message}`), undefined)
          )
        )
      return Stream.concat(Stream.succeed(first), Stream.unfold(first, behind)).pipe(
        Stream.map((page) => pageOf(account, page))
      )
    })

    return handlers.handleAll({
      read: Effect.fnUntraced(
        function* ({ query }) {
          const { limit = 50, wait = 0 } = query
          const { id: account } = yield* CurrentAccount
          const request = yield* HttpServerRequest.HttpServerRequest
          const transport = FeedStream.transportOf(request)
          const lastEventId = transport === "events" ? request.headers["last-event-id"] : undefined
          const startingAfter = lastEventId ?? query.startingAfter
          const position =
            startingAfter === now ? yield* feed.end(account) : yield* FeedCursor.decode(feedOf(account), startingAfter)
          if (transport !== undefined) {
            yield* streams.open(account)
            const pages = yield* pagesFrom(account, position, limit)
            return transport === "events" ? FeedStream.asEvents(pages) : yield* FeedStream.overSocket(pages)
          }
          const page = yield* Stopping.waiting(
            stopping,
            (waitMillis) => feed.read(account, { ...position, limit }, waitMillis),
            wait * 1000
          )
          return {
            limit,
            ...(startingAfter === undefined ? {} : { startingAfter: String(startingAfter) }),
            ...pageOf(account, page)
          }
        },
        Effect.catchTags({
          DatabaseError: Effect.die,
          PositionRefused: FeedCursor.refused
        })
      )
    })
  })
)
