/** Looks at the operator's file of assets: without it the daemon runs, and has none of its rates. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Result from "effect/Result"
import * as Settings from "../settings/Settings.ts"
import type { Finding } from "./Finding.ts"

const subject = "marketData.file"

export const check = Effect.gen(function* () {
  const { marketData } = yield* Settings.Settings
  const path = marketData?.file?.path
  if (path === undefined) return []
  const fs = yield* FileSystem.FileSystem
  // Opened, since a file that is there may not be readable.
  const opened = yield* Effect.result(Effect.scoped(Effect.andThen(fs.open(path, { flag: "r" }), fs.stat(path))))
  const isFile = Result.isSuccess(opened) && opened.success.type === "File"
  const finding: Finding = isFile
    ? { subject, level: "ok", message: `${path} can be read` }
    : {
        subject,
        level: "warning",
        code: "asset_file_unreadable",
        message: `${path} ${Result.isSuccess(opened) ? "is no file" : `cannot be read: ${opened.failure.reason._tag}`}`,
        advice: "put the file there, as the daemon's user can read it, or name another in marketData.file.path"
      }
  return [finding]
})
