/** Chromium, which tests of pages are skipped without. */
import { existsSync } from "node:fs"
import * as Effect from "effect/Effect"
import { chromium } from "playwright-core"

/** Where it is installed; undefined where it is not. */
export const path = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync)

/** A browser until the scope ends. */
export const launch = Effect.acquireRelease(
  Effect.promise(() => chromium.launch({ executablePath: path!, args: ["--no-sandbox", "--disable-gpu"] })),
  (browser) => Effect.promise(() => browser.close())
)
