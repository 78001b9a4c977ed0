/**
 * Bytes that the store takes for what it holds, for the table in `operations.md`: fills a SQLite store and looks at the
 * file. `node_modules/.bin/node docs/Sizing.ts [transfers] [subscriptions]`
 */
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Accounts from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { CompiledQuery } from "kysely"

const [transfers = 500_000, subscriptions = 20_000] = process.argv.slice(2).map(Number)
const perBlock = 250
const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const sepolia = Result.getOrThrow(Chain.find("ethereum", "sepolia"))

const bytes = (length: number, ...numbers: ReadonlyArray<number>) => {
  const made = crypto.getRandomValues(new Uint8Array(length))
  const view = new DataView(made.buffer)
  numbers.forEach((number, i) => {
    view.setUint32(i * 4, number)
  })
  return made
}
/** A quarter is seen for the first time, a tenth is one busy address, the rest comes back now and then. */
const known = Array.from({ length: 50_000 }, () => bytes(20))
const address = (): AddressBytes => {
  const dice = Math.random()
  const chosen =
    dice < 0.25 ? bytes(20) : dice < 0.35 ? known[0]! : known[Math.floor(Math.random() ** 2 * known.length)]!
  return chosen as AddressBytes
}
const amount = () => BigInt(Math.floor(Math.random() * 1e9)) * 10n ** 9n

const block = (height: number, of: () => Transfer, count: number): Block => ({
  height,
  hash: bytes(32, 1, height),
  parent: bytes(32),
  time: 1_700_000_000 + 12 * height,
  transactions: Array.from({ length: count }, (_, i) => bytes(32, 2, height, i)),
  transfers: Array.from({ length: count }, of).map((transfer, i) => ({ ...transfer, transaction: i, position: i })),
  spends: []
})
const coin = (): Transfer => ({
  ...{ kind: "coin", transaction: 0, position: 0, from: address(), to: address(), amount: amount() }
})
const token = (): Transfer => ({
  ...{ kind: "token", transaction: 0, position: 0, batchIndex: 0, token: "fungible", tokenId: undefined },
  ...{ contract: known[1]! as AddressBytes, from: address(), to: address(), amount: amount() }
})

const folder = mkdtempSync(join(tmpdir(), "headwater-sizing-"))
const file = join(folder, "store.db")
const size = Effect.gen(function* () {
  const { query } = yield* Database
  yield* query((db) => ({ execute: () => db.executeQuery(CompiledQuery.raw("pragma wal_checkpoint(truncate)")) }))
  return statSync(file).size
})

const measure = <E, R>(what: string, count: number, fill: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const before = yield* size
    yield* fill
    console.log(`${what}: ${(((yield* size) - before) / count).toFixed(0)} bytes each (${count})`)
  })

const fill = (store: ChainStore.ChainStore, of: () => Transfer) =>
  Effect.gen(function* () {
    const { height = -1 } = (yield* store.cursor) ?? {}
    let parent = (yield* store.cursor)?.hash ?? bytes(32)
    for (let i = 1; i <= transfers / perBlock; i++) {
      const next = { ...block(height + i, of, perBlock), parent }
      yield* store.commit([next])
      parent = next.hash
    }
    // The log sorts what was staged beside the commits.
    yield* Effect.sleep("3 seconds")
  })

await Effect.gen(function* () {
  const accounts = yield* Accounts.Accounts
  const { id } = yield* accounts.create("sizing")
  const subscribed = yield* Subscriptions
  const store = yield* ChainStore.open(ethereum, { record: "all", undoDepth: 128 })
  yield* measure("coin transfer, record = all", transfers, fill(store, coin))
  yield* measure("token transfer, record = all", transfers, fill(store, token))
  const watched = Array.from({ length: subscriptions }, () => bytes(20) as AddressBytes)
  yield* ChainStore.open(sepolia, { record: "watched", undoDepth: 128 })
  yield* measure(
    "subscription",
    subscriptions,
    Effect.forEach(
      watched,
      (address) =>
        subscribed.create({
          ...{ account: id, chain: sepolia, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address },
          ...{ callbackUrl: "https://receiver.example/callbacks", secret: "a secret of the account" },
          ...{ confirmations: 1, allowDuplicates: false }
        }),
      { discard: true }
    )
  )
  const other = yield* ChainStore.open(sepolia, { record: "watched", undoDepth: 128 })
  let parent: Uint8Array = bytes(32)
  let turn = 0
  const concerned = (): Transfer => ({
    ...{ kind: "coin", transaction: 0, position: 0, amount: amount() },
    ...{ from: bytes(20) as AddressBytes, to: watched[turn++ % watched.length]! }
  })
  yield* measure(
    "callback, with the transfer that it is about",
    subscriptions,
    Effect.gen(function* () {
      for (let height = 0; height < subscriptions / 100; height++) {
        const next = { ...block(height, concerned, 100), parent }
        yield* other.commit([next])
        parent = next.hash
      }
    })
  )
}).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.mergeAll(Accounts.Accounts.layer, Subscriptions.layer).pipe(
      Layer.provide(Layer.succeed(HostPermission, () => Effect.succeed(true))),
      Layer.provideMerge(Database.layer({ kind: "sqlite", file }))
    )
  ),
  Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true }))),
  Effect.runPromise
)
