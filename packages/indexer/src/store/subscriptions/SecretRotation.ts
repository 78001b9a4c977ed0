/**
 * Changes the secret that a subscription's callbacks are signed with, without a moment at which a receiver refuses them:
 * while the overlap lasts, `webhook-signature` holds a signature by the new secret and one by the old.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import { type SubscriptionKey, Subscriptions } from "./Subscriptions.ts"

/**
 * `overlapMillis`: how long the secret that was there until now is still used. The secret that is there already makes no
 * other one the former, since its request may have been made twice; that one ends no later than it would have.
 */
export const rotate = Effect.fn("SecretRotation.rotate")(function* (
  key: SubscriptionKey,
  secret: string,
  overlapMillis: number
) {
  const { forUpdate, query, secrets, transaction } = yield* Database
  const subscriptions = yield* Subscriptions
  const { id, referenceId } = yield* subscriptions.get(key)
  const until = (yield* Clock.currentTimeMillis) + overlapMillis
  const change = Effect.gen(function* () {
    const [row] = yield* query((db) =>
      db
        .selectFrom("subscription")
        .select(["secret", "previous_secret_until"])
        .where("id", "=", id)
        .modifyEnd(forUpdate)
    )
    if (row === undefined) return
    const isThere = row.secret !== null && (yield* secrets.open(row.secret, referenceId)) === secret
    const values = isThere
      ? { previous_secret_until: Math.min(row.previous_secret_until ?? 0, until) }
      : { previous_secret: row.secret, previous_secret_until: until, secret: yield* secrets.seal(secret, referenceId) }
    yield* query((db) => db.updateTable("subscription").set(values).where("id", "=", id))
  })
  yield* transaction(change)
  return yield* subscriptions.get(key)
})
