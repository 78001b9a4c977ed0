/**
 * Blocks a second from anvil into the store — fetched, checked, decoded, matched and committed one by one — against its
 * floor: a bare download of the same answers over as many connections, not even parsed. In turns, in one process.
 *
 *     node bench/blocks.ts [blocks] [transactions a block] [rounds]
 */
import { join } from "node:path"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { Agent, request } from "undici"
import * as Anvil from "../test/Anvil.ts"
import * as Folder from "../test/Folder.ts"
import * as Comparison from "./Comparison.ts"
import { type Measured, medians, timed } from "./Timed.ts"

const [blocks = 1000, perBlock = 10, rounds = 5] = process.argv.slice(2).map(Number)
const concurrency = 8
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const generate = Effect.fnUntraced(function* (anvil: Anvil.Anvil) {
  const accounts = (yield* anvil.rpc("eth_accounts", [])) as ReadonlyArray<string>
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < perBlock; i++) {
      const to = `0x${(block * perBlock + i + 1).toString(16).padStart(40, "0")}`
      yield* anvil.rpc("eth_sendTransaction", [{ from: accounts[i % accounts.length], to, value: "0x1" }])
    }
    yield* anvil.rpc("anvil_mine", ["0x1"])
  }
})

const floor = Effect.fnUntraced(function* (url: string) {
  const agent = new Agent({ connections: concurrency })
  const download = (height: number) =>
    Effect.promise(async () => {
      const tag = `0x${height.toString(16)}`
      const { body } = await request(url, {
        method: "POST",
        dispatcher: agent,
        headers: { "content-type": "application/json" },
        body: JSON.stringify([
          { jsonrpc: "2.0", id: 1, method: "eth_getBlockByNumber", params: [tag, true] },
          { jsonrpc: "2.0", id: 2, method: "eth_getBlockReceipts", params: [tag] }
        ])
      })
      await body.bytes()
    })
  const heights = Array.from({ length: blocks + 1 }, (_, height) => height)
  yield* Effect.forEach(heights, download, { concurrency, discard: true })
  yield* Effect.promise(() => agent.close())
})

const index = (url: string, file: string) =>
  Effect.gen(function* () {
    const rpc = yield* JsonRpc.make({ urls: [url], connections: concurrency })
    const source = yield* EvmSource.make(chain, rpc, { internal: false })
    const store = yield* ChainStore.open(chain, { record: "all", undoDepth: chain.undoDepth })
    const follow = yield* Follow.make(source, store, {
      ...{ start: 0, pollInterval: Duration.millis(100), undoDepth: chain.undoDepth },
      concurrency
    })
    yield* follow.step
  }).pipe(Effect.provide(Layer.merge(Database.layer({ kind: "sqlite", file }), ChainStatus.layer)), Effect.scoped)

const program = Effect.gen(function* () {
  const anvil = yield* Anvil.start({ args: ["--no-mining"] })
  yield* generate(anvil)
  const folder = yield* Folder.scoped
  const results: { floor: Array<Measured>; headwater: Array<Measured> } = { floor: [], headwater: [] }
  for (let round = 0; round < rounds; round++) {
    results.floor.push(yield* timed(floor(anvil.url)))
    results.headwater.push(yield* timed(index(anvil.url, join(folder, `${round}.db`))))
    console.log(
      `round ${round + 1}: floor ${results.floor.at(-1)!.seconds.toFixed(2)} s, headwater ${results.headwater.at(-1)!.seconds.toFixed(2)} s`
    )
  }
  const line = (name: string, measured: ReadonlyArray<Measured>) => {
    const { cpu, seconds } = medians(measured)
    console.log(
      `${name.padEnd(10)} ${(blocks / seconds).toFixed(0).padStart(6)} blocks/s  ${((cpu / blocks) * 1000).toFixed(2)} ms CPU a block`
    )
    return seconds
  }
  console.log(`${blocks} blocks of ${perBlock} transactions, medians of ${rounds} rounds:`)
  const ratio = line("floor", results.floor) / line("headwater", results.headwater)
  console.log(`headwater reaches ${(ratio * 100).toFixed(0)} % of the floor`)
  const costs = (measured: ReadonlyArray<Measured>) => measured.map(({ cpu }) => (cpu / blocks) * 1_000)
  Comparison.report({
    ...{ work: `blocks of anvil with ${perBlock} transactions into SQLite`, unit: "ms CPU a block", better: "less" },
    ...{ ours: costs(results.headwater), floor: { name: "a bare download", values: costs(results.floor) } }
  })
}).pipe(Effect.scoped)

await Effect.runPromise(program)
