/** A rewriting of stored rows behind a migration. */
import type * as Effect from "effect/Effect"
import type { Database, DatabaseError } from "../Database.ts"

/** What is done with the rows that were stored before the migration of the same name. */
export interface BackgroundMigration {
  /** Of its row in `background_migration`, which the migration leaves. */
  readonly name: string
  /** Ids in one range. */
  readonly batchSize: number
  /** Rewrites the rows with the ids `after < id <= last`. */
  readonly rewrite: (range: {
    readonly after: number
    readonly last: number
  }) => Effect.Effect<void, DatabaseError, Database>
}
