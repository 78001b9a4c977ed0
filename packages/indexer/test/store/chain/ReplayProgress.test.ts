import { assert, layer } from "@effect/vitest"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ReplayProgress from "@headwater/indexer/store/chain/ReplayProgress"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed
const block = (height: number) => ({
  height,
  hash: Uint8Array.of(height),
  parent: Uint8Array.of(height - 1),
  time: 1_000 + height,
  transactions: [],
  transfers: [],
  spends: []
})

for (const store of takenStores(import.meta.url)) {
  layer(store.layer)(`Blocks and replays of a chain on ${store.name}`, (it) => {
    it.effect("are told from a chain of which nothing is stored", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* StoredBlocks.of(chain), {
          ...{ first: undefined, last: undefined, hash: undefined, time: undefined }
        })
        assert.isUndefined(yield* ReplayProgress.find(chain))
        yield* ReplayProgress.end(chain, { from: 1, to: 2, callbacks: true })

        const commits = yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
        for (const height of [5, 6, 7]) yield* commits.commit([block(height)])
        assert.deepStrictEqual(yield* StoredBlocks.of(chain), {
          first: 5,
          last: 7,
          hash: Uint8Array.of(7),
          time: 1_007
        })

        const range = { from: 5, to: 7, callbacks: true }
        yield* ReplayProgress.begin(chain, { ...range, next: 5 })
        yield* ReplayProgress.advance(chain, range, 6)
        assert.deepStrictEqual(yield* ReplayProgress.find(chain), { ...range, next: 6 })
        const other = { from: 6, to: 6, callbacks: false }
        yield* ReplayProgress.begin(chain, { ...other, next: 6 })
        // The process of the first goes on, and has nothing to note any more.
        yield* ReplayProgress.advance(chain, range, 7)
        yield* ReplayProgress.end(chain, range)
        assert.deepStrictEqual(yield* ReplayProgress.find(chain), { ...other, next: 6 })
        yield* ReplayProgress.end(chain, other)
        assert.isUndefined(yield* ReplayProgress.find(chain))

        yield* commits.undo(4)
        assert.deepStrictEqual(yield* StoredBlocks.of(chain), {
          ...{ first: 5, last: 4, hash: undefined, time: undefined }
        })
      }).pipe(Effect.scoped)
    )
  })
}
