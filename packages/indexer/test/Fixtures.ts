/** Recorded answers of real nodes beside the checkout; tests that need them are skipped, visibly, where there are none. */
import { existsSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"

const root = new URL("../../../../shared/fixtures/", import.meta.url)

export const exist = existsSync(root)

export const path = (name: string): URL => new URL(name, root)

/** JSON of a file, unpacked if its name ends in `.gz`. */
export const json = (name: string): unknown => {
  const bytes = readFileSync(path(name))
  return JSON.parse((name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString())
}
