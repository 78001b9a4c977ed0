import * as Schema from "effect/Schema"

/**
 * What `pg` says of a connection that ended without a word of the server, that had ended before, that was not made in time, or
 * on which the server does not say in time what it is; and Kysely, of one on which a rollback has failed.
 */
const connectionLost =
  /^(Connection terminated|Client has encountered a connection error|timeout ex|Query read timeout|Postgres connection has been discarded)/

/**
 * What a pool by session (PgBouncer) says of a server that it does not reach, or has no connection of left. It has one code
 * for all that it says itself, also of a database or a user that it does not know.
 */
const poolWaits = /server_login_retry|server down|query_wait_timeout|max_client_conn|cannot connect|server conn crashed/
const poolSays = "08P01"

/**
 * Codes of statements that no store could run: values that do not fit (22), broken rules (23) and unknown names (42) on
 * PostgreSQL, the same of SQLite, and values that cannot be bound.
 */
const wrongStatement =
  /^((0A|21|22|23|42)...|SQLITE_(CONSTRAINT.*|ERROR|MISMATCH|MISUSE|RANGE|TOOBIG)|(Type|Range)Error)$/
/** What a role may do is of the store, although PostgreSQL counts this code (42501) among those of wrong statements. */
const insufficientPrivilege = "42501"

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
    if (code === poolSays) return poolWaits.test(this.message)
    return code === undefined ? connectionLost.test(this.message) : /^(E(?!RR_)[A-Z_]+|53300|57P0[123])$/.test(code)
  }
  /** Whether the statement gave up waiting for a lock, as its transaction had asked. */
  get lockTimedOut(): boolean {
    return (this.cause as { readonly code?: string }).code === "55P03"
  }
  /** Whether others wrote to a SQLite file for as long as the statement waited for its turn. */
  get busy(): boolean {
    return (this.cause as { readonly code?: string }).code === "SQLITE_BUSY"
  }
  /** Whether another process has changed a SQLite file since an optimistic transaction has read it. */
  get changedMeanwhile(): boolean {
    return (this.cause as { readonly code?: string }).code === "ECHANGED"
  }
  /** Whether the store is on another server now, and has to be opened again. */
  get replaced(): boolean {
    return (this.cause as { readonly code?: string }).code === "EREPLACED"
  }
  /** Whether the store could not do its work, now or at all; else the statement was wrong. */
  get storeFailed(): boolean {
    const { code } = this.cause as { readonly code?: string }
    if (code === undefined) return !(this.cause instanceof TypeError || this.cause instanceof RangeError)
    return code === insufficientPrivilege || !wrongStatement.test(code)
  }
  /** Whether a SQLite file is damaged, or is no SQLite file: no later statement will find the file whole. */
  get damaged(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code !== undefined && /^SQLITE_(CORRUPT|NOTADB)/.test(code)
  }
  /** Whether a table was named that the database does not have. */
  get missingTable(): boolean {
    const { code } = this.cause as { readonly code?: string }
    return code === "42P01" || (code === "SQLITE_ERROR" && this.message.startsWith("no such table"))
  }
}
