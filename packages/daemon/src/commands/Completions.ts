/** `headwater completions`: what a shell needs to complete commands and flags. */
import * as Console from "effect/Console"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"

/** `root` gives the command of which this one is a subcommand. */
export const completions = (root: () => Command.Command.Any) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("bash, zsh, fish or powershell")
      )
    },
    ({ shell }) =>
      Effect.suspend(() => Console.log(Completions.generate("headwater", shell, Completions.fromCommand(root()))))
  ).pipe(
    Command.withDescription("Print a script that completes commands and flags in a shell"),
    Command.withExamples([
      { command: "headwater completions bash > /etc/bash_completion.d/headwater", description: "For all users of bash" }
    ])
  )
