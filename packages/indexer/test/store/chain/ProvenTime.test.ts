import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ProvenTime from "@headwater/indexer/store/chain/ProvenTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const day = 86_400_000

for (const store of takenStores(import.meta.url)) {
  layer(Layer.empty)(`ProvenTime on ${store.name}`, (it) => {
    it.effect("is the clock's, at most a day behind the newest block of all chains", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(3 * day)
        assert.isUndefined(yield* ProvenTime.newestBlock)
        assert.strictEqual(yield* ProvenTime.now, 3 * day)
        const chain = new FakeChain(Seed.chain)
        const chainStore = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 })
        yield* chainStore.commit([chain.tip])
        yield* chainStore.commit([chain.mine([])])
        const other = Result.getOrThrow(Chain.find("ethereum", "sepolia"))
        yield* (yield* ChainStore.open(other, { record: "watched", undoDepth: 64 })).commit([new FakeChain(other).tip])
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
  })
}
