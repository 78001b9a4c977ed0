/** `headwater doctor`: checks the settings, the addresses, the store, every chain and node, and gives advice. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import type { Finding } from "../doctor/Finding.ts"
import * as FindingText from "../internal/FindingText.ts"
import * as Screen from "../internal/Screen.ts"
import * as Settings from "../settings/Settings.ts"
import * as WithSettings from "./WithSettings.ts"

/** There are problems. Each is printed already, so that only the exit code is left to set. */
export class ProblemsFound extends Schema.TaggedError<ProblemsFound>()("ProblemsFound", { count: Schema.Int }) {
  override readonly [Runtime.errorReported] = false
}

export const doctor = Command.make(
  "doctor",
  { config: WithSettings.config, json: WithSettings.json },
  Effect.fnUntraced(function* ({ json }) {
    const chains = Settings.chains(yield* Settings.Settings)
    const { AssetFileCheck, ChainCheck, ListenCheck, NodeCheck, StoreCheck } = yield* Effect.promise(async () => ({
      AssetFileCheck: await import("../doctor/AssetFileCheck.ts"),
      ChainCheck: await import("../doctor/ChainCheck.ts"),
      ListenCheck: await import("../doctor/ListenCheck.ts"),
      NodeCheck: await import("../doctor/NodeCheck.ts"),
      StoreCheck: await import("../doctor/StoreCheck.ts")
    }))
    const settings: Finding = {
      subject: "settings",
      level: "ok",
      message: `can be used; ${chains.length === 1 ? "1 chain" : `${chains.length} chains`}`
    }
    const [listen, store, assets] = yield* Effect.all(
      [ListenCheck.check, StoreCheck.check(chains), AssetFileCheck.check],
      { concurrency: 3 }
    )
    const ofChains = chains.flatMap(({ chain, settings }) => {
      const position = store.positions === undefined ? "unknown" : store.positions.get(Chain.nameOf(chain))
      return [
        ChainCheck.check(chain, settings, position),
        ...settings.nodes.map((node) => NodeCheck.check(chain, settings, node, position))
      ]
    })
    const found = yield* Effect.all(ofChains, { concurrency: 8 })
    const findings = [settings, ...listen, ...store.findings, ...assets, ...found.flat()]
    const screen = yield* Screen.output
    if (json) yield* Console.log(JSON.stringify(findings))
    else {
      for (const [subject, about] of Map.groupBy(findings, (finding) => finding.subject)) {
        yield* Console.log([screen.bold(subject), ...about.flatMap(FindingText.lines(screen))].join("\n"))
      }
    }
    const [told] = findings.flatMap(({ code }) => code ?? [])
    if (told !== undefined && !json)
      yield* Console.error(`\nMore about each code in parentheses: ${commandName} explain ${told}`)
    const count = findings.filter(({ level }) => level === "problem").length
    if (count > 0) {
      yield* Console.error(`\n${count === 1 ? "1 problem" : `${count} problems`}`)
      return yield* new ProblemsFound({ count })
    }
  })
).pipe(
  Command.withDescription(
    "Check the settings, the store and every node, and say how to correct what is wrong. The exit code is 1 where there " +
      "is a problem"
  ),
  Command.withShortDescription("Check the settings, the store and every node"),
  Command.provide((input) => WithSettings.layer(input))
)
