import { assert, describe, it } from "@effect/vitest"
import type { Block, NotUnderstood as Part } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import * as RecordGaps from "@headwater/indexer/store/chain/RecordGaps"
import type { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const chains = ["ethereum", "bitcoin"].map((name) =>
  Result.getOrThrow(Chain.find(name, name === "bitcoin" ? "mainnet" : "devnet"))
)

const part = (block: Block, more: Partial<Part> = {}): Part => ({
  ...{ transactionId: block.transactions[0], reason: "transaction.type 0x5 is not known", transfers: 1, raw: "{}" },
  lacks: ["coin"],
  ...more
})

for (const store of takenStores(import.meta.url)) {
  const inStore = <A, E>(test: Effect.Effect<A, E, Database | Scope.Scope>) =>
    test.pipe(Effect.provide(store.layer), Effect.scoped)

  describe(`NotUnderstood on ${store.name}`, () => {
    for (const chain of chains) {
      it.live(
        `${Chain.nameOf(chain)}: rows come with a block, go with it, and are replaced where it is entered again`,
        () =>
          inStore(
            Effect.gen(function* () {
              const opened = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
              const fake = new FakeChain(chain)
              for (let i = 0; i < 6; i++) fake.mine([{ from: 0, to: 1 }])
              const blocks = fake.blocks.map((block, i) =>
                i === 3
                  ? { ...block, notUnderstood: [part(block), part(block, { transactionId: undefined, transfers: 0 })] }
                  : i === 5
                    ? { ...block, notUnderstood: [part(block)] }
                    : block
              )
              assert.isUndefined(yield* NotUnderstood.count(chain))
              yield* opened.commit(blocks, undefined)
              assert.deepStrictEqual(yield* NotUnderstood.count(chain), { transactions: 3, from: 3, to: 5 })
              const [newest, third, fourth] = yield* NotUnderstood.newest(chain, 3)
              const [id] = [blocks[5]!.transactions[0]!]
              assert.include(newest!.transactionId, Buffer.from(id).toString("hex"))
              assert.deepStrictEqual([newest!.height, newest!.transfers, newest!.raw], [5, 1, "{}"])
              assert.strictEqual(newest!.reason, "transaction.type 0x5 is not known")
              assert.deepStrictEqual([third!.height, fourth!.height, fourth!.transactionId], [3, 3, null])

              yield* opened.undo(4)
              assert.deepStrictEqual(yield* NotUnderstood.count(chain), { transactions: 2, from: 3, to: 3 })
              const message = NotUnderstood.describe(chain, { transactions: 2, from: 3, to: 3 })
              assert.include(message, `headwater replay ${Chain.nameOf(chain)} --from 3 --to 3 --callbacks`)

              const again = (block: Block) => opened.reprocess(block, { callbacks: true, internalFrom: 0 })
              const [one] = blocks[3]!.notUnderstood!
              yield* again({ ...blocks[3]!, notUnderstood: [one!] })
              assert.deepStrictEqual(yield* NotUnderstood.count(chain), { transactions: 1, from: 3, to: 3 })
              yield* again(fake.blocks[3]!)
              assert.isUndefined(yield* NotUnderstood.count(chain))
            })
          )
      )
    }

    it.live(
      "a block may have more of them than a call takes arguments, together with another block that has some",
      () =>
        inStore(
          Effect.gen(function* () {
            const [chain] = chains
            const opened = yield* ChainStore.open(chain!, { record: "all", undoDepth: 64 })
            const fake = new FakeChain(chain!)
            for (let i = 0; i < 2; i++) fake.mine([{ from: 0, to: 1 }])
            const [first, second] = fake.blocks.map((block, i) => ({
              ...block,
              notUnderstood: Array.from({ length: i === 0 ? 1 : 150_000 }, () => part(block))
            }))
            yield* opened.commit([first!, second!])
            assert.deepStrictEqual(yield* NotUnderstood.count(chain!), { transactions: 150_001, from: 0, to: 1 })
          })
        )
    )

    it.live("what lacks ends the gap of its kind, and stays where a block that is entered again leaves that kind", () =>
      inStore(
        Effect.gen(function* () {
          const [chain] = chains
          const opened = yield* ChainStore.open(chain!, { record: "all", undoDepth: 64 })
          const fake = new FakeChain(chain!)
          for (let i = 0; i < 9; i++) fake.mine([{ from: 0, to: 1 }])
          const lacking: Record<number, Part["lacks"]> = { 2: ["coin", "token", "internal"], 4: ["token"], 6: ["coin"] }
          const blocks = fake.blocks.map((block): Block => {
            const lacks = lacking[block.height]
            return lacks === undefined ? block : { ...block, notUnderstood: [part(block, { lacks })] }
          })
          yield* opened.commit(blocks)
          const whole = () => RecordGaps.wholeFrom(chain!)
          assert.deepStrictEqual(yield* whole(), { coin: 7, token: 5, internal: 3 })
          const of = Effect.map(Completeness.of(chain!, [address(9)]), (found) => [...found.values()])
          assert.deepStrictEqual(yield* of, [{ coins: 0, tokens: 5, history: 0, transactions: 0 }])
          // A newer version has read these, without their traces.
          const again = (height: number, internalFrom: number | undefined) =>
            opened.reprocess(fake.blocks[height]!, { callbacks: false, internalFrom })
          yield* again(4, undefined)
          yield* again(6, undefined)
          yield* again(2, undefined)
          assert.deepStrictEqual(yield* whole(), { coin: 0, token: 0, internal: 3 })
          assert.deepStrictEqual(yield* of, [{ coins: 0, tokens: 0, history: 0, transactions: 0 }])
          yield* again(2, 0)
          assert.deepStrictEqual(yield* whole(), { coin: 0, token: 0, internal: 0 })
          assert.isUndefined(yield* NotUnderstood.count(chain!))
        })
      )
    )
  })
}
