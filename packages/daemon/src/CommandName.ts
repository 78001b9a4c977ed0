/** What a person types to run this program, for commands to copy. */
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { packageFile } from "./PackageFile.ts"

interface Called {
  readonly name: string
  /** The folder that the name is bound to: elsewhere, the name means another program or none. */
  readonly place?: string
}

/** By the folder of the package: npx keeps packages that are not installed below `_npx`. */
export const calledIn = (folder: string): Called => {
  if (/[\\/]_npx[\\/]/.test(folder)) return { name: "npx @headwater/daemon" }
  const project = /^(.*?)[\\/]node_modules[\\/]/.exec(folder)?.[1]
  return project === undefined ? { name: "headwater" } : { name: "npx headwater", place: project }
}

const called: Called = existsSync(packageFile("src/main.ts"))
  ? { name: "npm start --", place: fileURLToPath(packageFile("../..")).replace(/[\\/]$/, "") }
  : calledIn(fileURLToPath(packageFile(".")))

/** Where the program was started from. */
export const commandName = called.name

/** A text of a package that does not know the program's name here, with the commands in the text as a person types them. */
export const asTyped = (text: string, name = commandName): string =>
  text.replaceAll(/(?<![\w/-])headwater (?=(?:doctor|init|replay|rewind|skip|status)\b)/g, `${name} `)

/** A text, as a path or an account's name, as one word of a shell command. */
export const quoted = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)

/** A command that can be copied in any folder, with variables before it, as in `NAME=value `. */
export const anywhere = (args: string, variables = ""): string => {
  const command = `${variables}${called.name} ${args}`
  return called.place === undefined ? command : `(cd ${quoted(called.place)} && ${command})`
}
