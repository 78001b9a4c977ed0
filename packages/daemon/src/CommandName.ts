/** What a person types to run this program, for commands to copy. */
import { fileURLToPath } from "node:url"
import { packageFile } from "./PackageFile.ts"

/** By the folder of the package: npx keeps packages that are not installed below `_npx`. */
export const nameIn = (folder: string): string => {
  if (/[\\/]_npx[\\/]/.test(folder)) return "npx @headwater/daemon"
  return /[\\/]node_modules[\\/]/.test(folder) ? "npx headwater" : "npm start --"
}

export const commandName = nameIn(fileURLToPath(packageFile(".")))
