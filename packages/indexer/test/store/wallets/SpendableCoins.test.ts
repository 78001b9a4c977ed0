import { assert, describe, it } from "@effect/vitest"
import { fromBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { type Coin, keyOf } from "@headwater/core/utxo/Coin"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as SpendableCoins from "@headwater/indexer/store/wallets/SpendableCoins"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"

const chain = Chain.ofName("litecoin/regtest")!
const script = fromBytes(Uint8Array.of(0x51))

const coinAt = (index: number): Coin => ({
  outpoint: { transactionId: new Uint8Array(32).fill(index % 7), index },
  ...{ script, amount: 1_000n, height: 1 }
})

const insert = Effect.fnUntraced(function* (coins: ReadonlyArray<Coin>) {
  const { insertMany } = yield* Database
  const id = yield* ChainRow.make(chain)
  yield* insertMany(
    "unspent_output",
    coins.map(({ amount, height, outpoint }) => ({
      ...{ chain: id, transaction_id: outpoint.transactionId, output_index: outpoint.index },
      ...{ script, amount: amount.toString(), height }
    }))
  )
  return id
})

for (const store of takenStores(import.meta.url)) {
  describe(`SpendableCoins on ${store.name}`, () => {
    it.effect("gives a coin to one of many that want it at once, and to each all of its coins or none", () =>
      Effect.gen(function* () {
        const coins = Array.from({ length: 30 }, (_, index) => coinAt(index))
        yield* insert(coins)
        // Two daemons at one store.
        const daemons = [yield* SpendableCoins.make(chain), yield* SpendableCoins.make(chain)]
        const wanted = Array.from({ length: 60 }, (_, i) => [0, 1, 2, 3].map((j) => coins[(i * 7 + j * j * 3) % 30]!))
        const results = yield* Effect.forEach(
          wanted,
          (some, i) => Effect.result(daemons[i % 2]!.reserve(1, some, 60_000)),
          { concurrency: "unbounded" }
        )
        const taken = results.flatMap((result, i) => (Result.isSuccess(result) ? wanted[i]! : []))
        assert.isAbove(taken.length, 0)
        assert.strictEqual(new Set(taken.map(({ outpoint }) => keyOf(outpoint))).size, taken.length)
        const { read } = yield* Database
        const rows = yield* read((db) => db.selectFrom("reserved_coin").selectAll())
        assert.lengthOf(rows, taken.length)
        for (const result of results)
          if (Result.isFailure(result)) assert.strictEqual(result.failure._tag, "CoinsTaken")
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("frees coins after a while, forgets what is over, and reserves for one account alone", () =>
      Effect.gen(function* () {
        const coins = Array.from({ length: 3 }, (_, index) => coinAt(index))
        yield* insert(coins)
        const { reserve } = yield* SpendableCoins.make(chain)
        const [first, second, third] = coins as [Coin, Coin, Coin]
        assert.strictEqual(yield* reserve(1, [first, second], 1_000), 1_000)
        assert.strictEqual((yield* Effect.flip(reserve(1, [second, third], 1_000)))._tag, "CoinsTaken")
        // What failed has reserved nothing.
        yield* reserve(1, [third], 1_000)
        yield* reserve(2, [first], 1_000)
        yield* TestClock.adjust("999 millis")
        assert.strictEqual((yield* Effect.flip(reserve(1, [first], 1_000)))._tag, "CoinsTaken")
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(yield* reserve(1, [first], 5_000), 6_000)
        const { read } = yield* Database
        const rows = yield* read((db) => db.selectFrom("reserved_coin").select(["account", "number", "until"]))
        assert.deepStrictEqual(rows, [{ account: 1, number: 0, until: 6_000 }])
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("frees coins that were reserved by a clock that was days ahead", () =>
      Effect.gen(function* () {
        yield* insert([coinAt(0)])
        const { reserve } = yield* SpendableCoins.make(chain)
        yield* TestClock.setTime(10 * 86_400_000)
        yield* reserve(1, [coinAt(0)], 1_000)
        yield* TestClock.setTime(86_400_000)
        assert.strictEqual(yield* reserve(1, [coinAt(0)], 1_000), 86_401_000)
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("reserves no coin that is unspent no more", () =>
      Effect.gen(function* () {
        const coins = [coinAt(0), coinAt(1)]
        const id = yield* insert(coins)
        const { query } = yield* Database
        yield* query((db) => db.deleteFrom("unspent_output").where("chain", "=", id).where("output_index", "=", 1))
        const { reserve } = yield* SpendableCoins.make(chain)
        assert.strictEqual((yield* Effect.flip(reserve(1, coins, 1_000)))._tag, "CoinsTaken")
        yield* reserve(1, coins.slice(0, 1), 1_000)
      }).pipe(Effect.provide(store.layer))
    )
  })
}
