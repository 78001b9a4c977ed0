/**
 * Changes the keys that callback secrets are encrypted with: encrypts every secret with the first key, and forgets the ids
 * of the others. An interrupted change goes on where it was, also when the daemon is started meanwhile.
 */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { sql } from "kysely"
import * as BackgroundMigrations from "./BackgroundMigrations.ts"
import { Database } from "./Database.ts"
import { rewriting } from "./internal/SecretRewriting.ts"
import * as SecretBox from "./internal/SecretBox.ts"
import type { Location } from "./Location.ts"
import * as SecretKeys from "./SecretKeys.ts"
import { rows } from "./Statements.ts"

/** What the rewriting is called in `BackgroundMigrations`. */
export const name = rewriting.name

/** The ids of the keys that the store needs. */
export const needed = Effect.flatMap(Database, ({ read }) =>
  Effect.map(
    read((db) => db.selectFrom("secret_key").select("id").orderBy("id")),
    (rows) => rows.map(({ id }) => id)
  )
)

/** Fails while a secret is encrypted with another key: no key may be forgotten then. */
const noneWithout = Effect.fnUntraced(function* (id: string) {
  const { query } = yield* Database
  const isOther = (column: string) => sql<boolean>`${sql.ref(column)} not like ${`${SecretBox.beginningOf(id)}%`}`
  const [other] = yield* query((db) =>
    db
      .selectFrom("subscription")
      .select("id")
      .where((is) => is.or([isOther("secret"), isOther("previous_secret")]))
      .limit(1)
  )
  if (other === undefined) return
  return yield* new SecretKeys.SecretKeysUnusable({
    message:
      `Another process encrypts callback secrets with another key than ${id}: keep all keys, see that each daemon has ${id} ` +
      "first, and run headwater secrets rotate again"
  })
})

/**
 * Encrypts every secret with the first key; the id of that key. Fails where others encrypt with another key meanwhile, and
 * forgets no key then.
 */
export const encryptAll = Effect.fn("SecretKeyChange.encryptAll")(function* (location: Location) {
  const { exclusive, query, secrets, transaction } = yield* Database
  yield* secrets.prepare
  const [key] = yield* SecretKeys.read(location)
  yield* query((db) =>
    db
      .insertInto("background_migration")
      .columns(["name", "position", "last"])
      .expression((of) =>
        of
          .selectFrom("subscription")
          .select([sql.lit(rewriting.name).as("name"), sql<number>`0`.as("position")])
          .select((max) => sql<number>`coalesce(${max.fn.max("id")}, 0)`.as("last"))
          // SQLite would take the conflict's clause for a join's.
          .where(sql<boolean>`1 = 1`)
      )
      .onConflict((on) => on.column("name").doUpdateSet({ position: 0, last: sql<number>`excluded.last` }))
  )
  // A daemon that looks for rewritings, as each does every minute, may be at a range: the rows of that are not done yet.
  yield* Effect.repeat(Effect.andThen(BackgroundMigrations.run([rewriting]), BackgroundMigrations.isPending(name)), {
    while: (isPending) => isPending,
    schedule: Schedule.spaced("100 millis")
  })
  yield* transaction(
    Effect.gen(function* () {
      // Whoever encrypts notes its key first, and has this lock until its secrets are there to be seen.
      if (!exclusive) yield* query(rows(sql`lock table secret_key in share row exclusive mode`))
      yield* noneWithout(key!.id)
      yield* query((db) => db.deleteFrom("secret_key").where("id", "!=", key!.id))
    })
  )
  return key!.id
})

/** Subscriptions looked at in one transaction. */
const batchSize = 500

/**
 * The subscriptions of a range whose secret no key of the store opens, each with its chain, and the end of the range;
 * undefined where no subscription follows.
 */
export const unreadable = Effect.fnUntraced(function* (location: Location, after: number) {
  const { query } = yield* Database
  const known = new Set((yield* SecretKeys.read(location)).map(({ id }) => id))
  const isLost = (text: string | null) => {
    const id = text === null ? undefined : SecretBox.keyIdOf(text)
    return id !== undefined && !known.has(id)
  }
  const rows = yield* query((db) =>
    db
      .selectFrom("subscription")
      .select(["id", "chain", "secret", "previous_secret"])
      .where("id", ">", after)
      .orderBy("id")
      .limit(batchSize)
  )
  const last = rows.at(-1)
  if (last === undefined) return undefined
  return {
    end: last.id,
    lost: rows.filter(({ previous_secret, secret }) => isLost(secret) || isLost(previous_secret))
  }
})

/** Forgets that the store needs keys which it does not have. */
export const forgetKeys = Effect.fnUntraced(function* (location: Location) {
  const { query } = yield* Database
  const known = (yield* SecretKeys.read(location)).map(({ id }) => id)
  yield* query((db) =>
    db.deleteFrom("secret_key").$if(known.length > 0, (forgotten) => forgotten.where("id", "not in", known))
  )
})
