/**
 * What a list of addresses costs a block: blocks of 500 transfers, ten of which pay addresses of one subscription's list,
 * against lists of 1, 10,000 and 100,000 addresses, each in a SQLite store of its own; how long the list takes to be made,
 * and what the process holds above its idle self.
 *
 *     node --expose-gc bench/addressLists.ts [sizes …]
 */
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [1, 10_000, 100_000]
const blocks = 200
const warm = 40
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const address = (number: number) => {
  const bytes = Buffer.alloc(20)
  bytes.writeUInt32BE(Math.imul(number + 1, 0x9e3779b1) >>> 0, 0)
  bytes.writeUInt32BE(number, 16)
  return bytes as Uint8Array as AddressBytes
}

const held = () => {
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return (arrayBuffers + heapUsed) / 1e6
}

const blockOf = (height: number, parent: Uint8Array, size: number): Block => {
  const pay = (to: AddressBytes, transaction: number): Transfer => {
    return {
      kind: "coin",
      transaction,
      position: 0,
      from: randomBytes(20) as Uint8Array as AddressBytes,
      to,
      amount: 1n
    }
  }
  const transfers = Array.from({ length: 500 }, (_, i) =>
    pay(i % 50 === 0 ? address(Math.floor(Math.random() * size)) : (randomBytes(20) as Uint8Array as AddressBytes), i)
  )
  const transactions = transfers.map(() => randomBytes(32))
  return { height, hash: randomBytes(32), parent, time: height, transactions, transfers, spends: [] }
}

const run = (size: number) =>
  Effect.gen(function* () {
    const { query, transaction } = yield* Database
    const { createList } = yield* Subscriptions
    const [account] = yield* query((db) => db.insertInto("account").values({ name: "a", created: 1 }).returning("id"))
    const { referenceId } = yield* createList({
      ...{ account: account!.id, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
      ...{ address: undefined, secret: undefined, callbackUrl: "https://example.com/", allowDuplicates: true },
      filter: undefined
    })
    const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
    const idle = held()
    const key = { account: account!.id, chain, referenceId }
    const steps: Array<number> = []
    for (let i = 0; i < size; i += AddressLists.atOnce) {
      const some = Array.from({ length: Math.min(AddressLists.atOnce, size - i) }, (_, j) => address(i + j))
      const begin = performance.now()
      yield* transaction(AddressLists.add(key, some, () => Effect.void))
      steps.push(performance.now() - begin)
    }
    let parent: Uint8Array = randomBytes(32)
    const times: Array<number> = []
    let first = 0
    for (let height = 1; height <= blocks; height++) {
      const block = blockOf(height, parent, size)
      const begin = performance.now()
      yield* store.unknownTokens([block])
      yield* store.commit([block])
      const took = performance.now() - begin
      if (height === 1) first = took
      if (height > warm) times.push(took)
      parent = block.hash
    }
    const sorted = (all: Array<number>) => all.sort((a, b) => a - b)
    const at = (all: ReadonlyArray<number>, part: number) =>
      all[Math.min(all.length - 1, Math.floor(all.length * part))]!
    sorted(times)
    sorted(steps)
    console.log(
      `${size} addresses: ${at(times, 0.5).toFixed(1)} ms a block (p99 ${at(times, 0.99).toFixed(1)}), the first one behind the edit ` +
        `${first.toFixed(0)} ms; ${(held() - idle).toFixed(1)} MB held; an edit of ${AddressLists.atOnce}: ` +
        `${at(steps, 0.5).toFixed(0)} ms (p99 ${at(steps, 0.99).toFixed(0)})`
    )
  })

for (const size of [1, ...sizes]) {
  const folder = mkdtempSync(join(tmpdir(), "headwater-lists-"))
  const database = Database.layer({ kind: "sqlite", file: join(folder, "store.db") })
  const services = Subscriptions.layer.pipe(Layer.provideMerge(database))
  await Effect.runPromise(run(size).pipe(Effect.scoped, Effect.provide(services)))
  rmSync(folder, { recursive: true })
}
