/** Answers how the receivers of an account's callbacks do. */
import * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import * as Pages from "../server/Pages.ts"

/** A field that is absent where there is no value. */
export const optional = <K extends string, A>(key: K, value: A | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [_ in K]?: A }

/** As the contract has it. */
export const shown = (health: ReceiverHealth.ReceiverHealth) => ({
  state: health.state,
  ...optional("failingSinceTimestamp", health.failingSince),
  ...optional("error", health.error),
  ...optional("pausedUntilTimestamp", health.pausedUntil),
  ...optional("nextAttemptTimestamp", health.nextAttempt),
  ...optional("oldestTimestamp", health.oldest),
  attempts: health.attempts,
  ...optional("successRate", health.successRate),
  ...optional("p50Millis", health.p50),
  ...optional("p99Millis", health.p99)
})

export const layer = HttpApiBuilder.group(
  Api,
  "receivers",
  Effect.fnUntraced(function* (handlers) {
    const health = yield* ReceiverHealth.make
    const database = yield* Database
    return handlers.handleAll({
      recover: Effect.fnUntraced(
        function* ({ payload }) {
          const { id } = yield* CurrentAccount
          const { host, sinceTimestamp: time } = payload.data.item
          const subscriptions = yield* Effect.orDie(Recovery.beginAll(id, { host: host?.toLowerCase(), time }))
          return { item: { subscriptions } }
        },
        Effect.provideService(Database, database)
      ),
      list: Effect.fnUntraced(function* ({ query }) {
        const { id } = yield* CurrentAccount
        return yield* Pages.byOffset(query, 10, (page) =>
          Effect.map(Effect.orDie(health.ofAccount(id, page)), ({ hosts, total }) => ({
            total,
            items: hosts.map((of) => ({
              ...{ host: of.host, ...shown(of), waiting: of.waiting, retrying: of.retrying },
              ...{ failingSubscriptions: of.failingSubscriptions, inactiveSubscriptions: of.inactiveSubscriptions }
            }))
          }))
        )
      })
    })
  })
)
