/** What a store that was filled has to answer, whichever release made it. */
import { assert } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Filled from "./fill.ts"

const services = (location: Location) =>
  Layer.mergeAll(Accounts.layer, Assets.layer, Callbacks.layer, Credits.layer, Domains.layer, Wallets.layer).pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer(location))
  )

const reads = Effect.gen(function* () {
  const [exchange, other] = yield* (yield* Accounts).list
  assert.deepInclude(exchange, { name: "exchange", retractions: false })
  assert.deepInclude(other, { name: "other", retractions: true })
  const account = exchange!.id
  assert.deepStrictEqual(yield* (yield* Accounts).authenticate(Redacted.make(Filled.apiKey)), {
    account,
    endpoints: new Set(["subscriptions.list"]),
    readOnly: false
  })

  const credits = yield* Credits
  assert.strictEqual(yield* credits.balance(account), 9_975)
  assert.deepStrictEqual(
    (yield* credits.statement(account, { limit: 10, newestFirst: false, after: undefined })).map(
      ({ amount, key, kind }) => [key, kind, amount]
    ),
    [
      ["invoice 1", "grant", 10_000],
      ["request 1", "request", -25]
    ]
  )

  assert.isTrue(yield* (yield* Domains).isVerified(account, "receiver.example"))
  const of = { account, chain: Filled.ethereum }
  const { subscriptions } = yield* (yield* Subscriptions).list(of, { limit: 10, offset: 0 })
  const [coins, blocks] = subscriptions
  assert.deepInclude(coins, { address: Filled.bob, secret: "a secret", confirmations: 3, active: true })
  assert.deepInclude(blocks, { event: "BLOCK_MINED", secret: undefined, active: true })
  const callbacks = yield* Callbacks
  const feed = yield* callbacks.list({ ...of, referenceId: blocks!.referenceId }, { after: 0, limit: 10 })
  assert.deepStrictEqual(
    feed.callbacks.map(({ attempts, sequence, state }) => [sequence, state, attempts.map(({ status }) => status)]),
    [
      [1, "delivered", [200]],
      [2, "retracted", [200]],
      [3, "due", [500]],
      [4, "expired", []],
      [5, "orphaned", []],
      [6, "held", []]
    ]
  )
  assert.strictEqual(JSON.parse(feed.callbacks[0]!.body).data.item.height, 101)

  const recorded = yield* ChainReader.make(Filled.ethereum)
  for (const kind of ["coin", "token", "internal"] as const) {
    const { transfers } = yield* recorded.page(kind, Filled.alice, { order: "ascending", limit: 50 })
    assert.deepStrictEqual(
      transfers.map(({ height, transfer }) => [height, transfer.amount]),
      [100, 101, 102, 103, 104, 105, 106].map((height) => [
        height,
        Filled.transfersAt(height).find((transfer) => transfer.kind === kind)!.amount
      ])
    )
  }
  assert.deepStrictEqual([...(yield* recorded.prunedTotals([Filled.alice])).values()], [{ received: 700n, spent: 0n }])
  assert.deepStrictEqual(yield* Replay.interrupted(Filled.ethereum), { from: 101, to: 105, next: 103, callbacks: true })

  const key = Result.getOrThrow(keyOf(account, Filled.litecoin, Filled.publicKey, "account"))
  // What the wallet had before it was synced was never looked for: what is recorded is no balance yet.
  assert.deepInclude(yield* (yield* Wallets).get(key), { balance: undefined, state: "scanning" })
  const [wallet] = yield* (yield* Database).query((db) => db.selectFrom("wallet").select("balance"))
  assert.deepStrictEqual(wallet, { balance: "21" })
  const { items } = yield* (yield* Assets).list({ limit: 10, offset: 0 })
  assert.deepStrictEqual(
    items.map(({ slug, symbol }) => [slug, symbol]),
    [["ethereum", "ETH"]]
  )

  const store = yield* ChainStore.open(Filled.ethereum, { record: "all", undoDepth: 10 })
  assert.strictEqual(yield* store.final, 101)
  const committed = yield* store.commit([Filled.block(2, 107, 2, Filled.transfersAt(107))])
  // The block itself, and the coins of three blocks, one confirmation each.
  assert.deepStrictEqual(committed, { blocks: 1, callbacks: 4 })
})

/** Opens a filled store: everything in it is read, and its chain goes on. */
export const readsRight = (location: Location) =>
  Effect.provide(Effect.scoped(reads), services(location), { local: true })
