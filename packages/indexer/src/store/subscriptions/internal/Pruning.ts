/** Forgets finished callbacks that are older than they are kept; past ones go with their partitions. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ProvenTime from "../../chain/ProvenTime.ts"
import { Database } from "../../database/Database.ts"
import * as CallbackState from "../CallbackState.ts"
import * as AccountFeedPage from "./AccountFeedPage.ts"
import * as EndedCallbacks from "./EndedCallbacks.ts"

/** In small steps; how many callbacks. */
export const prune = Effect.fnUntraced(function* ({ finishedMillis }: { readonly finishedMillis: number }) {
  const { numbers, transaction } = yield* Database
  const before = (yield* ProvenTime.now) - finishedMillis
  return yield* EndedCallbacks.eachStep({ after: 0, before }, (ended) => {
    const which = sql`id in ${numbers(ended.map(({ id }) => id))}`
    const forget = Effect.andThen(AccountFeedPage.pass("callback", which), CallbackState.apply("prune", which))
    return Effect.as(transaction(forget), ended.length)
  })
})
