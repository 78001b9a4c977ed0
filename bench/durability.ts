/**
 * Subscriptions created a second by clients that wait for each answer, where an answer survives a loss of power
 * (`synchronous = "full"`) and where it survives the end of the process alone (`"normal"`), beside what the disk does: one
 * flush of a file after another.
 *
 *     node bench/durability.ts [clients] [seconds]
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

const [clients = 64, seconds = 5] = process.argv.slice(2).map(Number)
const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"))

const flushes = () => {
  const file = openSync(join(folder, "flushes"), "w")
  const end = performance.now() + 1000
  let count = 0
  for (; performance.now() < end; count++) {
    writeSync(file, Buffer.alloc(8192))
    fdatasyncSync(file)
  }
  closeSync(file)
  return count
}

const measure = Effect.fnUntraced(function* (synchronous: "normal" | "full") {
  const file = join(folder, `${synchronous}.db`)
  const store = Subscriptions.layer.pipe(Layer.provideMerge(Database.layer({ kind: "sqlite", file, synchronous })))
  return yield* Effect.gen(function* () {
    const { flush } = yield* Database
    const subscriptions = yield* Subscriptions
    let made = 0
    const times: Array<number> = []
    const create = Effect.gen(function* () {
      const begin = performance.now()
      const address = new Uint8Array(20) as AddressBytes
      new DataView(address.buffer).setUint32(0, ++made)
      yield* subscriptions.create({
        ...{ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address, confirmations: 1 },
        ...{ secret: undefined, callbackUrl: "https://example.com/", allowDuplicates: false }
      })
      yield* flush
      times.push(performance.now() - begin)
    })
    const client = Effect.timeoutOption(Effect.forever(create), seconds * 1000)
    yield* Effect.all(
      Array.from({ length: clients }, () => client),
      { concurrency: "unbounded" }
    )
    times.sort((a, b) => a - b)
    const at = (part: number) => times[Math.floor(times.length * part)]!.toFixed(1)
    console.log(
      `synchronous = ${synchronous}: ${Math.round(times.length / seconds)} creates/s of ${clients} clients; ` +
        `half within ${at(0.5)} ms, 99 of 100 ${at(0.99)} ms`
    )
  }).pipe(Effect.provide(store), Effect.scoped)
})

console.log(`the disk: ${flushes()} flushes/s, one after another`)
for (const synchronous of ["normal", "full"] as const) await Effect.runPromise(measure(synchronous))
rmSync(folder, { recursive: true })
