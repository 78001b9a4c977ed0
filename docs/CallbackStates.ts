/** The tables of a callback's states and of what changes them in `docs/callbacks.md`, from the store's own. */
import { births, states, transitions } from "@headwater/indexer/store/subscriptions/CallbackState"
import type { Rule } from "@headwater/indexer/store/subscriptions/internal/TransitionSql"
import { between, table } from "./Page.ts"

const code = (state: string) => `\`${state}\``
const all = Object.keys(states)

const statesTable = () =>
  table([["State", "the callback is"], ...Object.entries(states).map(([state, is]) => [code(state), is])])

/** What a change of a column is to a reader, by the column and its value. */
const words: Readonly<Record<string, string>> = {
  "due given": "the next attempt gets a time",
  "attempts 0": "attempts are counted anew",
  "attempts given": "the attempt is counted and recorded",
  "leased_until 0": "the lease ends",
  "leased_until given": "the lease begins, and ends with an answer or at a deadline",
  "feed_position given": "the callback gets its position there",
  "sequence given": "a callback without a number gets one",
  "delivered given": "the time is recorded"
}

const changesOf = ({ changes }: Rule): string =>
  Object.entries(changes)
    .flatMap(([column, value]) => words[`${column} ${value}`] ?? [])
    .join("; ")

const numberOf = ({ numbered }: Rule): string =>
  numbered === undefined ? "" : numbered ? ", with a number" : ", without a number"

const rowsOf = (rule: Rule): ReadonlyArray<ReadonlyArray<string>> => {
  const { from, to, unmoved = [], when } = rule
  const among = (some: ReadonlyArray<string>) => (some.length === all.length ? "any" : some.map(code).join(", "))
  const after = to === undefined ? "as it was" : to === "gone" ? "deleted" : code(to)
  return [
    [when, `${among(from)}${numberOf(rule)}`, after, changesOf(rule)],
    ...(unmoved.length === 0 ? [] : [[when, among(unmoved), "as it was", changesOf(rule)]])
  ]
}

const transitionsTable = () =>
  table([
    ["When", "from", "to", "and"],
    ...Object.values(births).map((birth) => [
      birth.when,
      "",
      "state" in birth ? code(birth.state) : `${code("due")}; ${code("held")} for an inactive subscription`,
      "state" in birth ? words["sequence given"]! : ""
    ]),
    ...Object.values<Rule>(transitions).flatMap(rowsOf)
  ])

/** The guide to callbacks with each table between its marks. */
export const guide = (guide: string): string =>
  between(between(guide, "states", statesTable()), "transitions", transitionsTable())
