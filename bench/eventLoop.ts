/**
 * How long reading and committing a large block holds up the event loop: a block of Ethereum whose traces are repeated up to
 * a size, from a node in another process.
 *
 *     node bench/eventLoop.ts [megabytes]
 */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const [megabytes = "40"] = process.argv.slice(2)
const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

const held = <A, E, R>(name: string, self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    yield* Effect.sleep(20)
    delay.enable()
    const begin = performance.now()
    const cpu = process.cpuUsage()
    const value = yield* self
    yield* Effect.sleep(5)
    delay.disable()
    const { user } = process.cpuUsage(cpu)
    console.log(
      `${name}: ${((performance.now() - begin) / 1000).toFixed(2)} s, CPU ${(user / 1e6).toFixed(2)} s, ` +
        `event loop held up for at most ${(delay.max / 1e6).toFixed(0)} ms, 99 of 100 ${(delay.percentile(99) / 1e6).toFixed(0)} ms`
    )
    return value
  })

const node = spawn(process.execPath, [join(import.meta.dirname, "LargeTraces.ts"), megabytes], {
  stdio: ["ignore", "pipe", "inherit"]
})
const [url, height] = String(await new Promise((resolve) => node.stdout.once("data", resolve))).split(" ")
const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"))

await Effect.runPromise(
  Effect.gen(function* () {
    const bytes = BytesInFlight.make(BytesInFlight.defaultLimit)
    const rpc = yield* Effect.provideService(JsonRpc.make({ urls: [url!] }), BytesInFlight.Current, bytes)
    const source = yield* EvmSource.make(chain, rpc, { internal: true })
    for (let round = 1; round <= 2; round++) {
      const store = yield* Database.pipe(Effect.andThen(ChainStore.open(chain, { record: "all", undoDepth: 64 })))
      const block = yield* held(`block read ${round}`, bytes.block(source.blockAt(Number(height))))
      if (round === 1) {
        console.log(`${block.transactions.length} transactions, ${block.transfers.length} transfers`)
        yield* held("block committed", store.commit([block]))
      }
    }
  }).pipe(Effect.scoped, Effect.provide(Database.layer({ kind: "sqlite", file: join(folder, "store.db") })))
)
node.kill("SIGKILL")
rmSync(folder, { recursive: true, force: true })
