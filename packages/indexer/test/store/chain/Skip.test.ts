import { assert, describe, it } from "@effect/vitest"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as AccountUse from "@headwater/indexer/store/chain/AccountUse"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as KnownCoins from "@headwater/indexer/store/chain/KnownCoins"
import * as RecordGaps from "@headwater/indexer/store/chain/RecordGaps"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as SkippedBlocks from "@headwater/indexer/store/chain/SkippedBlocks"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const ethereum = Chain.ofName("ethereum/devnet")!
const litecoin = Chain.ofName("litecoin/regtest")!

const watch = (chain: Chain.Chain, of: number) =>
  Effect.flatMap(Subscriptions, (subscriptions) =>
    subscriptions.create({
      ...{ account: 1, chain, address: address(of), callbackUrl: "https://receiver.test/", secret: undefined },
      ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
    })
  )

const completenessOf = (chain: Chain.Chain, of: number) =>
  Effect.map(Completeness.of(chain, [address(of)]), (found) => found.get(Bytes.key(address(of))))

const rangesOf = (chain: Chain.Chain) =>
  Effect.map(SkippedBlocks.of(chain), (all) => all.map(({ from, to }) => [from, to]))

/** A chain of 21 blocks of which 0 to 5 are recorded. */
const setup = Effect.fnUntraced(function* (chain: Chain.Chain, record: RecordingMode = "all") {
  const fake = new FakeChain(chain)
  for (let i = 1; i <= 20; i++) fake.mine([{ from: 1, to: 2 }])
  const store = yield* ChainStore.open(chain, { record, undoDepth: 100 })
  yield* watch(chain, 2)
  yield* store.commit(fake.blocks.slice(0, 6))
  return { fake, store }
})

const anew = { coins: undefined, tokens: 10, history: 10, transactions: 10 }

for (const { layer: database, name } of takenStores(import.meta.url)) {
  describe(`Skipped blocks on ${name}`, () => {
    const layer = Subscriptions.layer.pipe(Layer.provideMerge(database))

    it.live("are recorded as missing, and nothing that rests on them is called complete", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* setup(ethereum)
        const whole = { coins: 0, tokens: 0, history: 0, transactions: 0 }
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), whole)
        assert.strictEqual((yield* RecordGaps.wholeFrom(ethereum)).internal, 0)

        assert.strictEqual((yield* Effect.flip(store.skip(4, 9)))._tag, "NotSkipped")
        assert.deepStrictEqual(yield* rangesOf(ethereum), [])
        yield* store.skip(5, 9)
        assert.deepStrictEqual(yield* store.cursor, { height: 9, hash: undefined, final: undefined })
        yield* store.commit(fake.blocks.slice(10))
        assert.strictEqual((yield* store.cursor)?.height, 20)
        assert.deepStrictEqual(yield* rangesOf(ethereum), [[6, 9]])
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), anew)
        assert.deepStrictEqual(yield* completenessOf(ethereum, 7), anew, "of a stranger")
        assert.strictEqual((yield* RecordGaps.wholeFrom(ethereum)).internal, 10)

        const missed = yield* Effect.flip(store.reprocess(fake.blocks[7]!, { callbacks: true, internalFrom: 0 }))
        assert.match(missed.message, /Block 7 was skipped/)
        const refused = yield* Effect.flip(Replay.begin(ethereum, { from: 0, to: 6, callbacks: false }))
        assert.match(refused.message, /blocks 6 to 9 were skipped: .* headwater rewind ethereum\/devnet 5$/)
        yield* Replay.begin(ethereum, { from: 10, to: 20, callbacks: false })

        // An account that was never used up to a later block proves that nothing was missed.
        const { hash, height } = fake.tip
        yield* AccountUse.enter(ethereum, { height, hash }, [{ address: address(2), unused: true }])
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), {
          coins: 21,
          tokens: 10,
          history: 0,
          transactions: 10
        })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("come back with a rewind to below, also before any block behind them", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* setup(ethereum)
        yield* store.skip(5, 9)
        yield* store.rewind(7)
        assert.deepStrictEqual(yield* rangesOf(ethereum), [[6, 7]])
        yield* store.commit(fake.blocks.slice(8, 12))
        yield* store.skip(11, 14)
        assert.deepStrictEqual(yield* rangesOf(ethereum), [
          [6, 7],
          [12, 14]
        ])
        yield* store.rewind(3)
        assert.deepStrictEqual(yield* store.cursor, { height: 3, hash: fake.blocks[3]!.hash, final: undefined })
        assert.isUndefined(yield* store.hashAt(4))
        assert.deepStrictEqual(yield* rangesOf(ethereum), [])
        yield* store.commit(fake.blocks.slice(4))
        assert.strictEqual((yield* store.cursor)?.height, 20)
        // What was proved before is not proved again by that.
        assert.deepStrictEqual(yield* completenessOf(ethereum, 2), {
          coins: undefined,
          tokens: 4,
          history: 4,
          transactions: 4
        })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("hide no block from a search by time", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* setup(ethereum)
        yield* store.skip(5, 14)
        yield* store.commit(fake.blocks.slice(15))
        const { heightSince } = yield* ChainReader.make(ethereum)
        const heights = yield* Effect.forEach([0, 3, 5, 17], (height) => heightSince(fake.blocks[height]!.time))
        assert.deepStrictEqual(heights, [0, 3, 5, 17])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("leave no coin of a UTXO chain and no balance of a wallet that they may have changed", () =>
      Effect.gen(function* () {
        const { fake, store } = yield* setup(litecoin, "watched")
        const { query } = yield* Database
        const { id } = (yield* ChainRow.find(litecoin))!
        const coins = Effect.map(
          query((db) => db.selectFrom("unspent_output").select("height").where("chain", "=", id).orderBy("height")),
          (rows) => rows.map(({ height }) => height)
        )
        yield* query((db) =>
          db.insertInto("wallet").values({
            ...{ account: 1, chain: id, public_key: "key", derivation: "account", format: "P2WPKH", created: 0 },
            ...{ balance: "5", state: "synced", scan_height: 3 }
          })
        )
        const wallet = query((db) => db.selectFrom("wallet").select(["state", "balance", "scan_height"]))
        assert.deepStrictEqual(yield* coins, [1, 2, 3, 4, 5])
        assert.strictEqual((yield* completenessOf(litecoin, 2))?.coins, 0)

        yield* store.skip(5, 9)
        assert.deepStrictEqual(yield* coins, [])
        assert.deepStrictEqual(yield* wallet, [{ state: "scanning", balance: "0", scan_height: null }])
        yield* store.commit(fake.blocks.slice(10, 12))
        assert.deepStrictEqual(yield* coins, [10, 11])
        assert.deepStrictEqual(yield* completenessOf(litecoin, 2), { ...anew, transactions: undefined })
        // A search that was begun before is of no use; subscriptions are searched for again.
        assert.lengthOf((yield* KnownCoins.unknown(id, { after: 0, last: Number.MAX_SAFE_INTEGER })).addresses, 1)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
