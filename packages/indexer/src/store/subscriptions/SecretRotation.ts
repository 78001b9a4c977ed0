/**
 * Changes the secret that a subscription's callbacks are signed with, without a moment at which a receiver refuses them:
 * while the overlap lasts, `webhook-signature` holds a signature by the new secret and one by the old.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { type SubscriptionKey, Subscriptions } from "./Subscriptions.ts"

/** `overlapMillis`: how long the secret that was there until now is still used. */
export const rotate = Effect.fn("SecretRotation.rotate")(function* (
  key: SubscriptionKey,
  secret: string,
  overlapMillis: number
) {
  const { query, secrets, transaction } = yield* Database
  const subscriptions = yield* Subscriptions
  const { id, referenceId } = yield* subscriptions.get(key)
  const until = (yield* Clock.currentTimeMillis) + overlapMillis
  yield* transaction(
    Effect.gen(function* () {
      const sealed = yield* secrets.seal(secret, referenceId)
      yield* query((db) =>
        db
          .updateTable("subscription")
          .set({ previous_secret: sql<string | null>`secret`, previous_secret_until: until, secret: sealed })
          .where("id", "=", id)
      )
    })
  )
  return yield* subscriptions.get(key)
})
