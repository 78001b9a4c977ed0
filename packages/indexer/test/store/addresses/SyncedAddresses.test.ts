import { assert, describe, it } from "@effect/vitest"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as SyncedAccountWallets from "@headwater/indexer/store/addresses/SyncedAccountWallets"
import * as PastReading from "@headwater/indexer/store/addresses/PastReading"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const key = (account: number, of: number) => ({ account, chain, address: address(of) })
const inTransaction = <A, E, R>(change: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, ({ transaction }) => transaction(change))
const add = (account: number, of: number, birth?: number) =>
  inTransaction(
    SyncedAddresses.add(key(account, of), { birth, callbackUrl: undefined, readsPast: true, mostBlocks: 1_000 })
  )
const setActive = (account: number, of: number, isActive: boolean, mostBlocks = 1_000) =>
  inTransaction(SyncedAddresses.setActive(key(account, of), isActive, { mostBlocks }))
const completenessOf = (of: number) =>
  Effect.map(Completeness.of(chain, [address(of)]), (found) => found.get(Bytes.key(address(of))))

/** A store of three blocks that records watched addresses from block 1 on. */
const opened = Effect.gen(function* () {
  const fake = new FakeChain(chain)
  fake.mine([])
  fake.mine([])
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
  yield* store.commit(fake.blocks.slice(1))
  return { fake, store }
})

