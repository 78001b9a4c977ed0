import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Compaction from "@headwater/indexer/store/chain/transfers/Compaction"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import * as TransferPages from "@headwater/indexer/store/chain/transfers/TransferPages"
import { Database } from "@headwater/indexer/store/database/Database"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { stores } from "../../../../../../test/Stores.ts"

const address = (number: number) => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(3, number * 2654435761)
  return bytes as AddressBytes
}

const hash = (...numbers: ReadonlyArray<number>) => {
  const bytes = new Uint8Array(32)
  numbers.forEach((number, i) => {
    new DataView(bytes.buffer).setUint32(i * 4, number)
  })
  return bytes
}

const amounts = [0n, 1n, 255n, 256n, 10n ** 18n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n]

interface Spec {
  readonly kind: Transfer["kind"]
  readonly from: number
  readonly to: number
  readonly seed: number
}

const transferOf = ({ from, kind, seed, to }: Spec, index: number): Transfer => {
  const amount = amounts[seed % amounts.length]!
  const sides = { from: address(from), to: address(to) }
  const transaction = index >> 1
  switch (kind) {
    case "coin":
      return { kind, transaction, position: seed % 3, amount, ...sides, ...(seed % 5 === 0 ? { from: undefined } : {}) }
    case "token":
      return {
        ...{ kind, transaction, position: index, batchIndex: seed % 2, amount, ...sides },
        token: (["fungible", "non-fungible", "multi"] as const)[seed % 3]!,
        contract: address(100 + (seed % 4)),
        tokenId: seed % 3 === 0 ? undefined : amounts[(seed + 1) % amounts.length]
      }
    case "internal":
      return { kind, transaction, operation: `call_${seed}_1`, operationType: "create2", amount, ...sides }
  }
}

const blockOf = (height: number, specs: ReadonlyArray<Spec>): Block => ({
  height,
  hash: hash(9, height),
  parent: hash(9, height - 1),
  time: height,
  transactions: Array.from({ length: (specs.length >> 1) + 1 }, (_, i) => hash(height, i)),
  transfers: specs.map(transferOf),
  spends: []
})

const spec: fc.Arbitrary<Spec> = fc.record({
  kind: fc.constantFrom("coin" as const, "token" as const, "internal" as const),
  from: fc.nat(5),
  to: fc.nat(5),
  seed: fc.nat(1000)
})

type Step = { readonly block: ReadonlyArray<Spec> } | { readonly undo: number } | { readonly compact: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ block: fc.array(spec, { maxLength: 150 }) }) },
  { weight: 1, arbitrary: fc.record({ undo: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ compact: fc.integer({ min: 1, max: 200 }) }) }
)

const all = () => true

const tables = ["packed_transfers", "transfer_chunk", "staged_postings", "posting_run", "sorted_postings"] as const

const append = Effect.fnUntraced(function* (block: Block) {
  const { insertMany } = yield* Database
  const { chunks, unsorted } = TimeSlice.atOnce(TransferLog.pack(1, block, all))
  yield* insertMany("packed_transfers", chunks)
  yield* insertMany("staged_postings", unsorted)
})
const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 25)

