/**
 * The commands of a page's blocks for the shell, as bash itself reads them: quotes, variables, loops, redirections. No
 * command is run: bash finds none, and says which one it was asked for.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

// Written in one piece, since commands of `<(…)` speak beside the others: bash writes out at the end of a line, so none is here.
const said = `printf '%s\\0' "$@" $'\\1' >&3`

/** Each command with its arguments, in order. Throws where bash does not understand the text. */
export const commandsOf = (texts: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const folder = mkdtempSync(join(tmpdir(), "headwater-page-"))
  try {
    // A command with a folder in its name is looked for there and nowhere else.
    for (const [command] of texts.join("\n").matchAll(/node_modules\/\.bin\/\w+/g)) {
      mkdirSync(join(folder, dirname(command)), { recursive: true })
      writeFileSync(join(folder, command), `#!/bin/bash\nset -- ${command} "$@"\n${said}\n`)
      chmodSync(join(folder, command), 0o755)
    }
    // bash opens what a block writes to, here and nowhere else; the folders in its name are those of commands before.
    for (const [, target] of texts.join("\n").matchAll(/[^-=]>\s*([^\s&|;)]+)/g)) {
      if (target!.startsWith("/")) throw new Error(`A block of a page writes to ${target}`)
      mkdirSync(join(folder, dirname(target!)), { recursive: true })
    }
    writeFileSync(join(folder, "body.json"), "{}")
    const script = [`command_not_found_handle() { ${said}; }`, "cd() { :; }", ...texts].join("\n")
    const { output, status } = spawnSync("/bin/bash", ["-c", script], {
      cwd: folder,
      env: { PATH: "/nowhere", KEY: "hw_key", SECRET: "secret" },
      encoding: "utf8",
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      timeout: 30_000
    })
    const [, , errors, commands] = output as ReadonlyArray<string>
    // A command that is not found ends with 127, which says nothing else; what bash itself finds wrong, it writes.
    if (errors !== "" || status === null) throw new Error(`${errors}in\n${texts.join("\n")}`)
    return commands!
      .split("\0\x01\0")
      .filter((words) => words !== "")
      .map((words) => words.split("\0"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
