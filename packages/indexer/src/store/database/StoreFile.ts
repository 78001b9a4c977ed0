/** Names of a SQLite store's file and log, and which files they lead to. */
import { existsSync, realpathSync, statSync } from "node:fs"

/** The file that a name leads to, where that is a symbolic link: SQLite has its log beside that one, and all names share it. */
export const itself = (name: string): string => (existsSync(name) ? realpathSync(name) : name)

/** The name of a file's log. */
export const logOf = (name: string): string => `${itself(name)}-wal`

/** Which file is at a name, through links; undefined where none is. */
export const at = (name: string): string | undefined => {
  const found = statSync(name, { throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
