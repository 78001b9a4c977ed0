/** The command line: `headwater` and its commands. */

import * as Console from "effect/Console"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { accounts } from "./commands/Accounts.ts"
import { derive } from "./commands/Derive.ts"
import { keys } from "./commands/Keys.ts"

export const version = "0.1.0"

const headwater = Command.make("headwater").pipe(
  Command.withDescription("Blockchain data and callbacks from your own nodes"),
  Command.withSubcommands([accounts, keys, derive])
)

/**
 * Runs the command that the arguments name. What fails is told on standard error in its own words, without a stack;
 * defects are left to the caller.
 */
export const run = Command.run(headwater, { version }).pipe(
  Effect.tapError((error) =>
    Runtime.getErrorReported(error) ? Console.error(`\nERROR\n  ${error.message}`) : Effect.void
  )
)
