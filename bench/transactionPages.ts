/**
 * What a page of an address's transactions costs: of one that a million transactions name, in a SQLite store of its own, the
 * first page, one in the middle and the last, both ways, beside those of an address that ten name. The CPU of all threads, of
 * the store's part alone: the node's part depends on the node.
 *
 *     node bench/transactionPages.ts [transactions]
 */
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TransactionParties, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const total = Number(process.argv[2] ?? 1_000_000)
const perBlock = 500
const limit = 50
const rounds = 200
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const address = (number: number) => Buffer.alloc(20, number) as Uint8Array as AddressBytes
const stranger = () => randomBytes(20) as Uint8Array as AddressBytes
const [hot, quiet] = [address(1), address(2)]

const blockOf = (height: number, parent: Uint8Array): Block => {
  const parties: Array<TransactionParties> = []
  const transfers: Array<Transfer> = []
  for (let transaction = 0; transaction < perBlock; transaction++) {
    const to = transaction === 0 && height % Math.max(1, Math.floor(total / perBlock / 10)) === 0 ? quiet : stranger()
    parties.push({ kind: "transaction", transaction, from: hot, to })
    transfers.push({ kind: "coin", transaction, position: 0, from: hot, to, amount: 1n })
  }
  const transactions = parties.map(() => randomBytes(32))
  return { height, hash: randomBytes(32), parent, time: height, transactions, transfers, parties, spends: [] }
}

const cpuOf = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = process.cpuUsage()
    for (let i = 0; i < rounds; i++) yield* self
    const { system, user } = process.cpuUsage(before)
    return (user + system) / 1000 / rounds
  })

const program = Effect.gen(function* () {
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 100 })
  let parent: Uint8Array = new Uint8Array(32)
  for (let height = 0; height < total / perBlock; height++) {
    const block = blockOf(height, parent)
    yield* store.commit([block])
    parent = block.hash
  }
  // What is unsorted is sorted meanwhile.
  yield* Effect.sleep("5 seconds")
  const reader = yield* ChainReader.make(chain)
  const pages = (of: AddressBytes, blocks: number) => {
    const at = (height: number): ChainReader.Position => [height, 0, 0]
    return [
      ["first, newest first", { order: "descending" as const, limit }],
      ["middle", { order: "descending" as const, limit, after: at(Math.floor(blocks / 2)) }],
      ["last", { order: "descending" as const, limit, after: at(1) }],
      ["first, oldest first", { order: "ascending" as const, limit }],
      ["middle", { order: "ascending" as const, limit, after: at(Math.floor(blocks / 2)) }],
      ["last", { order: "ascending" as const, limit, after: at(blocks - 1) }]
    ].map(([name, request]) => ({ name, read: reader.transactions(of, request as ChainReader.PageRequest) }))
  }
  for (const [name, of] of [
    [`${total} transactions`, hot],
    ["10 transactions", quiet]
  ] as const) {
    for (const { name: page, read } of pages(of, total / perBlock)) {
      const { transactions } = yield* read
      const millis = yield* cpuOf(read)
      console.log(`${name}, ${page}: ${transactions.length} in ${millis.toFixed(2)} ms of CPU`)
    }
  }
})

const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"))
await Effect.runPromise(
  program.pipe(
    Effect.scoped,
    Effect.provide(Database.layer({ kind: "sqlite", file: join(folder, "bench.sqlite") })),
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  )
)
