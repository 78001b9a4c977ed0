/** The command line: `headwater` and its commands. */

import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Console from "effect/Console"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { accounts } from "./commands/Accounts.ts"
import { assets } from "./commands/Assets.ts"
import { audit } from "./commands/Audit.ts"
import { backup } from "./commands/Backup.ts"
import * as ChainArgument from "./commands/ChainArgument.ts"
import { chains } from "./commands/Chains.ts"
import { completions } from "./commands/Completions.ts"
import { credits } from "./commands/Credits.ts"
import * as Demo from "./commands/Demo.ts"
import { derive } from "./commands/Derive.ts"
import { doctor } from "./commands/Doctor.ts"
import { domains } from "./commands/Domains.ts"
import { explain } from "./commands/Explain.ts"
import { init } from "./commands/Init.ts"
import { keys } from "./commands/Keys.ts"
import { listen } from "./commands/Listen.ts"
import { migrateStore } from "./commands/MigrateStore.ts"
import { new_ } from "./commands/New.ts"
import { openapi } from "./commands/OpenApi.ts"
import { replay } from "./commands/Replay.ts"
import { restored } from "./commands/Restored.ts"
import { rewind } from "./commands/Rewind.ts"
import { serve } from "./commands/Serve.ts"
import { sighash } from "./commands/Sighash.ts"
import { skip } from "./commands/Skip.ts"
import { status } from "./commands/Status.ts"
import { secrets } from "./commands/Secrets.ts"
import { subscriptions } from "./commands/Subscriptions.ts"
import { upgrade } from "./commands/Upgrade.ts"
import * as Failure from "./internal/Failure.ts"
import * as Screen from "./internal/Screen.ts"
import { version } from "./Version.ts"

const root = (): Command.Command.Any => headwater

const headwater = Command.make("headwater", Demo.options, Demo.program).pipe(
  Command.withDescription("Blockchain data and callbacks from your own nodes. Without a command: the demo."),
  Command.withSubcommands([
    init,
    new_,
    serve,
    status,
    doctor,
    chains,
    explain,
    replay,
    rewind,
    skip,
    audit,
    backup,
    restored,
    upgrade,
    migrateStore,
    Demo.demo,
    accounts,
    keys,
    credits,
    assets,
    domains,
    subscriptions,
    secrets,
    listen,
    derive,
    sighash,
    openapi,
    completions(root)
  ])
)

/** The command with its subcommands, which tests read commands of the pages with. */
export const command: Command.Command.Any = headwater

/** A word that is longer than what a command takes by name: an argument in a wrong place, and perhaps a private key. */
const longWord = /[0-9A-Za-z]{50,}/g

/** Words of the command line's library, as people who write no schemas read them. */
const plainly = (message: string) =>
  message
    .replace("Schema validation failed: Expected a value greater than or equal to", "a number from")
    .replace("Schema validation failed: Expected a value greater than", "a number above")
    .replace("Schema validation failed: ", "")
    .replace("Expected: must", "It must")
    .replace("Expected a string representing a finite number", "Expected: a number")
    .replace("Expected a valid Date", "Expected: a date, as in 2026-11-22 or 2026-11-22T10:00:00Z")
    .replaceAll('" | "', '" or "')

/** What is wrong with the arguments, without such words, and how they are written; help where that is asked for. */
const presenter: CliOutput.Presenter = {
  present: Effect.fnUntraced(function* (event) {
    if (event._tag !== "InvalidInvocation") return yield* CliOutput.defaultPresenter.present(event)
    const { bold, red } = yield* Screen.errors
    const problems = event.errors.map(({ message }) => plainly(message).replace(longWord, "…").replaceAll("\n", "\n  "))
    yield* Console.error(
      [
        ...[`\n${red(bold("ERROR"))}`, ...problems.map((problem) => `  ${problem}`)],
        ...["", `  Usage: ${event.helpDoc.usage}`, `  More: ${event.commandPath.join(" ")} --help`]
      ].join("\n")
    )
  })
}

/** Prints an error to standard error as its message, without a stack; defects are left to the caller. */
const reporting = <R>(command: Effect.Effect<void, unknown, R>) =>
  command.pipe(
    Effect.tapError((error) =>
      Runtime.getErrorReported(error)
        ? Effect.flatMap(Screen.errors, ({ bold, red }) =>
            Console.error(`\n${red(bold("ERROR"))}\n  ${Failure.describe(error as Error)}`)
          )
        : Effect.void
    ),
    Effect.provide(NodeServices.layer),
    Effect.provideService(CliOutput.Presenter, presenter)
  )

/** `help`, and a group of commands alone, are questions for help, which needs neither settings nor a store. */
const asked = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [name, ...rest] = args
  if (name === "help") return [...rest, "--help"]
  const isGroup = headwater.subcommands.some(({ commands }) =>
    commands.some((command) => command.name === name && command.subcommands.length > 0)
  )
  return rest.length === 0 && isGroup ? [...args, "--help"] : args
}

/** Runs the command that these arguments name. */
export const runWith = (args: ReadonlyArray<string>) =>
  reporting(Command.runWith(headwater, { version })(ChainArgument.joined(asked(args))))

/** Runs the command that the process's arguments name. */
export const run: Effect.Effect<void, unknown> = Effect.suspend(() => runWith(process.argv.slice(2)))
