/**
 * Rewrites stored rows behind a migration, beside the work of the daemon: a range of ids at a time, each with the note
 * of its position in one short transaction. A process that is killed goes on at the range that was not done. A program
 * that embeds the store runs the layer as the daemon does.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { Database } from "./Database.ts"
import type { BackgroundMigration } from "./internal/BackgroundMigration.ts"
import * as CompletenessRewriting from "./internal/CompletenessRewriting.ts"
import * as SecretRewriting from "./internal/SecretRewriting.ts"

export type { BackgroundMigration } from "./internal/BackgroundMigration.ts"

/** Those of this program. */
const all: ReadonlyArray<BackgroundMigration> = [...CompletenessRewriting.all, SecretRewriting.rewriting]

/** Between two ranges, for others that wait to write. */
const pause = "10 millis"
const progressMillis = 10_000

/** Rewrites the next range; the position after it with the end, undefined where nothing is left, or another daemon is at it. */
const step = Effect.fnUntraced(function* ({ batchSize, name, rewrite }: BackgroundMigration) {
  const { defer, forUpdateSkipLocked, query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const [pending] = yield* query((db) =>
        db.selectFrom("background_migration").selectAll().where("name", "=", name).modifyEnd(forUpdateSkipLocked)
      )
      if (pending === undefined) return undefined
      const position = Math.min(pending.position + batchSize, pending.last)
      yield* rewrite({ after: pending.position, last: position })
      yield* defer((db) =>
        position < pending.last
          ? db.updateTable("background_migration").set({ position }).where("name", "=", name)
          : db.deleteFrom("background_migration").where("name", "=", name)
      )
      return { position, last: pending.last }
    })
  )
})

/** Rewrites everything that is left, and logs how far each rewriting is. */
export const run = Effect.fn("BackgroundMigrations.run")(function* (migrations: ReadonlyArray<BackgroundMigration>) {
  const { emptyLog } = yield* Database
  for (const migration of migrations) {
    let logged = -Infinity
    while (true) {
      const done = yield* step(migration)
      if (done === undefined) break
      const now = yield* Clock.currentTimeMillis
      if (now - logged >= progressMillis || done.position >= done.last) {
        const percent = done.last === 0 ? 100 : Math.floor((100 * done.position) / done.last)
        yield* Effect.logInfo(`Rewriting stored rows (${migration.name}): ${percent} %`)
        logged = now
      }
      yield* Effect.sleep(pause)
    }
    if (logged > 0) yield* emptyLog
  }
})

/** Whether rows are left that the rewriting of this name has not reached. */
export const isPending = Effect.fn("BackgroundMigrations.isPending")(function* (name: string) {
  const { read } = yield* Database
  const found = yield* read((db) => db.selectFrom("background_migration").select("name").where("name", "=", name))
  return found.length > 0
})

/** Rewrites what the migrations of this program have left. */
export const pending = run(all)

/** Does so once the layer is built; looks again each minute, since another daemon may have ended in the middle. */
export const layer = Layer.effectDiscard(
  pending.pipe(
    Effect.catchCause((cause) => Effect.logError("Rewriting stored rows failed, tried again in a minute", cause)),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped
  )
)