for (const { layer, name } of takenStores(import.meta.url)) {
  describe(`Synced addresses on ${name}`, () => {
    it.live("are watched from their sync on, once for each account, and are read from their birth to that block", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* opened
        assert.deepInclude(yield* add(1, 5), { address: address(5), isActive: true, status: "syncing", blocksLeft: 2 })
        assert.deepInclude(yield* Effect.flip(add(1, 5)), { _tag: "AddressConflict", isActive: true })
        yield* add(2, 5, 0)
        assert.deepInclude(yield* add(1, 6, 9), { status: "synced", blocksLeft: undefined }, "not born yet")
        const syncing = yield* PastReading.syncing(chain, "tokens", 10)
        assert.deepStrictEqual(
          syncing.map(({ address, birth, last, next }) => ({ address, birth, last, next })),
          [
            { address: address(5), birth: 0, last: 2, next: 0 },
            { address: address(5), birth: 1, last: 2, next: 1 }
          ]
        )
        yield* store.commit([fake.mine([{ from: 5, to: 8 }])])
        const reader = yield* ChainReader.make(chain)
        const { transfers } = yield* reader.page("coin", address(5), { order: "ascending", limit: 10 })
        assert.deepStrictEqual(
          transfers.map(({ height }) => height),
          [3]
        )
        assert.deepStrictEqual(yield* reader.watchedBy(1, [address(5), address(6), address(7)]), [
          address(5),
          address(6)
        ])
        assert.deepStrictEqual(yield* reader.watchedBy(2, [address(5), address(6)]), [address(5)])
        assert.isFalse(yield* reader.isDeactivatedBy(2, address(5)))
        yield* setActive(2, 5, false)
        assert.isTrue(yield* reader.isDeactivatedBy(2, address(5)))
        assert.deepStrictEqual(yield* reader.watchedBy(2, [address(5)]), [])
        assert.isFalse(yield* reader.isDeactivatedBy(1, address(5)), "of the other account it is active")
        assert.isFalse(yield* reader.isDeactivatedBy(1, address(7)), "never synced")
        const listed = yield* SyncedAddresses.list(
          { account: 1, chain },
          { after: undefined, limit: 10, order: "desc" }
        )
        assert.deepStrictEqual(
          listed.map(({ address }) => address),
          [address(6), address(5)]
        )
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("know their tokens from birth once all logs are read, and not what was read for an earlier sync", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* opened
        yield* add(1, 5)
        const before = yield* PastReading.syncing(chain, "tokens", 10)
        yield* PastReading.advance(chain, before, 2)
        assert.deepStrictEqual(yield* completenessOf(5), { coins: undefined, tokens: 3, history: 3, transactions: 3 })
        assert.deepStrictEqual(yield* PastReading.progress(chain), { addresses: 1, next: 2, last: 2 })
        yield* PastReading.advance(chain, before, 3)
        assert.deepStrictEqual(yield* completenessOf(5), { coins: undefined, tokens: 1, history: 3, transactions: 3 })
        const [reading] = yield* PastReading.syncing(chain, "history", 10)

        assert.deepInclude(yield* setActive(1, 5, false), { isActive: false })
        assert.isUndefined(yield* completenessOf(5))
        assert.deepInclude(yield* Effect.flip(setActive(1, 5, false)), { _tag: "AddressConflict" })
        assert.deepInclude(yield* Effect.flip(add(1, 5)), { _tag: "AddressConflict", isActive: false })
        yield* store.commit([fake.mine([])])
        assert.deepInclude(yield* setActive(1, 5, true), { isActive: true, status: "syncing", blocksLeft: 3 })
        // The end of a reading that began before.
        yield* PastReading.finish(chain, reading!, 0)
        yield* PastReading.advance(chain, before, 3)
        assert.deepStrictEqual(yield* completenessOf(5), { coins: undefined, tokens: 4, history: 4, transactions: 4 })
        assert.deepStrictEqual((yield* PastReading.syncing(chain, "tokens", 10))[0]?.last, 3)
        assert.deepInclude(yield* Effect.flip(setActive(2, 5, true)), { _tag: "AddressNotFound" })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("are refused where more of the past would have to be read than is allowed, each time anew", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* opened
        const options = { callbackUrl: undefined, readsPast: true }
        const added = (birth: number | undefined, mostBlocks: number) =>
          inTransaction(SyncedAddresses.add(key(1, 5), { ...options, birth, mostBlocks }))
        assert.deepInclude(yield* Effect.flip(added(0, 2)), { _tag: "PastTooLong", blocks: 3, last: 2 })
        assert.deepInclude(yield* Effect.flip(added(undefined, 1)), { _tag: "PastTooLong", blocks: 2, last: 2 })
        assert.strictEqual(yield* completenessOf(5), undefined, "nothing is left of them")
        yield* added(undefined, 2)
        yield* setActive(1, 5, false, 0)
        yield* store.commit([fake.mine([])])
        assert.deepInclude(yield* Effect.flip(setActive(1, 5, true, 2)), { _tag: "PastTooLong", blocks: 3, last: 3 })
        yield* setActive(1, 5, true, 3)
        const wallet = { account: 1, chain, publicKey: "xpub", derivation: "bip32" as const }
        const bounded = { birth: undefined, readsPast: true, mostBlocks: 2 }
        const refused = yield* Effect.flip(inTransaction(SyncedAccountWallets.add(wallet, [address(6)], bounded)))
        assert.deepInclude(refused, { _tag: "PastTooLong", blocks: 3 })
        yield* inTransaction(SyncedAccountWallets.add(wallet, [address(6)], { ...bounded, mostBlocks: 3 }))
        yield* inTransaction(SyncedAccountWallets.setActive(wallet, false, bounded))
        const inactive = yield* Effect.flip(inTransaction(SyncedAccountWallets.setActive(wallet, true, bounded)))
        assert.deepInclude(inactive, { _tag: "PastTooLong", blocks: 3 })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("of a wallet are watched beside single ones, further when the wallet gets further, and stop together", () =>
      Effect.gen(function* () {
        yield* opened
        const wallet = { account: 1, chain, publicKey: "xpub", derivation: "bip32" as const }
        yield* add(1, 5)
        const birth = { birth: 0, readsPast: true, mostBlocks: 1_000 }
        yield* inTransaction(SyncedAccountWallets.add(wallet, [address(5), address(6)], birth))
        const again = yield* Effect.flip(inTransaction(SyncedAccountWallets.add(wallet, [], birth)))
        assert.deepInclude(again, { _tag: "WalletConflict", isActive: true })
        assert.isTrue(yield* inTransaction(SyncedAccountWallets.extend(wallet, [address(6), address(7)])))
        const other = { ...wallet, derivation: "account" as const }
        assert.isFalse(yield* inTransaction(SyncedAccountWallets.extend(other, [address(8)])))
        const reader = yield* ChainReader.make(chain)
        const all = [5, 6, 7, 8].map(address)
        assert.deepStrictEqual(yield* reader.watchedBy(1, all), all.slice(0, 3))
        assert.strictEqual(
          (yield* SyncedAddresses.list({ account: 1, chain }, { after: undefined, limit: 10, order: "asc" })).length,
          1
        )
        const page = { limit: 10, offset: 0 }
        assert.deepStrictEqual(yield* SyncedAccountWallets.list(wallet, page), {
          total: 1,
          wallets: [{ derivation: "bip32", publicKey: "xpub", isActive: true, status: "syncing", blocksLeft: 3 }]
        })
        yield* inTransaction(SyncedAccountWallets.setActive(wallet, false, birth))
        assert.deepStrictEqual(yield* reader.watchedBy(1, all), all.slice(0, 1))
        assert.isFalse(yield* inTransaction(SyncedAccountWallets.extend(wallet, [address(8)])))
        yield* inTransaction(SyncedAccountWallets.setActive(wallet, true, birth))
        assert.deepStrictEqual(yield* reader.watchedBy(1, all), all.slice(0, 3))
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
