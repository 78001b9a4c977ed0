/**
 * The way out where the key of callback secrets is lost: secrets that nobody can read any more are removed. Nothing is
 * sent without the signature that a receiver wants: the subscriptions are deactivated, until their accounts have set new
 * secrets and activate them.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Location } from "../database/Location.ts"
import * as SecretKeyChange from "../database/SecretKeyChange.ts"
import * as Deactivation from "./Deactivation.ts"

/** Why a subscription is inactive whose secret was lost. */
export const reason = "callback_secret_lost"

/** Removes the secrets that no key of the store opens; of how many subscriptions. */
export const forget = Effect.fn("LostSecrets.forget")(function* (location: Location) {
  const { numbers, query, transaction } = yield* Database
  let forgotten = 0
  let after = 0
  while (true) {
    const found = yield* transaction(
      Effect.gen(function* () {
        const found = yield* SecretKeyChange.unreadable(location, after)
        if (found === undefined) return undefined
        for (const [chain, rows] of Map.groupBy(found.lost, ({ chain }) => chain)) {
          const ids = numbers(rows.map(({ id }) => id))
          yield* Deactivation.deactivate(chain, reason, (db) =>
            db.selectFrom("subscription").select("id").where(sql<boolean>`id in ${ids}`)
          )
          yield* query((db) =>
            db
              .updateTable("subscription")
              .set({ secret: null, previous_secret: null, previous_secret_until: null })
              .where(sql<boolean>`id in ${ids}`)
          )
        }
        return found
      })
    )
    if (found === undefined) break
    forgotten += found.lost.length
    after = found.end
  }
  yield* SecretKeyChange.forgetKeys(location)
  return forgotten
})
