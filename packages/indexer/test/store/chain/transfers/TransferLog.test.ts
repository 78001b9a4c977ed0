import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Compaction from "@headwater/indexer/store/chain/transfers/Compaction"
import * as InternalPartitions from "@headwater/indexer/store/chain/transfers/InternalPartitions"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import * as TransferPages from "@headwater/indexer/store/chain/transfers/TransferPages"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { takenStores } from "../../../../../../test/Stores.ts"
import * as Posting from "../../../../src/store/chain/transfers/internal/Posting.ts"
import { bytes32 as hash } from "../../../sync/FakeChain.ts"
import * as FormerRows from "./FormerRows.ts"

const address = (number: number) => {
  const bytes = new Uint8Array(20)
  new DataView(bytes.buffer).setUint32(3, number * 2654435761)
  return bytes as AddressBytes
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

type Step =
  /** A new block; `former`: as release 0.1 recorded it. */
  | { readonly block: ReadonlyArray<Spec>; readonly former: boolean }
  | { readonly undo: number }
  | { readonly compact: number }
  /** Runs are made, and the process dies when pages were to be written for one more than so many times. */
  | { readonly crash: number }
  /** Release 0.1 makes a run. */
  | { readonly sortedFormerly: true }
  /** A block is entered again: as it was, or with other transfers. */
  | { readonly rewrite: number; readonly by: ReadonlyArray<Spec> | undefined }
  | { readonly prune: number }

const specs = fc.oneof(
  { weight: 15, arbitrary: fc.array(spec, { maxLength: 12 }) },
  { weight: 1, arbitrary: fc.array(spec, { minLength: 150, maxLength: 400 }) }
)

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ block: specs, former: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ undo: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 5, arbitrary: fc.record({ compact: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 1, arbitrary: fc.record({ crash: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ sortedFormerly: fc.constant(true as const) }) },
  { weight: 2, arbitrary: fc.record({ rewrite: fc.nat(20), by: fc.option(specs, { nil: undefined }) }) },
  { weight: 1, arbitrary: fc.record({ prune: fc.nat(20) }) }
)

/** A transfer as text, which is compared, and shown where it differs, in a moment. */
const textOf = ({
  height,
  transactionId,
  transfer
}: {
  readonly height: number
  readonly transactionId: Uint8Array | undefined
  readonly transfer: Transfer
}) =>
  [height, transactionId, ...Object.entries(transfer).sort().flat()]
    .map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value)))
    .join(" ")

const all = () => true

const tables = [
  ...(["packed_transfers", "transfer_chunk", "staged_postings"] as const),
  ...(["posting_run", "sorted_postings", "posting_page"] as const)
]

const append = Effect.fnUntraced(function* (block: Block) {
  const { insertMany } = yield* Database
  const isPartitioned = (yield* InternalPartitions.at(1, block.height)) !== undefined
  const table = isPartitioned ? "packed_internal" : "packed_transfers"
  const rows = TimeSlice.atOnce(TransferLog.pack(1, block, all, table))
  yield* insertMany("packed_transfers", rows.packed_transfers)
  yield* insertMany("packed_internal", rows.packed_internal)
  yield* insertMany("staged_postings", rows.staged_postings)
})

/** As release 0.1 recorded a block. */
const appendFormerly = Effect.fnUntraced(function* (block: Block) {
  const { insertMany } = yield* Database
  for (const kind of ["coin", "token", "internal"] as const) {
    const { chunks, staged } = FormerRows.rowsOf(1, kind, block)
    yield* insertMany("transfer_chunk", chunks)
    yield* insertMany("staged_postings", staged)
  }
})

/** As release 0.1 sorted postings. */
const sortFormerly = Effect.gen(function* () {
  const { insertMany, query } = yield* Database
  const staged = yield* query((db) => db.deleteFrom("staged_postings").returningAll())
  for (const log of new Set(staged.map(({ log }) => log))) {
    const all = Buffer.concat(staged.filter((row) => row.log === log).map(({ data }) => data))
    const postings = Array.from({ length: all.length / 12 }, (_, i) => all.subarray(i * 12, (i + 1) * 12))
    const positions = postings.map((posting) => posting.readUIntBE(5, 3) * 2 ** 32 + posting.readUInt32BE(8))
    const [run] = yield* query((db) =>
      db
        .insertInto("posting_run")
        .values({
          ...{ log, level: 0, state: "live", changed: 0, paged: 0, postings: postings.length },
          ...{ first_position: Math.min(...positions), last_position: Math.max(...positions) }
        })
        .returning("id")
    )
    yield* insertMany("posting_page", FormerRows.pagesOf(run!.id, Buffer.concat(postings.sort(Buffer.compare))))
  }
})

