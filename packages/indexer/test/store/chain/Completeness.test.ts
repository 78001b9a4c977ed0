import { assert, describe, it } from "@effect/vitest"
import type { CoinTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as KnownCoins from "@headwater/indexer/store/chain/KnownCoins"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as BackgroundMigrations from "@headwater/indexer/store/database/BackgroundMigrations"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"
import { UtxoChain } from "../../families/utxo/UtxoChain.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))

const open = (chain: Chain.Chain, record: RecordingMode = "watched") =>
  ChainStore.open(chain, { record, undoDepth: 100 })

const watch = (chain: Chain.Chain, of: number) =>
  Effect.flatMap(Subscriptions, (subscriptions) =>
    subscriptions.create({
      ...{ account: 1, chain, address: address(of), callbackUrl: "https://receiver.test/", secret: undefined },
      ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
    })
  )
const unwatch = (chain: Chain.Chain, { referenceId }: { readonly referenceId: string }) =>
  Effect.flatMap(Subscriptions, ({ remove }) => remove({ account: 1, chain, referenceId }))

const completenessOf = (chain: Chain.Chain, of: number) =>
  Effect.map(Completeness.of(chain, [address(of)]), (found) => found.get(Bytes.key(address(of))))

const prove = (chain: Chain.Chain, part: Completeness.Part, of: number, height: number) =>
  Effect.flatMap(Database, ({ transaction }) =>
    transaction(
      Effect.gen(function* () {
        const { id } = yield* ChainRow.lockAndBumpRevisionOf(chain)
        yield* Completeness.prove(id, part, [address(of)], height)
      })
    )
  )

const from = (height: number | undefined) => ({
  ...{ coins: undefined, tokens: height },
  ...{ history: height, transactions: height }
})

for (const store of takenStores(import.meta.url)) {
  describe(`Completeness on ${store.name}`, () => {
    const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))

    it.live("begins with the block after the first watching, and anew where nobody had watched on", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(ethereum)
        const chainStore = yield* open(ethereum)
        const early = yield* watch(ethereum, 1)
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), from(undefined), "before any block")
        yield* chainStore.commit([fake.tip])
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), from(0), "from the first block on")
        yield* chainStore.commit([fake.mine([])])
        const late = yield* watch(ethereum, 2)
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), from(2))
        assert.isUndefined(yield* completenessOf(ethereum, 3))

        yield* prove(ethereum, "tokens", 2, 1)
        yield* chainStore.commit([fake.mine([])])
        const second = yield* watch(ethereum, 2)
        assert.deepStrictEqual(
          yield* completenessOf(ethereum, 2),
          { coins: undefined, tokens: 1, history: 2, transactions: 2 },
          "watched all the time"
        )
        yield* unwatch(ethereum, late)
        assert.deepStrictEqual(
          yield* completenessOf(ethereum, 2),
          { coins: undefined, tokens: 1, history: 2, transactions: 2 },
          "by the second one"
        )
        yield* unwatch(ethereum, second)
        yield* unwatch(ethereum, early)
        assert.isUndefined(yield* completenessOf(ethereum, 1))
        assert.isUndefined(yield* completenessOf(ethereum, 2))
        yield* chainStore.commit([fake.mine([])])
        yield* watch(ethereum, 2)
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), from(4))
      }).pipe(Effect.provide(layer))
    )

    it.live("begins anew with an activation, where what happened meanwhile was not parked", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(ethereum)
        const chainStore = yield* open(ethereum)
        yield* chainStore.commit([fake.tip])
        const { referenceId } = yield* watch(ethereum, 1)
        const { activate, deactivate } = yield* Subscriptions
        const { query } = yield* Database
        const [row] = yield* query((db) => db.selectFrom("subscription").select("id"))
        yield* deactivate(row!.id, "a reason")
        yield* chainStore.commit([fake.mine([])])
        yield* activate({ account: 1, chain: ethereum, referenceId })
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), from(1))
        yield* deactivate(row!.id, "a reason")
        yield* query((db) => db.updateTable("subscription").set({ parking: 0, gap_from: 2 }))
        assert.isUndefined(yield* completenessOf(ethereum, 1))
        yield* chainStore.commit([fake.mine([])])
        yield* activate({ account: 1, chain: ethereum, referenceId })
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), from(3))
      }).pipe(Effect.provide(layer))
    )

    it.live("holds of every address where all is recorded, and ends with that recording mode", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(ethereum)
        // Together with a block that comes after: the first one counts.
        fake.mine([])
        yield* (yield* open(ethereum, "all")).commit(fake.blocks)
        const whole = { coins: 0, tokens: 0, history: 0, transactions: 0 }
        assert.deepStrictEqual(yield* completenessOf(ethereum, 9), whole)
        yield* watch(ethereum, 1)
        yield* (yield* open(ethereum, "watched")).commit([fake.mine([])])
        assert.isUndefined(yield* completenessOf(ethereum, 9))
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), { coins: 0, tokens: 2, history: 2, transactions: 2 })
        yield* (yield* open(ethereum, "all")).commit([fake.mine([])])
        assert.deepStrictEqual(yield* completenessOf(ethereum, 9), from(3))
      }).pipe(Effect.provide(layer))
    )

    it.live("holds of no stranger where another process records watched addresses alone", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(ethereum)
        const [all, watched] = [yield* open(ethereum, "all"), yield* open(ethereum, "watched")]
        yield* all.commit([fake.tip])
        yield* watched.commit([fake.mine([])])
        assert.isUndefined(yield* completenessOf(ethereum, 9))
        yield* all.commit([fake.mine([])])
        assert.deepStrictEqual(yield* completenessOf(ethereum, 9), from(2))
        yield* watched.commit([fake.mine([])])
        assert.isUndefined(yield* completenessOf(ethereum, 9))
      }).pipe(Effect.provide(layer))
    )

    it.live("moves with undone blocks: what they are to bring again counts, a search of coins in them does not", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(ethereum)
        const chainStore = yield* open(ethereum)
        for (let i = 0; i < 5; i++) fake.mine([])
        yield* chainStore.commit(fake.blocks)
        yield* watch(ethereum, 1)
        yield* watch(ethereum, 2)
        yield* prove(ethereum, "coins", 1, 6)
        yield* prove(ethereum, "coins", 2, 4)
        yield* chainStore.undo(3)
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), from(4))
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), { coins: 4, tokens: 4, history: 4, transactions: 4 })
        const { id, revision } = (yield* ChainRow.find(ethereum))!
        assert.deepStrictEqual((yield* KnownCoins.unknown(id, { after: 0, last: revision })).addresses, [address(1)])
        assert.deepStrictEqual((yield* KnownCoins.unknown(id, { after: revision, last: revision + 1 })).addresses, [])
      }).pipe(Effect.provide(layer))
    )

    it.live("of what release 0.1 watched begins with the present block", () =>
      Effect.gen(function* () {
        const fake = new FakeChain(ethereum)
        const chainStore = yield* open(ethereum)
        yield* chainStore.commit([fake.tip])
        for (const of of [1, 2, 3]) yield* watch(ethereum, of)
        const { insertMany, query } = yield* Database
        yield* query((db) => db.deleteFrom("completeness"))
        yield* insertMany("background_migration", [{ name: "completeness of subscriptions", position: 0, last: 3 }])
        yield* chainStore.commit([fake.mine([])])
        assert.isUndefined(yield* completenessOf(ethereum, 1))
        // A second subscription proves nothing of the time before.
        yield* watch(ethereum, 3)
        yield* chainStore.commit([fake.mine([])])
        yield* BackgroundMigrations.pending
        assert.deepStrictEqual(yield* completenessOf(ethereum, 1), from(3))
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), from(3))
        assert.deepStrictEqual(yield* completenessOf(ethereum, 3), from(2))
      }).pipe(Effect.provide(layer))
    )

    it.live("decides whose coins an input takes; what is in doubt is kept until a node shows the coins", () =>
      Effect.gen(function* () {
        const [alice, bob] = [1, 2]
        const fake = new UtxoChain(litecoin)
        const chainStore = yield* open(litecoin)
        const pay = (owner: number, amount: bigint) => ({ to: address(owner), amount })
        fake.mine([{ spends: [], pays: [pay(alice, 5n), pay(bob, 6n), pay(bob, 7n)] }])
        yield* chainStore.commit(fake.blocks)
        const [hers, his, hisOther] = fake.coins.map(({ outpoint }) => outpoint)
        yield* watch(litecoin, alice)
        const spending = fake.mine([{ spends: [hers!], pays: [pay(alice, 4n)] }])
        yield* chainStore.commit([spending])
        const [event, ...more] = yield* UnresolvedEvents.list(litecoin, 10)
        assert.deepStrictEqual(more, [])
        assert.deepInclude(event, { height: 2, transactionId: spending.transactions[0]!, address: address(alice) })
        assert.deepStrictEqual(yield* UnresolvedEvents.count(litecoin), { events: 1, from: 2, to: 2 })

        yield* prove(litecoin, "coins", alice, 3)
        const deposit = fake.mine([{ spends: [his!], pays: [pay(alice, 2n)] }])
        assert.strictEqual((yield* chainStore.commit([deposit])).callbacks, 1, "not hers, since hers are known")
        const again = { callbacks: true, internalFrom: 0 }
        assert.strictEqual(yield* chainStore.reprocess(spending, again), 0, "before her coins were known")
        assert.deepStrictEqual((yield* UnresolvedEvents.count(litecoin))?.events, 1)
        const prevout: CoinTransfer = {
          ...{ kind: "coin", transaction: 0, position: 0, from: address(alice), to: undefined, amount: 5n }
        }
        const shown = { ...spending, transfers: [...spending.transfers, prevout] }
        assert.strictEqual(yield* chainStore.reprocess(shown, again), 1)
        assert.isUndefined(yield* UnresolvedEvents.count(litecoin))

        yield* chainStore.undo(2)
        const doubtful = fake.mine([{ spends: [hisOther!], pays: [pay(alice, 2n)] }])
        fake.blocks.splice(3, 1)
        yield* chainStore.commit([{ ...doubtful, height: 3, parent: spending.hash }])
        assert.deepStrictEqual(yield* UnresolvedEvents.count(litecoin), undefined, "known before the fork")
        yield* chainStore.undo(1)
        yield* chainStore.commit([{ ...doubtful, height: 2, parent: fake.blocks[1]!.hash }])
        assert.deepStrictEqual((yield* UnresolvedEvents.count(litecoin))?.events, 1)
        yield* chainStore.undo(1)
        assert.isUndefined(yield* UnresolvedEvents.count(litecoin))
      }).pipe(Effect.provide(layer))
    )
  })
}
