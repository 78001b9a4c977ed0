/** Secrets that are not encrypted, or with a key that is to go, are encrypted with the key that encrypts now. */
import * as Effect from "effect/Effect"
import { Database } from "../Database.ts"
import type { BackgroundMigration } from "./BackgroundMigration.ts"

export const rewriting: BackgroundMigration = {
  name: "callback secrets",
  batchSize: 500,
  rewrite: Effect.fnUntraced(function* ({ after, last }) {
    const { forUpdate, query, secrets, updateEach } = yield* Database
    const rows = yield* query((db) =>
      db
        .selectFrom("subscription")
        .select(["id", "reference_id", "secret", "previous_secret"])
        .where("id", ">", after)
        .where("id", "<=", last)
        .where("secret", "is not", null)
        .orderBy("id")
        .modifyEnd(forUpdate)
    )
    const renewed = Effect.fnUntraced(function* (text: string | null, owner: string) {
      if (text === null || (yield* secrets.isCurrent(text))) return text
      return yield* secrets.seal(yield* secrets.open(text, owner), owner)
    })
    const changed = yield* Effect.forEach(
      rows,
      Effect.fnUntraced(function* ({ id, previous_secret, reference_id, secret }) {
        return {
          id,
          secret: yield* renewed(secret, reference_id),
          previous_secret: yield* renewed(previous_secret, reference_id)
        }
      })
    )
    yield* updateEach("subscription", changed)
  })
}
