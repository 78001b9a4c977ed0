/** A development chain of its own: anvil from npm, as a child that never outlives this process. */
import { createRequire } from "node:module"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as ChildProcess from "effect/process/ChildProcess"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"

/** The chain could not be started. */
export class DevelopmentChainFailed extends Schema.TaggedError<DevelopmentChainFailed>()("DevelopmentChainFailed", {
  message: Schema.String
}) {}

export interface DevelopmentChain {
  readonly url: string
  readonly rpc: JsonRpc.JsonRpc
  /** Addresses that the node signs for, each with 10,000 ETH. */
  readonly accounts: ReadonlyArray<string>
}

/** The package of anvil's program for this machine is found from the package that depends on it. */
const findAnvil = Effect.try({
  try: () => {
    const anvil = createRequire(import.meta.url).resolve("@foundry-rs/anvil/package.json")
    const machine = `${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}`
    return createRequire(anvil).resolve(`@foundry-rs/anvil-${machine}/bin/anvil`)
  },
  catch: () => new DevelopmentChainFailed({ message: `anvil is not available for ${process.platform} ${process.arch}` })
})

/**
 * Runs a program until the standard input ends, as happens when this process ends, also by `kill -9`. A shell takes the
 * standard input away from commands in the background, hence the copy.
 */
const leash = `
exec 3<&0
"$@" </dev/null 3<&- &
program=$!
( cat <&3 >/dev/null; kill "$program" 2>/dev/null ) &
guard=$!
wait "$program"
code=$?
kill "$guard" 2>/dev/null
exit "$code"
`

const Accounts = Schema.decodeUnknownEffect(Schema.NonEmptyArray(Schema.String))

/** Starts a fresh chain on a port of 127.0.0.1 with a block every `blockSeconds`; the scope ends it. */
export const start = Effect.fn("DevelopmentChain.start")(function* (options: {
  readonly port: number
  readonly blockSeconds: number
}) {
  const anvil = yield* findAnvil
  const child = yield* ChildProcess.make(
    "sh",
    ["-c", leash, "sh", anvil, "--host", "127.0.0.1", "--port", String(options.port), "--silent"].concat(
      "--block-time",
      String(options.blockSeconds)
    ),
    { stdin: "pipe", stdout: "ignore", stderr: "ignore", forceKillAfter: "2 seconds" }
  ).pipe(Effect.mapError((error) => new DevelopmentChainFailed({ message: `anvil did not start: ${error.message}` })))

  const url = `http://127.0.0.1:${options.port}`
  const rpc = yield* JsonRpc.make({ urls: [url], attempts: 1, timeoutMillis: 10_000 })
  const accounts = yield* rpc.call("eth_accounts", []).pipe(
    Effect.flatMap(Accounts),
    Effect.retry({ schedule: Schedule.spaced("50 millis"), times: 400 }),
    Effect.mapError((error) => new DevelopmentChainFailed({ message: `anvil does not answer: ${error.message}` })),
    Effect.raceFirst(
      Effect.flatMap(Effect.result(child.exitCode), (exit) =>
        Effect.fail(
          new DevelopmentChainFailed({
            message: `anvil ended at once${Result.isSuccess(exit) ? ` with code ${exit.success}` : ""}`
          })
        )
      )
    )
  )
  return { url, rpc, accounts } satisfies DevelopmentChain
})
