/** A folder of a test's, or a bench's, own. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"

/** It is empty, and ends with the scope. */
export const scoped = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "headwater-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)
