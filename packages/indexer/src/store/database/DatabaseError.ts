import * as Schema from "effect/Schema"

/** A statement or a connection failed. */
export class DatabaseError extends Schema.TaggedError<DatabaseError>()("DatabaseError", { cause: Schema.Defect() }) {
  override get message() {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
  /** Whether a unique or primary key was violated. */
  get duplicate(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === "23505" || code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY"
  }
  /** Whether a table was named that the database does not have. */
  get missingTable(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === "42P01" || (code === "SQLITE_ERROR" && this.message.startsWith("no such table"))
  }
}
