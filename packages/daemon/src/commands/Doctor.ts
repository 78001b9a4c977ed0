/** `headwater doctor`: looks at the settings, the store and every node, and says what to do. */
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type { Finding } from "../doctor/Finding.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

/** Something does not work: told already, and worth an exit code. */
export class ProblemsFound extends Schema.TaggedError<ProblemsFound>()("ProblemsFound", { count: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
}

const marks: Record<Finding["level"], string> = { ok: "ok      ", warning: "warning ", problem: "PROBLEM " }

const lines = ({ advice, level, message }: Finding) => [
  `  ${marks[level]} ${message}`,
  ...(advice === undefined ? [] : [`           → ${advice}`])
]

export const doctor = Command.make(
  "doctor",
  { config: WithSettings.config, json: WithSettings.json },
  Effect.fnUntraced(function* ({ json }) {
    const chains = Settings.chains(yield* Settings.Settings)
    const { NodeCheck, StoreCheck } = yield* Effect.promise(async () => ({
      NodeCheck: await import("../doctor/NodeCheck.ts"),
      StoreCheck: await import("../doctor/StoreCheck.ts")
    }))
    const settings: Finding = { subject: "settings", level: "ok", message: `can be used; ${chains.length} chains` }
    const nodes = chains.flatMap(({ chain, settings }) =>
      settings.nodes.map((node) => NodeCheck.check(chain, settings, node))
    )
    const [store, ...ofNodes] = yield* Effect.all([StoreCheck.check, ...nodes], { concurrency: 8 })
    const findings = [settings, ...store, ...ofNodes.flat()]
    if (json) yield* Console.log(JSON.stringify(findings))
    else {
      for (const [subject, about] of Map.groupBy(findings, (finding) => finding.subject)) {
        yield* Console.log([subject, ...about.flatMap(lines)].join("\n"))
      }
    }
    const count = findings.filter(({ level }) => level === "problem").length
    if (count > 0) {
      yield* Console.error(`\n${count === 1 ? "1 problem" : `${count} problems`}`)
      return yield* new ProblemsFound({ count })
    }
  })
).pipe(
  Command.withDescription(
    "Look at the settings, the store and every node, and say what to do where something is wrong. Exit code 1: there is " +
      "a problem"
  ),
  Command.withShortDescription("Check the settings, the store and every node, and say what to do"),
  Command.provide((input) => WithSettings.layer(input))
)
