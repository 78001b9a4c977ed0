/** A rule in the table of a callback's states, and the SQL that is made from it. */
import { type RawBuilder, sql } from "kysely"
import type { CallbackState } from "../../database/tables/CallbackTables.ts"

/** Columns beside the state that a transition may change. */
export type Column = "attempt_log" | "attempts" | "delivered" | "due" | "feed_position" | "leased_until" | "sequence"

export interface Rule {
  /** What happens, for the documentation; the subject of "it" is the callback. */
  readonly when: string
  readonly from: ReadonlyArray<CallbackState>
  /** Absent where the state stays as it is; `gone` where the callback is deleted. */
  readonly to?: CallbackState | "gone"
  /** States beside `from` that stay as they are, while the columns change. */
  readonly unmoved?: ReadonlyArray<CallbackState>
  /** Whether the transition is for callbacks that have a number alone, or that have none; absent where for both. */
  readonly numbered?: boolean
  /** A value, or `given` where the value comes with the statement. */
  readonly changes: Readonly<Partial<Record<Column, 0 | "given">>>
}

/** Every state, for a transition that happens in any. */
export const anyState = ["due", "held", "delivered", "expired", "orphaned", "retracted"] as const

const literals = (states: ReadonlyArray<CallbackState>) => states.map((state) => `'${state}'`).join(", ")

// Planners use a partial index only where they see its condition: states are literals, and a single one an equality.
const isAmong = (states: ReadonlyArray<CallbackState>) =>
  states.length === 1 ? `callback.state = ${literals(states)}` : `callback.state in (${literals(states)})`

/** What a callback must be for the transition to happen to it; undefined where it happens to any. */
const condition = ({ from, numbered, unmoved = [] }: Rule): string | undefined => {
  const states = [...from, ...unmoved]
  const conditions = [
    ...(states.length === anyState.length ? [] : [isAmong(states)]),
    ...(numbered === undefined ? [] : [`callback.sequence is ${numbered ? "not null" : "null"}`])
  ]
  return conditions.length === 0 ? undefined : conditions.join(" and ")
}

const stateAfter = ({ to, unmoved = [] }: Rule): ReadonlyArray<string> => {
  if (to === undefined || to === "gone") return []
  return [
    unmoved.length === 0
      ? `state = '${to}'`
      : `state = case when ${isAmong(unmoved)} then callback.state else '${to}' end`
  ]
}

/** The assignments that need no value. */
const fixed = (rule: Rule): ReadonlyArray<string> => [
  ...stateAfter(rule),
  ...Object.entries(rule.changes).flatMap(([column, value]) => (value === "given" ? [] : [`${column} = ${value}`]))
]

const givenColumns = ({ changes }: Rule) =>
  Object.entries(changes).flatMap(([column, value]) => (value === "given" ? [column] : []))

/** The transition of the callbacks that `which` names, with the values that are given. */
export const statement = (
  rule: Rule,
  which: RawBuilder<unknown>,
  values: Readonly<Record<string, unknown>>
): RawBuilder<never> => {
  const possible = condition(rule)
  const where = possible === undefined ? which : sql`${sql.raw(possible)} and (${which})`
  if (rule.to === "gone") return sql`delete from callback where ${where}`
  const set = sql.join([
    ...fixed(rule).map((assignment) => sql.raw(assignment)),
    ...givenColumns(rule).map((column) => sql`${sql.ref(column)} = ${values[column]}`)
  ])
  return sql`update callback set ${set} where ${where}`
}

/** The parts of a statement that gives each callback values of its own. */
export const forEach = (rule: Rule) => ({ same: fixed(rule), condition: condition(rule) })

/** The transition of a callback that is born again, with the values of the birth. */
export const onConflict = (rule: Rule): string => {
  const given = givenColumns(rule).map((column) => `${column} = excluded.${column}`)
  return `do update set ${[...fixed(rule), ...given].join(", ")} where ${condition(rule)}`
}
