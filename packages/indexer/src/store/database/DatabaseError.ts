import * as Schema from "effect/Schema"

/** What `pg` says of a connection that ended without a word of the server, and of one that had ended before. */
const connectionLost = /^(Connection terminated|Client has encountered a connection error)/

/** A statement or a connection failed. */
export class DatabaseError extends Schema.TaggedError<DatabaseError>()("DatabaseError", { cause: Schema.Defect() }) {
  override get message() {
    if (!(this.cause instanceof Error)) return String(this.cause)
    // Where a host has several addresses, the error of all of them has a code but no message.
    return this.cause.message || String((this.cause as { readonly code?: string }).code)
  }
  /** Whether a unique or primary key was violated. */
  get duplicate(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === "23505" || code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY"
  }
  /** Whether the PostgreSQL server was not to be reached, was starting or stopping, or had no connection left. */
  get unavailable(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === undefined ? connectionLost.test(this.message) : /^(E(?!RR_)[A-Z_]+|53300|57P0[123])$/.test(code)
  }
  /** Whether a table was named that the database does not have. */
  get missingTable(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === "42P01" || (code === "SQLITE_ERROR" && this.message.startsWith("no such table"))
  }
}
