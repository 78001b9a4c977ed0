/** `headwater demo`: what `npm start` runs. */
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Log from "../Log.ts"
import { stopsCleanly } from "./Serve.ts"

/** Warnings and errors only: the demo prints its own messages. */
const quiet = Log.layer({ format: "pretty", level: "warn" })

export const program = Effect.promise(() => import("../demo/Demo.ts")).pipe(
  Effect.flatMap(({ run }) => run),
  Effect.provide(quiet),
  stopsCleanly
)

export const demo = Command.make("demo", {}, () => program).pipe(
  Command.withDescription(
    "Show Headwater at work on this machine: a development chain, a subscription, signed callbacks"
  )
)
