/** Answers how much of the service an account may take. */
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import { Database } from "@headwater/indexer/store/database/Database"
import { Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { FeedStreams } from "../server/FeedStreams.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "limits",
  Effect.fnUntraced(function* (handlers) {
    const database = yield* Database
    const maxima = yield* Limits.Limits
    const { parkedCount } = yield* Retention
    const streams = yield* FeedStreams
    return handlers.handleAll({
      get: Effect.fnUntraced(
        function* () {
          const { id } = yield* CurrentAccount
          const used = yield* Effect.orDie(Limits.usage(id, maxima))
          const counted = (limit: keyof typeof used) => ({ maximum: maxima[limit], used: used[limit] })
          return {
            item: {
              subscriptions: counted("subscriptions"),
              duplicates: { maximum: maxima.duplicates },
              waitingCallbacks: counted("waitingCallbacks"),
              heldCallbacks: { maximum: parkedCount },
              domains: counted("domains"),
              verificationsAnHour: counted("verificationsAnHour"),
              wallets: counted("wallets"),
              addresses: counted("addresses"),
              listedAddresses: counted("listedAddresses"),
              bulkRequests: counted("bulkRequests"),
              callbackCopies: counted("callbackCopies"),
              nodeCalls: { maximum: maxima.nodeCalls },
              streams: { maximum: maxima.streams, used: yield* streams.used(id) }
            }
          }
        },
        Effect.provideService(Database, database)
      )
    })
  })
)
