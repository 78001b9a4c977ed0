/**
 * Writes the tables of a callback's states and of what changes them into `docs/callbacks.md`, from the store's own:
 * `node_modules/.bin/node docs/CallbackStates.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { births, states, transitions } from "@headwater/indexer/store/subscriptions/CallbackState"
import type { Rule } from "@headwater/indexer/store/subscriptions/internal/TransitionSql"
import { table } from "./ApiReference.ts"

const file = new URL("callbacks.md", import.meta.url)

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

/** The guide with each table between its marks. */
const guide = (): string =>
  Object.entries({ states: statesTable(), transitions: transitionsTable() }).reduce(
    (text, [mark, written]) =>
      text.replace(
        new RegExp(`(<!-- ${mark} -->\n)[\\s\\S]*?(\n<!-- /${mark} -->)`),
        (_, begin: string, end: string) => `${begin}\n${written}\n${end}`
      ),
    readFileSync(file, "utf8")
  )

/** Whether the guide has the tables as they are now. */
export const isCurrent = (): boolean => {
  const text = readFileSync(file, "utf8")
  return text.includes(statesTable()) && text.includes(transitionsTable())
}

if (import.meta.main) writeFileSync(file, guide())