/** Dies when pages of postings were to be written for one more than so many times. */
const dying = <A, E>(times: number, self: Effect.Effect<A, E, Database>) =>
  Effect.gen(function* () {
    const database = yield* Database
    let left = times
    const mortal: Database["Service"] = {
      ...database,
      transaction: (self) => database.transaction(Effect.provideService(self, Database, mortal)),
      insertMany: (table, rows, conflict) =>
        table === "sorted_postings" && left-- <= 0 ? Effect.interrupt : database.insertMany(table, rows, conflict)
    }
    return yield* Effect.provideService(self, Database, mortal)
  })

const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 25)

for (const store of takenStores(import.meta.url)) {
  describe(`TransferLog on ${store.name}`, () => {
    it.live("answers every page as a scan of the chain would, through runs, merges and reorganisations", () =>
      Effect.gen(function* () {
        const { partitioned, query, transaction } = yield* Database
        const context = yield* Effect.context<Database>()
        yield* query((db) => db.insertInto("chain").values({ id: 1, name: "ethereum/mainnet", height: 99 }))
        // What is forgotten of some blocks stays where it is; what other blocks have is deleted.
        if (partitioned) for (const from of [1, 3]) yield* transaction(InternalPartitions.attach(1, from, from + 2))
        const pagesOf = Effect.fnUntraced(function* (
          kind: Transfer["kind"],
          of: number,
          order: "ascending" | "descending",
          limit: number,
          fromHeight: number | undefined
        ) {
          const seen: Array<TransferPages.Recorded<Transfer["kind"]>> = []
          let after: number | undefined
          while (true) {
            const page = yield* TransferPages.page(1, kind, address(of), { order, limit, after, fromHeight })
            seen.push(...page.transfers)
            assert.isAtMost(page.transfers.length, limit)
            if (!page.hasMore) return seen
            after = page.transfers.at(-1)!.position
          }
        })
        const play = Effect.fnUntraced(function* (blocks: Array<Block>, step: Step) {
          if ("block" in step) {
            const block = blockOf(blocks.length, step.block)
            blocks.push(block)
            yield* transaction(step.former ? appendFormerly(block) : append(block))
          } else if ("undo" in step) {
            blocks.length = Math.max(0, blocks.length - step.undo)
            const undone = TransferLog.undo(1, blocks.length - 1)
            yield* transaction(Effect.andThen(undone, ChainRow.rememberInternalFrom(1, blocks.length)))
          } else if ("compact" in step) yield* Compaction.compact(1, step.compact)
          else if ("crash" in step) yield* Effect.exit(dying(step.crash, Compaction.compact(1, 1)))
          else if ("sortedFormerly" in step) yield* transaction(sortFormerly)
          else if ("rewrite" in step) {
            const height = step.rewrite % Math.max(1, blocks.length)
            const block = blocks[height]
            if (block === undefined) return
            // What was pruned is not entered again.
            const kept = step.by === undefined ? block : blockOf(height, step.by)
            const isGone = block.transfers.every(({ kind }) => kind !== "internal")
            const transfers = kept.transfers.filter(({ kind }) => kind !== "internal" || !isGone)
            blocks[height] = { ...kept, transfers }
            yield* transaction(TransferLog.rewrite(1, blocks[height]!, all, () => true))
          } else {
            const below = Math.min(step.prune, blocks.length)
            const sums = new Map<string, number>()
            yield* TransferLog.forgetInternal(1, below, (gone) =>
              Effect.sync(() => {
                for (const { operation } of gone) sums.set(operation, (sums.get(operation) ?? 0) + 1)
              })
            )
            const expected = new Map<string, number>()
            for (const [height, block] of blocks.slice(0, below).entries()) {
              for (const transfer of block.transfers) {
                if (transfer.kind !== "internal") continue
                expected.set(transfer.operation, (expected.get(transfer.operation) ?? 0) + 1)
              }
              blocks[height] = { ...block, transfers: block.transfers.filter(({ kind }) => kind !== "internal") }
            }
            assert.deepStrictEqual(sums, expected)
          }
        })
        const check = Effect.fnUntraced(function* (blocks: ReadonlyArray<Block>, limit: number, from: number) {
          const several = [0, 1, 2, 6, 7].map(address)
          for (const kind of ["coin", "token"] as const) {
            const first = several.flatMap((one) => {
              const names = ({ from, kind: other, to }: Transfer) =>
                kind === other && [from, to].some((side) => side !== undefined && Bytes.equal(side, one))
              const block = blocks.find(({ transfers }) => transfers.some(names))
              return block === undefined ? [] : [[Bytes.key(one), block.height] as const]
            })
            assert.deepStrictEqual(yield* TransferPages.firstHeights(1, kind, several), new Map(first))
          }
          for (const kind of ["coin", "token", "internal"] as const) {
            for (const of of [0, 6]) {
              const named = blocks.flatMap((block) =>
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
              for (const fromHeight of [undefined, from]) {
                const expected = named.filter(({ height }) => height >= (fromHeight ?? 0))
                const ascending = yield* pagesOf(kind, of, "ascending", limit, fromHeight)
                assert.deepStrictEqual(ascending.map(textOf), expected.map(textOf))
                const descending = yield* pagesOf(kind, of, "descending", limit, fromHeight)
                assert.deepStrictEqual(
                  descending.map(({ position }) => position),
                  ascending.map(({ position }) => position).reverse()
                )
              }
            }
          }
        })
        const property = fc.asyncProperty(
          fc.array(step, { maxLength: 40 }),
          fc.integer({ min: 4, max: 60 }),
          fc.nat(15),
          (steps, limit, from) =>
            Effect.runPromiseWith(context)(
              Effect.gen(function* () {
                for (const table of tables) yield* query((db) => db.deleteFrom(table))
                if (partitioned) yield* query((db) => db.deleteFrom("packed_internal"))
                yield* query((db) => db.updateTable("chain").set({ internal_forgotten_below: 0 }))
                const blocks: Array<Block> = []
                for (const step of steps) yield* play(blocks, step)
                yield* check(blocks, limit, from)
              })
            )
        )
        yield* Effect.promise(() =>
          fc.assert(property, { numRuns: store.name === "sqlite" ? runs : Math.ceil(runs / 4) })
        )
      }).pipe(Effect.provide(store.layer))
    )

    it.live("merges runs level by level, and forgets what is pruned", () =>
      Effect.gen(function* () {
        const { query, read, transaction } = yield* Database
        yield* query((db) => db.insertInto("chain").values({ id: 1, name: "ethereum/mainnet", height: 99 }))
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
        yield* TransferLog.forgetInternal(1, 70, () => Effect.void)
        assert.strictEqual(yield* count, 2 * 40)
        yield* TransferLog.forgetInternal(1, 100, () => Effect.void)
        assert.strictEqual(yield* count, 0)
        assert.strictEqual(
          (yield* read((db) => db.selectFrom("posting_run").select("id").where("state", "=", "live"))).length,
          0
        )
      }).pipe(Effect.provide(store.layer))
    )

    it.live("answers every page of an address that is paid by one with the same hash", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        yield* query((db) => db.insertInto("chain").values({ id: 1, name: "ethereum/mainnet", height: 99 }))
        const [from, to] = [73_227, 1_054_070] as const
        assert.strictEqual(Posting.hash(address(from)), Posting.hash(address(to)))
        for (let height = 0; height < 6; height++) {
          // Former releases posted both sides.
          const enter = height % 3 === 1 ? append : appendFormerly
          yield* transaction(enter(blockOf(height, [{ kind: "coin", from, to, seed: 1 }])))
        }
        yield* Compaction.compact(1, 1)
        for (const order of ["ascending", "descending"] as const) {
          for (const side of [from, to]) {
            for (const limit of [1, 2, 5]) {
              const page = yield* TransferPages.page(1, "coin", address(side), { order, limit })
              assert.lengthOf(page.transfers, limit)
              assert.isTrue(page.hasMore)
            }
          }
        }
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
