import { assert, layer } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as SyncedAccountWallets from "@headwater/indexer/store/addresses/SyncedAccountWallets"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as Hash from "@headwater/core/Hash"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as OperatorView from "@headwater/indexer/store/operator/OperatorView"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Filled from "../database/released/fill.ts"
import * as Seed from "../Seed.ts"

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Wallets.layer),
    Layer.provideMerge(store.layer)
  )

  layer(services)(`OperatorView on ${store.name}`, (it) => {
    it.effect("shows the newest page of what a search may mean, each subscription once, and that there are more", () =>
      Effect.gen(function* () {
        const view = yield* OperatorView.make
        const account = yield* Seed.account
        const made: Array<string> = []
        for (let i = 0; i < 51; i++) {
          made.unshift((yield* Seed.subscription(account, "https://pages.test/")).referenceId)
        }
        const other = yield* Seed.subscription(yield* Seed.account, "https://other.test/")
        const references = (search: string) =>
          Effect.map(view.subscriptions(search), ({ hasMore, items }) => ({
            hasMore,
            found: items.map(({ shown }) => shown.referenceId)
          }))
        assert.deepStrictEqual(yield* references("https://pages.t"), { hasMore: true, found: made.slice(0, 50) })
        assert.deepStrictEqual(yield* references(made[50]!), { hasMore: false, found: [made[50]!] })
        // A search shows ten of them.
        const { hasMore, items } = yield* view.search("https://pages.t", undefined)
        assert.deepStrictEqual([hasMore, items.filter(({ kind }) => kind === "subscription").length], [true, 10])
        assert.isFalse((yield* view.search(made[50]!, undefined)).hasMore)
        assert.deepStrictEqual(yield* references("other.test"), { hasMore: false, found: [other.referenceId] })
        // The names of both accounts begin so, and no host does.
        assert.deepStrictEqual((yield* references("account")).found, [other.referenceId, ...made.slice(0, 49)])
        assert.deepStrictEqual((yield* references("")).found, [other.referenceId, ...made.slice(0, 49)])
      })
    )

    it.effect("says in how many accounts names and hosts were looked for, where there are more", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const view = yield* OperatorView.make
        const [last] = yield* query((db) => db.selectFrom("account").select(({ fn }) => fn.countAll().as("count")))
        const accounts = Array.from({ length: 500 - Number(last!.count) }, (_, i) => ({
          name: `many ${i}`,
          created: 1
        }))
        yield* insertMany("account", accounts)
        const searched = Effect.all([
          Effect.map(view.subscriptions("new"), ({ accountsSearched }) => accountsSearched),
          Effect.map(view.search("new", undefined), ({ accountsSearched }) => accountsSearched)
        ])
        assert.deepStrictEqual(yield* searched, [null, null])
        assert.isFalse((yield* view.accounts).hasMore)
        const account = yield* Seed.account
        yield* Seed.subscription(account, "https://new.test/")
        assert.deepStrictEqual(yield* searched, [500, 500])
        const { hasMore, items } = yield* view.accounts
        assert.deepStrictEqual([items.length, hasMore], [500, true])
        assert.deepInclude(yield* view.subscriptions("new"), { items: [], hasMore: false })
        assert.strictEqual((yield* view.subscriptions("new", account)).items.length, 1)
        assert.isNull((yield* view.subscriptions("new", account)).accountsSearched)
        yield* query((db) => db.deleteFrom("account").where("name", "like", "many %"))
      })
    )

    it.effect("looks for the hash of a block in as many blocks, however many chains there are", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        const view = yield* OperatorView.make
        // Of no other test.
        const chain = Chain.ofName("ethereum/mainnet")!
        const first = yield* ChainRow.make(chain)
        for (const chain of Chain.all.slice(0, 12)) yield* ChainRow.make(chain)
        const chains = (yield* ChainRow.all).length
        const among = Math.ceil(20_000 / chains)
        const hashOf = (height: number) =>
          new Uint8Array(32)
            .fill(9)
            .fill(height >> 8, 0, 1)
            .fill(height & 255, 1, 2)
        yield* insertMany(
          "block",
          Array.from({ length: among + 1 }, (_, height) => ({
            ...{ chain: first, height, hash: hashOf(height), parent: hashOf(height), time: 1 }
          }))
        )
        const kinds = (height: number) =>
          Effect.map(
            view.search(Hash.encode(chain, hashOf(height)), undefined),
            ({ items }) => items.filter(({ kind }) => kind === "block").length
          )
        assert.deepStrictEqual([yield* kinds(1), yield* kinds(0)], [1, 0])
        const story = yield* view.blockStory("ethereum/mainnet", Hash.encode(chain, hashOf(0)), undefined)
        assert.strictEqual(story?.height, 0, "a chain that is named is looked through")
        yield* query((db) => db.deleteFrom("block").where("chain", "=", first))
      })
    )

    it.effect("shows the wallets and addresses whose past is being looked for, with the blocks that are left", () =>
      Effect.gen(function* () {
        const view = yield* OperatorView.make
        const { transaction } = yield* Database
        const account = yield* Seed.account
        const address = (of: number) => new Uint8Array(20).fill(of) as AddressBytes
        yield* (yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 1 })).commit([
          ...[
            { height: 7, hash: new Uint8Array(32).fill(7), parent: new Uint8Array(32), time: 0, transactions: [] }
          ].map((block) => ({ ...block, transfers: [], spends: [] }))
        ])
        const birth = { birth: 3, readsPast: true, mostBlocks: 10 }
        const key = { account, chain: Seed.chain, address: address(5) }
        yield* transaction(SyncedAddresses.add(key, { ...birth, callbackUrl: undefined }))
        yield* transaction(
          SyncedAddresses.add({ ...key, address: address(6) }, { ...birth, birth: 8, callbackUrl: undefined })
        )
        const synced = { account, chain: Seed.chain, publicKey: "xpub of EVM", derivation: "account" as const }
        yield* transaction(SyncedAccountWallets.add(synced, [address(7), address(8)], birth))
        const alone: InTransaction<never, never> = (change) => change
        const format = "P2WPKH" as const
        const litecoin = {
          account,
          chain: Filled.litecoin,
          publicKey: Filled.publicKey,
          derivation: "account" as const,
          format
        }
        yield* (yield* Wallets).deriveAndSync(litecoin, 20, alone)
        const chain = Chain.nameOf(Seed.chain)
        const shown = (yield* view.syncs).map(({ account: _, ...sync }) => sync)
        assert.deepStrictEqual(shown, [
          {
            ...{ chain: "litecoin/regtest", subject: Filled.publicKey, next: null, last: null },
            state: "coins are looked for; no balance yet"
          },
          { chain, subject: "xpub of EVM", state: "tokens of 2 addresses are read", next: 3, last: 7 },
          {
            chain,
            subject: Address.encode(Seed.chain, address(5))!,
            state: "tokens of 1 address are read",
            next: 3,
            last: 7
          }
        ])
      }).pipe(Effect.scoped)
    )

    it.effect("shows callbacks without a number first, then by number down from any number", () =>
      Effect.gen(function* () {
        const view = yield* OperatorView.make
        const { list } = yield* Callbacks
        const account = yield* Seed.account
        const subscription = yield* Seed.subscription(account, "https://numbers.test/")
        yield* Seed.callbacks(subscription, 3)
        // The feed gives the callbacks their numbers.
        yield* list({ account, chain: Seed.chain, referenceId: subscription.referenceId }, { after: 0, limit: 10 })
        yield* Seed.callbacks(subscription, 1, { label: "unnumbered" })
        const numbers = (before: number | undefined) =>
          Effect.map(view.callbacks(subscription.id, before), ({ items }) => items.map(({ sequence }) => sequence))
        assert.deepStrictEqual(yield* numbers(undefined), [null, 3, 2, 1])
        assert.deepStrictEqual(yield* numbers(3), [2, 1])
        const found = yield* view.subscription(subscription.referenceId)
        assert.deepStrictEqual([found?.row.id, found?.shown.signed], [subscription.id, false])
      })
    )
  })
}
