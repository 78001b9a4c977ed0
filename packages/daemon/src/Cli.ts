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
    explain,
    replay,
    rewind,
    skip,
    audit,
    backup,
    restored,
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

/** A word that is longer than what a command takes by name: an argument in a wrong place, and perhaps a private key. */
const longWord = /[0-9A-Za-z]{50,}/g

/** What is wrong with the arguments, without such words. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    Effect.flatMap(Console.Console, (console) =>
      Effect.provideService(CliOutput.defaultPresenter.present(event), Console.Console, {
        ...console,
        error: (text: string) => console.error(text.replace(longWord, "…"))
      })
    )
}

/** Prints an error to standard error as its message, without a stack; defects are left to the caller. */
const reporting = <R>(command: Effect.Effect<void, unknown, R>) =>
  command.pipe(
    Effect.tapError((error) =>
      Runtime.getErrorReported(error) ? Console.error(`\nERROR\n  ${(error as Error).message}`) : Effect.void
    ),
    Effect.provide(NodeServices.layer),
    Effect.provideService(CliOutput.Presenter, presenter)
  )

/** Runs the command that these arguments name. */
export const runWith = (args: ReadonlyArray<string>) => reporting(Command.runWith(headwater, { version })(args))

/** Runs the command that the process's arguments name. */
export const run: Effect.Effect<void, unknown> = reporting(Command.run(headwater, { version }))