for (const store of stores) {
  describe(`TransferLog on ${store.name}`, () => {
    it.live("answers every page as a scan of the chain would, through runs, merges and reorganisations", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const context = yield* Effect.context<Database>()
        const pagesOf = Effect.fnUntraced(function* (
          kind: Transfer["kind"],
          of: number,
          order: "ascending" | "descending",
          limit: number
        ) {
          const seen: Array<TransferPages.Recorded<Transfer["kind"]>> = []
          let after: number | undefined
          while (true) {
            const page = yield* TransferPages.page(1, kind, address(of), { order, limit, after })
            seen.push(...page.transfers)
            assert.isAtMost(page.transfers.length, limit)
            if (!page.hasMore) return seen
            after = page.transfers.at(-1)!.position
          }
        })
        const property = fc.asyncProperty(
          fc.array(step, { maxLength: 25 }),
          fc.integer({ min: 1, max: 60 }),
          (steps, limit) =>
            Effect.runPromiseWith(context)(
              Effect.gen(function* () {
                for (const table of tables) {
                  yield* query((db) => db.deleteFrom(table))
                }
                let blocks: Array<Block> = []
                for (const step of steps) {
                  if ("block" in step) {
                    const block = blockOf(blocks.length, step.block)
                    blocks.push(block)
                    yield* transaction(append(block))
                  } else if ("undo" in step) {
                    blocks = blocks.slice(0, Math.max(0, blocks.length - step.undo))
                    yield* transaction(TransferLog.undo(1, blocks.length - 1))
                  } else yield* Compaction.compact(1, step.compact)
                }
                for (const kind of ["coin", "token", "internal"] as const) {
                  for (const of of [0, 3, 6]) {
                    const expected = blocks.flatMap((block) =>
                      block.transfers
                        .filter(
                          (transfer) =>
                            transfer.kind === kind &&
                            [transfer.from, transfer.to].some(
                              (side) => side !== undefined && Buffer.compare(side, address(of)) === 0
                            )
                        )
                        .map((transfer) => ({
                          height: block.height,
                          transactionId: block.transactions[transfer.transaction],
                          transfer
                        }))
                    )
                    const ascending = yield* pagesOf(kind, of, "ascending", limit)
                    assert.deepStrictEqual(
                      ascending.map(({ height, transactionId, transfer }) => ({ height, transactionId, transfer })),
                      expected
                    )
                    const descending = yield* pagesOf(kind, of, "descending", limit)
                    assert.deepStrictEqual(
                      descending.map(({ position }) => position),
                      ascending.map(({ position }) => position).reverse()
                    )
                  }
                }
              })
            )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: runs }))
      }).pipe(Effect.provide(store.layer))
    )

    it.live("merges runs level by level, and forgets what is pruned", () =>
      Effect.gen(function* () {
        const { read, transaction } = yield* Database
        const specs = Array.from({ length: 40 }, (_, i): Spec => ({ kind: "internal", from: i % 7, to: 7, seed: i }))
        for (let height = 0; height < 72; height++) {
          yield* transaction(append(blockOf(height, specs)))
          yield* Compaction.compact(1, 1)
        }
        const live = yield* read((db) => db.selectFrom("posting_run").select("level").where("state", "=", "live"))
        assert.deepStrictEqual(live.map(({ level }) => level).sort(), [1, 2])
        const count = Effect.map(
          TransferPages.page(1, "internal", address(7), { order: "ascending", limit: 5000 }),
          ({ transfers }) => transfers.length
        )
        assert.strictEqual(yield* count, 72 * 40)
        yield* TransferLog.prune(1, "internal", 70)
        assert.strictEqual(yield* count, 2 * 40)
        yield* TransferLog.prune(1, "internal", 100)
        assert.strictEqual(yield* count, 0)
        assert.strictEqual(
          (yield* read((db) => db.selectFrom("posting_run").select("id").where("state", "=", "live"))).length,
          0
        )
      }).pipe(Effect.provide(store.layer))
    )

    it.live("begins at a height where asked to", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        for (let height = 0; height < 10; height++) {
          yield* transaction(append(blockOf(height, [{ kind: "coin", from: 1, to: 2, seed: 1 }])))
          if (height === 5) yield* Compaction.compact(1, 1)
        }
        for (const order of ["ascending", "descending"] as const) {
          const { hasMore, transfers } = yield* TransferPages.page(1, "coin", address(1), {
            order,
            limit: 50,
            fromHeight: 4
          })
          assert.isFalse(hasMore)
          assert.deepStrictEqual(transfers.map(({ height }) => height).sort(), [4, 5, 6, 7, 8, 9])
        }
      }).pipe(Effect.provide(store.layer))
    )
  })
}
