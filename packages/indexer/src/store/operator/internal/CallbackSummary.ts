/** A callback in a row of a list. */
import { type RawBuilder, sql } from "kysely"
import type { CallbackState } from "../../database/tables/CallbackTables.ts"

export interface CallbackSummary {
  readonly idempotencyKey: string
  readonly referenceId: string
  readonly account: string
  readonly event: string
  readonly state: CallbackState
  /** Of the block; null for an unconfirmed one. */
  readonly height: number | null
  readonly sequence: number | null
  /** Milliseconds since the Unix epoch, as all times here. */
  readonly created: number
  readonly delivered: number | null
  readonly nextAttempt: number | null
  /** Attempts that are kept. */
  readonly attempts: number
}

export interface SummaryRow {
  readonly id: number
  readonly idempotency_key: string
  readonly reference_id: string
  readonly account_name: string
  readonly event: string
  readonly state: CallbackState
  readonly height: number | null
  readonly sequence: number | null
  readonly created: number
  readonly delivered: number | null
  readonly due: number
  readonly attempt_log: string
}

/** An attempt, as the log of its callback has it. */
export interface Attempt {
  /** When it began, in milliseconds since the Unix epoch. */
  readonly at: number
  /** Milliseconds until the answer or the failure. */
  readonly duration: number
  readonly status?: number
  /** Absent where the callback was accepted. */
  readonly error?: string
}

/** Written by the store alone. */
export const attemptsOf = ({ attempt_log }: Pick<SummaryRow, "attempt_log">): ReadonlyArray<Attempt> =>
  JSON.parse(attempt_log) as ReadonlyArray<Attempt>

export const of = (row: SummaryRow): CallbackSummary => ({
  ...{ idempotencyKey: row.idempotency_key, referenceId: row.reference_id, account: row.account_name },
  ...{ event: row.event, state: row.state, height: row.height, sequence: row.sequence, created: row.created },
  ...{ delivered: row.delivered, nextAttempt: row.state === "due" ? row.due : null, attempts: attemptsOf(row).length }
})

const columns = sql`
  c.id, c.idempotency_key, s.reference_id, a.name as account_name, c.event, c.state, c.height, c.sequence, c.created,
  c.delivered, c.due, c.attempt_log`

/** The rows of the callbacks whose ids a select gives, with further columns. */
export const select = (
  ids: RawBuilder<unknown>,
  more: RawBuilder<unknown> = sql``
): RawBuilder<SummaryRow> => sql<SummaryRow>`
  select ${columns} ${more} from every_callback c
  inner join subscription s on s.id = c.subscription
  inner join account a on a.id = s.account
  where c.id in (${ids})`
