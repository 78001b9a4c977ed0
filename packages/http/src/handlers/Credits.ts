/** Answers the operations on the account's credits. */
import { type CreditEntry, Credits } from "@headwater/indexer/store/accounts/Credits"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import * as Pages from "../server/Pages.ts"

const shown = ({ amount, at, detail, key, kind, results }: CreditEntry) => ({
  key,
  kind,
  amount,
  results,
  detail,
  timestamp: Math.floor(at / 1000)
})

export const layer = HttpApiBuilder.group(
  Api,
  "credits",
  Effect.fnUntraced(function* (handlers) {
    const credits = yield* Credits
    return handlers.handleAll({
      balance: Effect.fnUntraced(function* () {
        const { id } = yield* CurrentAccount
        return { item: { available: yield* Effect.orDie(credits.balance(id)) } }
      }),
      statement: Effect.fnUntraced(function* ({ query }) {
        const { id } = yield* CurrentAccount
        return yield* Pages.byCursor(["statement", id], 1, query, ({ after, limit, sortingOrder }) =>
          credits
            .statement(id, { limit: limit + 1, newestFirst: sortingOrder === "DESCENDING", after: after?.[0] })
            .pipe(
              Effect.orDie,
              Effect.map((entries) => ({
                items: entries.slice(0, limit).map(shown),
                next: entries.length > limit ? [entries[limit - 1]!.id] : undefined
              }))
            )
        )
      })
    })
  })
)
