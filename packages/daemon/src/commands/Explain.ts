/** `headwater explain`: what an error code of the interface, or a code of the doctor's, means, and what to do. */
import { nearest } from "@headwater/core/Suggestion"
import * as ErrorExplanations from "@headwater/http/contract/ErrorExplanations"
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import * as FindingExplanations from "../doctor/FindingExplanations.ts"
import * as Screen from "../internal/Screen.ts"
import { table } from "../internal/Table.ts"
import { json } from "./WithSettings.ts"

/** No code has this name. */
export class UnknownCode extends Schema.TaggedError<UnknownCode>()("UnknownCode", { message: Schema.String }) {}

interface Entry extends ErrorExplanations.Explanation {
  readonly code: string
  /** Where the code comes from. */
  readonly origin: string
  /** HTTP statuses of an error of the interface; empty for a finding. */
  readonly statuses: ReadonlyArray<number>
}

const errors = ErrorExplanations.codes.map((code): Entry => {
  const statuses = ErrorExplanations.statusesOf(code)
  return { code, origin: `error, status ${statuses.join(" or ")}`, statuses, ...ErrorExplanations.explanations[code] }
})

const findings = Object.entries(FindingExplanations.explanations).map(
  ([code, { about, ...explanation }]): Entry => ({ code, origin: `doctor, ${about}`, statuses: [], ...explanation })
)

const entries: ReadonlyArray<Entry> = [...errors, ...findings]

/** The entries that are asked for: one by its code, or all with an HTTP status. Fails with the nearest codes. */
const find = (asked: string) =>
  Effect.gen(function* () {
    const name = asked
      .trim()
      .toLowerCase()
      .replaceAll(/[\s-]+/g, "_")
    const found = entries.filter(({ code, statuses }) => code === name || statuses.includes(Number(name)))
    if (found.length > 0) return found
    const codes = entries.map(({ code }) => code)
    const near = name === "" ? [] : [...codes.filter((code) => code.includes(name)), ...nearest(name, codes)]
    const meant = near.length === 0 ? "" : `; near it: ${[...new Set(near)].slice(0, 5).join(", ")}`
    return yield* new UnknownCode({
      message: `No code is called ${JSON.stringify(asked)}${meant}. ${commandName} explain lists them all`
    })
  })

const render = ({ causes, code, meaning, origin, remedies }: Entry, { bold, dim, width }: Screen.Screen) =>
  [
    `${bold(code)} ${dim(`(${origin})`)}`,
    "",
    Screen.wrap(meaning, width),
    "",
    bold(causes.length === 1 ? "Cause" : "Usual causes"),
    ...causes.map((cause) => Screen.wrap(cause, width, "  - ")),
    "",
    bold("What to do"),
    ...remedies.map((remedy) => Screen.wrap(remedy, width, "  - "))
  ].join("\n")

export const explain = Command.make(
  "explain",
  {
    json,
    code: Argument.String("code").pipe(
      Argument.withDescription(
        "A code of an error answer or of the doctor's, or an HTTP status; without it, all codes are listed"
      ),
      Argument.optional
    )
  },
  Effect.fnUntraced(function* (input) {
    const found = Option.isNone(input.code) ? entries : yield* find(input.code.value)
    const screen = yield* Screen.output
    yield* Console.log(
      input.json
        ? JSON.stringify(found)
        : Option.isNone(input.code)
          ? yield* table(
              ["CODE", "FROM"],
              found.map(({ code, origin }) => [code, origin])
            )
          : found.map((entry) => render(entry, screen)).join("\n\n")
    )
  })
).pipe(
  Command.withDescription("Say what a code of an error answer, or of the doctor's, means, and what to do"),
  Command.withExamples([
    { command: "headwater explain node_unavailable", description: "An error of the interface" },
    { command: "headwater explain 409", description: "Every error with this HTTP status" }
  ])
)
