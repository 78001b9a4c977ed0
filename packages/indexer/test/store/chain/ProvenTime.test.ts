import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ProvenTime from "@headwater/indexer/store/chain/ProvenTime"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Plans from "../Plans.ts"
import * as Seed from "../Seed.ts"

const day = 86_400_000

const chainNamed = (network: string) => Result.getOrThrow(Chain.find("ethereum", network))

const opened = Effect.fnUntraced(function* (of: Chain.Chain) {
  const chain = new FakeChain(of)
  const store = yield* ChainStore.open(of, { record: "watched", undoDepth: 64 })
  yield* store.commit([chain.tip])
  return { chain, store }
})

for (const store of takenStores(import.meta.url)) {
  layer(Layer.empty)(`ProvenTime on ${store.name}`, (it) => {
    it.effect("is the clock's, at most a day later than the newest block of all public networks", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(3 * day)
        assert.isUndefined(yield* ProvenTime.newestBlock)
        assert.strictEqual(yield* ProvenTime.now, 3 * day)
        const ownNode = yield* opened(Seed.chain)
        const ownTime = 1000 * ownNode.chain.tip.time
        yield* TestClock.setTime(ownTime + 366 * day)
        assert.isUndefined(yield* ProvenTime.newestBlock)
        assert.strictEqual(yield* ProvenTime.now, ownTime + 366 * day)

        const { chain, store } = yield* opened(chainNamed("mainnet"))
        yield* store.commit([chain.mine([])])
        yield* opened(chainNamed("sepolia"))
        const newest = chain.tip.time * 1000
        assert.strictEqual(yield* ProvenTime.newestBlock, newest)
        for (const [clock, time] of [
          [newest - 9 * day, newest - 9 * day],
          [newest + day, newest + day],
          [newest + 366 * day, newest + day]
        ] as const) {
          yield* TestClock.setTime(clock)
          assert.strictEqual(yield* ProvenTime.now, time)
        }
      }).pipe(Effect.provide(store.layer), Effect.scoped)
    )

    it.effect("reads one block of each chain", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const chains = [1, 2, 3]
        yield* query(
          rows(sql`
            insert into block (chain, height, hash, parent, time)
            with recursive height(of) as (select 1 union all select of + 1 from height where of < 10000)
            select chain.of, height.of, '', '', 1
            from (${sql.join(
              chains.map((id) => sql`select ${sql.lit(id)} as of`),
              sql` union all `
            )}) chain cross join height`)
        )
        // As a store has it that was long in use.
        yield* query(rows(sql`analyze block`))
        const [plan] = yield* Plans.of(store.name, ProvenTime.newestBlock)
        assert.match(plan!, /SEARCH block USING PRIMARY KEY \(chain=\? AND height=\?\)|Index Scan using block_pkey/)
      }).pipe(Effect.provide(Layer.fresh(store.layer)), Effect.scoped)
    )
  })
}
