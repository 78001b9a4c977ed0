/** The command line within a test's own process, which starts in no time: for what needs no process of its own. */
import * as Console from "effect/Console"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { runWith } from "../src/Cli.ts"
import type { Ended } from "./Program.ts"

/** Runs `headwater` with these arguments, as where its output goes to another program. */
export const runCommand = (
  args: ReadonlyArray<string>,
  capabilities: Partial<TerminalCapabilities.TerminalCapabilities> = {}
): Effect.Effect<Ended> =>
  Effect.gen(function* () {
    const lines = { stdout: "", stderr: "" }
    const console = {
      ...(yield* Console.Console),
      log: (text: string) => {
        lines.stdout += `${text}\n`
      },
      error: (text: string) => {
        lines.stderr += `${text}\n`
      }
    }
    const exit = yield* runWith(args).pipe(
      Effect.provideService(Console.Console, console),
      Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
        ...{ canAnimate: false, canColor: false, canPrompt: false },
        ...capabilities
      }),
      Effect.exit
    )
    return { code: Exit.isSuccess(exit) ? 0 : 1, ...lines }
  })
