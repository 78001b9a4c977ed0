import { assert, describe, it } from "@effect/vitest"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed

const mined = (blocks: number) => {
  const fake = new FakeChain(chain)
  for (let i = 1; i < blocks; i++) fake.mine([{ from: i, to: i + 1 }])
  return fake
}

const open = ChainStore.open(chain, { record: "all", undoDepth: 64 })

const headers = Effect.flatMap(Database, ({ read }) =>
  Effect.map(
    read((db) => db.selectFrom("block").select("height").orderBy("height")),
    (rows) => rows.map(({ height }) => height)
  )
)

for (const store of takenStores(import.meta.url)) {
  describe(`ChainStore on ${store.name}`, () => {
    it.live("enters the blocks that follow one another, and none from the first that does not", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        const { blocks } = mined(6)
        const [, , , , , last] = blocks
        assert.deepStrictEqual(yield* chainStore.commit([...blocks.slice(0, 3), last!, blocks[3]!]), {
          blocks: 3,
          callbacks: 0
        })
        assert.deepStrictEqual(yield* headers, [0, 1, 2])
        const refused = yield* Effect.flip(chainStore.commit([last!]))
        assert.strictEqual(refused._tag, "NotNext")
        assert.strictEqual(refused.message, "Block 5 does not follow the stored block 2")
        // The right height on another branch.
        const other = mined(3)
        other.mine([])
        const foreign = { ...other.tip, parent: new Uint8Array(32) }
        assert.strictEqual((yield* Effect.flip(chainStore.commit([foreign])))._tag, "NotNext")
        assert.deepStrictEqual((yield* chainStore.cursor)!.height, 2)
        assert.deepStrictEqual(yield* chainStore.hashAt(2), blocks[2]!.hash)
        assert.isUndefined(yield* chainStore.hashAt(3))
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("leaves blocks above a fork in one step, and goes on from there", () =>
      Effect.gen(function* () {
        const { read } = yield* Database
        const chainStore = yield* open
        const { blocks } = mined(6)
        yield* chainStore.commit(blocks)
        yield* chainStore.undo(5)
        assert.lengthOf(yield* read((db) => db.selectFrom("reorganisation").selectAll()), 0)
        yield* chainStore.undo(3)
        assert.deepStrictEqual(yield* headers, [0, 1, 2, 3])
        assert.deepStrictEqual(yield* chainStore.cursor, { height: 3, hash: blocks[3]!.hash, final: undefined })
        const rows = yield* read((db) => db.selectFrom("reorganisation").selectAll())
        assert.deepStrictEqual(
          rows.map(({ depth, fork_height, old_hash }) => [depth, fork_height, [...old_hash]]),
          [[2, 3, [...blocks[5]!.hash]]]
        )
        assert.deepStrictEqual((yield* chainStore.commit(blocks.slice(4))).blocks, 2)
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("notes what is final with the blocks, where the last of them enters", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        const { blocks } = mined(6)
        yield* chainStore.commit(blocks.slice(0, 3), undefined, 1)
        assert.strictEqual(yield* chainStore.final, 1)
        yield* chainStore.commit([blocks[3]!, blocks[5]!], undefined, 3)
        assert.deepStrictEqual(yield* chainStore.cursor, { height: 3, hash: blocks[3]!.hash, final: 1 })
        yield* chainStore.commit(blocks.slice(4), undefined, 0)
        assert.strictEqual(yield* chainStore.final, 1)
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("knows the newest final height, which only a rewind lowers", () =>
      Effect.gen(function* () {
        const { read } = yield* Database
        const chainStore = yield* open
        const { blocks } = mined(6)
        yield* chainStore.commit(blocks.slice(2))
        assert.isUndefined(yield* chainStore.final)
        for (const height of [3, 5, 4]) yield* chainStore.setFinal(height)
        assert.strictEqual(yield* chainStore.final, 5)
        yield* chainStore.undo(4)
        assert.strictEqual(yield* chainStore.final, 5)
        yield* chainStore.rewind(3)
        assert.strictEqual(yield* chainStore.final, 3)
        // Below the first block that was ever committed nothing is left, and the chain begins anew above.
        yield* chainStore.rewind(1)
        assert.deepStrictEqual(yield* chainStore.cursor, { height: 1, hash: undefined, final: 1 })
        yield* chainStore.rewind(0)
        assert.deepStrictEqual(yield* chainStore.cursor, { height: 0, hash: undefined, final: 0 })
        const [row] = yield* read((db) => db.selectFrom("chain").select("first_height"))
        assert.strictEqual(row!.first_height, 1)
        assert.deepStrictEqual((yield* chainStore.commit([blocks[1]!])).blocks, 1)
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )
  })
}
