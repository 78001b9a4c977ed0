import { assert, describe, it } from "@effect/vitest"
import type { Block, NotUnderstood as Part } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as NotUnderstood from "@headwater/indexer/store/chain/NotUnderstood"
import type { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { stores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"

const chains = ["ethereum", "bitcoin"].map((name) =>
  Result.getOrThrow(Chain.find(name, name === "bitcoin" ? "mainnet" : "devnet"))
)

const part = (block: Block, more: Partial<Part> = {}): Part => ({
  ...{ transactionId: block.transactions[0], reason: "transaction.type 0x5 is not known", transfers: 1, raw: "{}" },
  ...more
})

for (const store of stores) {
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
  })
}
