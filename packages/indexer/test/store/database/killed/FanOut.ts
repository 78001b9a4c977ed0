/** A program that runs the steps that a block has left. Argument: as for `Open.ts`. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { MinimumLogLevel } from "effect/References"
import { steps } from "./fanOutStory.ts"

const [store] = process.argv.slice(2) as [string]

// What it prints are statements alone.
await steps(
  store.startsWith("postgres")
    ? { kind: "postgres", url: Redacted.make(store), connections: 2, secretKeys: undefined }
    : { kind: "sqlite", file: store }
).pipe(Effect.provideService(MinimumLogLevel, "None"), Effect.runPromise)
