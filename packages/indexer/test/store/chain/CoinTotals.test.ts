import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import { takenStores } from "../../../../../test/Stores.ts"
import { bytes32 as hash } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed
const address = (number: number) => new Uint8Array(20).fill(number) as AddressBytes
const [busy, other] = [address(1), address(2)]

/** A block of a branch, on one of the same or of the first branch. */
const blockOf = (branch: number, parentBranch: number, height: number, amounts: ReadonlyArray<bigint>): Block => ({
  ...{ height, hash: hash(branch, height), parent: hash(parentBranch, height - 1), time: height, spends: [] },
  transactions: amounts.map((_, i) => hash(branch, height, i)),
  transfers: amounts.map(
    (amount, i): CoinTransfer => ({
      ...{ kind: "coin", transaction: i, position: 0, amount },
      ...(i % 3 === 0 ? { from: busy, to: other } : i % 3 === 1 ? { from: other, to: busy } : { from: busy, to: busy })
    })
  )
})

const amountsOf = (height: number, factor = 1n) =>
  Array.from({ length: 40 }, (_, i) => factor * BigInt(height * 1_000 + i) * 10n ** 15n)

const sumsOf = (blocks: ReadonlyArray<Block>) => {
  let received = 0n
  let spent = 0n
  for (const { transfers } of blocks) {
    for (const { amount, from, to } of transfers) {
      if (to === busy) received += amount
      if (from === busy) spent += amount
    }
  }
  return { received, spent }
}

for (const store of takenStores(import.meta.url)) {
  describe(`CoinTotals on ${store.name}`, () => {
    it.live(
      "are the sums of the record, whatever was kept of them, after commits, reorganisations, rewinds and replays",
      () =>
        Effect.gen(function* () {
          const { read } = yield* Database
          const commits = yield* ChainStore.open(chain, { record: "all", undoDepth: 80 })
          const reader = yield* ChainReader.make(chain)
          const blocks: Array<Block> = []
          const commit = (to: number, branch: number, amounts = amountsOf) =>
            Effect.gen(function* () {
              const first = blocks.length
              for (let height = first; height < to; height++) {
                blocks.push(blockOf(branch, height === first ? 0 : branch, height, amounts(height)))
              }
              yield* commits.commit(blocks.slice(first))
            })
          const keptAt = Effect.map(
            read((db) => db.selectFrom("coin_total").select("height").where("address", "=", busy)),
            ([row]) => row?.height
          )
          /** Compares the sums up to the tip, and up to a block below. */
          const check = Effect.fnUntraced(function* (kept: number | undefined) {
            const tip = blocks.length - 1
            assert.strictEqual(yield* keptAt, kept)
            for (const upTo of [tip, tip - 30, tip]) {
              assert.deepStrictEqual(yield* reader.coinTotals(busy, upTo), sumsOf(blocks.slice(0, upTo + 1)))
            }
          })

          yield* commit(60, 0)
          yield* check(undefined)
          assert.strictEqual(yield* keptAt, undefined)
          yield* commit(120, 0)
          yield* check(undefined)
          assert.strictEqual(yield* keptAt, 55)
          yield* commit(170, 0)
          yield* check(55)
          assert.strictEqual(yield* keptAt, 105)

          // A reorganisation above what is kept, and one that goes deeper.
          blocks.length = 130
          yield* commits.undo(129)
          yield* commit(175, 1, (height) => amountsOf(height, 3n))
          yield* check(105)
          assert.strictEqual(yield* keptAt, 105)
          blocks.length = 100
          yield* commits.undo(99)
          assert.strictEqual(yield* keptAt, undefined)
          yield* commit(180, 2, (height) => amountsOf(height, 5n))
          yield* check(undefined)
          assert.strictEqual(yield* keptAt, 115)

          // A replay that finds the same, and one that finds something else.
          const again = { callbacks: false, internalFrom: undefined }
          yield* commits.reprocess(blocks[20]!, again)
          assert.strictEqual(yield* keptAt, 115)
          blocks[20] = { ...blocks[20]!, transfers: blocks[20]!.transfers.slice(0, 20) }
          yield* commits.reprocess(blocks[20]!, again)
          yield* check(undefined)
          assert.strictEqual(yield* keptAt, 115)
          blocks[30] = { ...blocks[30]!, transfers: [] }
          yield* commits.reprocess(blocks[30]!, again)
          yield* check(undefined)

          blocks.length = 50
          yield* commits.rewind(49)
          yield* check(undefined)
        }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("are not kept where a block was entered again while they were read", () =>
      Effect.gen(function* () {
        const database = yield* Database
        const commits = yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
        const blocks = Array.from({ length: 120 }, (_, height) => blockOf(0, 0, height, amountsOf(height)))
        yield* commits.commit(blocks)
        const changed = { ...blocks[5]!, transfers: [] }
        const meanwhile = Effect.orDie(commits.reprocess(changed, { callbacks: false, internalFrom: undefined }))
        // The sums are about to be kept: their transaction begins.
        let isFirst = true
        const interfered: Database["Service"] = {
          ...database,
          transaction: (self) => {
            const kept = database.transaction(self)
            if (!isFirst) return kept
            isFirst = false
            return Effect.andThen(Effect.provideService(meanwhile, Database, database), kept)
          }
        }
        const reader = yield* Effect.provideService(ChainReader.make(chain), Database, interfered)
        assert.deepStrictEqual(yield* reader.coinTotals(busy, 119), sumsOf(blocks))
        assert.isFalse(isFirst)
        assert.deepStrictEqual(yield* database.read((db) => db.selectFrom("coin_total").selectAll()), [])
        const now = blocks.map((block) => (block.height === 5 ? changed : block))
        assert.deepStrictEqual(yield* reader.coinTotals(busy, 119), sumsOf(now))
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )
  })
}
