/** The program as its package holds it: what end-to-end tests start is what operators run. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const daemon = new URL("../packages/daemon/", import.meta.url)
/** Another folder than the package's own, which is made anew when the package is packed. */
const folder = "program-under-test"

/** The folder with the program and the licences of what is in it. */
export const bundleFolder = fileURLToPath(new URL(folder, daemon))

/** The file that Node is to run. */
export const program = fileURLToPath(new URL(`${folder}/main.js`, daemon))

export default async function bundle() {
  await promisify(execFile)(process.execPath, [fileURLToPath(new URL("bundle.ts", daemon)), folder])
}
