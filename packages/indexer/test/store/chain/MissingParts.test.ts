import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const chainOf = (blockchain: string) => Result.getOrThrow(Chain.find(blockchain, "devnet"))
const chain = chainOf("ethereum")

/** Seven blocks, each with a coin transfer and two internal ones. */
const mined = (of = chain): ReadonlyArray<Block> => {
  const fake = new FakeChain(of)
  for (let i = 0; i < 6; i++) fake.mine([{ from: 0, to: 1 }])
  return fake.blocks.map((block) => ({
    ...block,
    transfers: [
      ...block.transfers,
      ...block.transfers.flatMap(({ amount }) =>
        [0, 1].map((call) => ({
          ...{ kind: "internal" as const, transaction: 0, operation: `call_${call}`, operationType: "call", amount },
          ...{ from: address(1), to: address(2 + call) }
        }))
      )
    ]
  }))
}

const reason = "debug_traceBlockByHash: required historical state unavailable (reexec=128)"

/** The block as a node without traces shows it. */
const untraced = (block: Block): Block => ({
  ...block,
  transfers: block.transfers.filter(({ kind }) => kind !== "internal"),
  missing: [{ part: "internal", reason }]
})

const subscribe = (reference: string, event: EventType, of: number, confirmations: number, on = chain) =>
  Seed.subscriptionRow(on, reference, event, address(of), { confirmations })

const opened = Effect.gen(function* () {
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
  yield* subscribe("coins", "ADDRESS_COINS_TRANSACTION_CONFIRMED", 1, 1)
  yield* subscribe("once", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", 2, 1)
  yield* subscribe("third", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", 1, 3)
  yield* subscribe("each", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 3, 4)
  return store
})

const rows = Effect.gen(function* () {
  const { read } = yield* Database
  return yield* read((db) => db.selectFrom("missing_parts").selectAll().orderBy("chain").orderBy("from_height"))
})

const ranges = Effect.map(rows, (rows) => rows.map(({ from_height, to_height }) => [from_height, to_height] as const))

/** What blocks leave for receivers and readers, without row ids and times. */
const record = Effect.gen(function* () {
  const { read } = yield* Database
  const hex = (data: Uint8Array) => Buffer.from(data).toString("hex")
  const chunks = yield* read((db) => db.selectFrom("packed_transfers").selectAll().orderBy("log").orderBy("position"))
  const staged = yield* read((db) => db.selectFrom("staged_postings").selectAll().orderBy("log").orderBy("height"))
  const waiting = yield* read((db) =>
    db.selectFrom("waiting").selectAll().orderBy("height").orderBy("subscription").orderBy("occurrence")
  )
  const callbacks = yield* read((db) =>
    db.selectFrom("callback").select(["idempotency_key", "event", "body", "height"]).orderBy("idempotency_key")
  )
  return {
    chunks: chunks.map((row) => ({ ...row, data: hex(row.data) })),
    staged: staged.map((row) => ({ ...row, data: hex(row.data) })),
    waiting: waiting.map(({ id: _, ...row }) => ({ ...row, block_hash: hex(row.block_hash) })),
    callbacks
  }
})

for (const store of takenStores(import.meta.url)) {
  const inStore = <A, E>(test: Effect.Effect<A, E, Database | Scope.Scope>) =>
    test.pipe(Effect.provide(store.layer), Effect.scoped)

  describe(`MissingParts on ${store.name}`, () => {
    it.live("coins of Arbitrum that a trace alone shows are entered with it, and stay where a replay shows none", () =>
      inStore(
        Effect.gen(function* () {
          const arbitrum = chainOf("arbitrum")
          const ticket = {
            kind: "coin",
            transaction: 0,
            position: 1,
            from: undefined,
            to: address(2),
            amount: 9n
          } as const
          const shown = mined(arbitrum).map((block) =>
            block.height === 0 ? block : { ...block, transfers: [...block.transfers, ticket] }
          )
          const hidden = mined(arbitrum).map(untraced)
          const chainStore = yield* ChainStore.open(arbitrum, { record: "all", undoDepth: 64 })
          yield* subscribe("coins", "ADDRESS_COINS_TRANSACTION_CONFIRMED", 2, 1, arbitrum)
          yield* chainStore.commit(shown)
          const whole = yield* record
          assert.strictEqual(whole.callbacks.length, 6)
          const again = (blocks: ReadonlyArray<Block>, internalFrom: number | undefined) =>
            Effect.forEach(blocks, (block) => chainStore.reprocess(block, { callbacks: true, internalFrom }))
          for (const internalFrom of [0, undefined]) yield* again(hidden, internalFrom)
          yield* again(mined(arbitrum), undefined)
          assert.deepStrictEqual((yield* record).chunks, whole.chunks)
          yield* chainStore.rewind(0)
          yield* chainStore.commit(hidden.slice(1))
          yield* again(shown.slice(1), 0)
          const filled = yield* record
          assert.deepStrictEqual(filled.chunks, whole.chunks)
          const keys = ({ callbacks }: typeof whole) => callbacks.map(({ idempotency_key }) => idempotency_key)
          assert.deepStrictEqual(keys(filled), keys(whole))
        })
      )
    )

    it.live("coins of Polygon's state-sync that were told as internal transactions are recorded once", () =>
      inStore(
        Effect.gen(function* () {
          const polygon = chainOf("polygon")
          const nobody = Address.fromBytes(new Uint8Array(20))
          const party = { kind: "transaction", transaction: 0, from: nobody, to: nobody } as const
          const synced = {
            kind: "coin",
            transaction: 0,
            position: 7,
            from: address(1),
            to: address(2),
            amount: 9n
          } as const
          const paid = { ...synced, kind: "internal", operation: "call_0", operationType: "call" } as const
          const fake = new FakeChain(polygon)
          fake.mine([{ from: 0, to: 1 }])
          const block = { ...fake.blocks[1]!, parties: [party] }
          const before = { ...block, transfers: [paid] }
          const now = { ...block, transfers: [synced] }
          const chainStore = yield* ChainStore.open(polygon, { record: "all", undoDepth: 64 })
          yield* chainStore.commit([fake.blocks[0]!, before])
          const kinds = Effect.map(record, ({ chunks }) =>
            chunks.filter(({ position }) => position >= 2 ** 20).flatMap(({ log }) => (log % 4 === 3 ? [] : log % 4))
          )
          assert.deepStrictEqual(yield* kinds, [2])
          const again = (internalFrom: number | undefined) =>
            chainStore.reprocess(now, { callbacks: false, internalFrom })
          // Whether forgotten, or not shown: what the record has of the internal transactions stays.
          for (const internalFrom of [undefined, 2]) {
            yield* again(internalFrom)
            assert.deepStrictEqual(yield* kinds, [2])
          }
          yield* again(0)
          assert.deepStrictEqual(yield* kinds, [0])
          yield* again(undefined)
          assert.deepStrictEqual(yield* kinds, [0])
        })
      )
    )

    it.live("are rows that come and go with their blocks, of their chain alone", () =>
      inStore(
        Effect.gen(function* () {
          const blocks = mined()
          const chainStore = yield* opened
          const polygon = chainOf("polygon")
          const other = yield* ChainStore.open(polygon, { record: "all", undoDepth: 64 })
          yield* other.commit(mined(polygon).map(untraced))
          yield* chainStore.commit(blocks.map((block) => (block.height < 3 ? block : untraced(block))))
          assert.deepInclude(yield* MissingParts.missingInternal(chain), { blocks: 4, from: 3, to: 6 })
          const { read } = yield* Database
          const [row] = yield* read((db) => db.selectFrom("chain").select("id").where("name", "=", "ethereum/devnet"))
          const ours = (yield* rows).filter((part) => part.chain === row!.id)
          assert.deepStrictEqual(ours, [
            { chain: row!.id, from_height: 3, to_height: 6, part: "internal" as const, reason }
          ])
          yield* chainStore.undo(4)
          assert.deepInclude(yield* MissingParts.missingInternal(chain), { blocks: 2, from: 3, to: 4 })
          assert.deepStrictEqual(yield* MissingParts.missingInternal(chain), {
            ...{ blocks: 2, from: 3, to: 4, ranges: [{ from: 3, to: 4 }], reason }
          })
          yield* chainStore.commit(blocks.slice(5))
          assert.deepInclude(yield* MissingParts.missingInternal(chain), { blocks: 2, from: 3, to: 4 })
          yield* chainStore.rewind(1)
          assert.isUndefined(yield* MissingParts.missingInternal(chain))
          assert.deepInclude(yield* MissingParts.missingInternal(polygon), { blocks: 7, from: 0, to: 6 })
        })
      )
    )

    it.live("are told by range, and found upwards and downwards", () =>
      inStore(
        Effect.gen(function* () {
          const chainStore = yield* opened
          const lacking = [0, 2, 3, 4, 6]
          yield* chainStore.commit(mined().map((block) => (lacking.includes(block.height) ? untraced(block) : block)))
          assert.deepStrictEqual(yield* MissingParts.missingInternal(chain), {
            ...{ blocks: 5, from: 0, to: 6, reason },
            ranges: [
              { from: 0, to: 0 },
              { from: 2, to: 4 },
              { from: 6, to: 6 }
            ]
          })
          assert.deepStrictEqual(yield* MissingParts.heights(chain, { above: 0 }, 3), [2, 3, 4])
          assert.deepStrictEqual(yield* MissingParts.heights(chain, { below: 6 }, 3), [4, 3, 2])
          assert.deepStrictEqual(yield* MissingParts.heights(chain, { above: 6 }, 3), [])
        })
      )
    )

    it.live("lie in one row a range, which a filled-in block shortens or splits and a later block continues", () =>
      inStore(
        Effect.gen(function* () {
          const blocks = mined()
          const chainStore = yield* opened
          const fill = (height: number) =>
            chainStore.reprocess(blocks[height]!, { callbacks: false, internalFrom: Number.MAX_SAFE_INTEGER })
          const commit = (from: number, to: number) =>
            chainStore.commit(
              blocks.slice(from, to + 1).map((block) => ({ ...untraced(block), missing: lacks(block) }))
            )
          // Nodes name another state in the reason for each block.
          const lacks = ({ height }: Block) => [{ part: "internal" as const, reason: `no state of ${height}` }]
          yield* commit(0, 2)
          yield* commit(3, 5)
          assert.deepStrictEqual(yield* ranges, [[0, 5]])
          assert.deepInclude(yield* MissingParts.missingInternal(chain), { blocks: 6, reason: "no state of 5" })
          const steps: ReadonlyArray<readonly [number, ReadonlyArray<readonly [number, number]>]> = [
            [
              2,
              [
                [0, 1],
                [3, 5]
              ]
            ],
            [
              0,
              [
                [1, 1],
                [3, 5]
              ]
            ],
            [
              5,
              [
                [1, 1],
                [3, 4]
              ]
            ],
            [1, [[3, 4]]],
            [5, [[3, 4]]]
          ]
          for (const [height, left] of steps) {
            yield* fill(height)
            assert.deepStrictEqual(yield* ranges, left, String(height))
          }
          yield* commit(6, 6)
          assert.deepStrictEqual(yield* ranges, [
            [3, 4],
            [6, 6]
          ])
          yield* chainStore.undo(5)
          yield* chainStore.undo(3)
          yield* commit(4, 4)
          assert.deepStrictEqual(yield* ranges, [[3, 4]])
        })
      )
    )

    it.live("are filled in by a replay: what a fresh sync leaves, with every event once, under its own key", () =>
      Effect.gen(function* () {
        const blocks = mined()
        const fresh = yield* inStore(
          Effect.gen(function* () {
            yield* (yield* opened).commit(blocks)
            return yield* record
          })
        )
        assert.lengthOf(fresh.callbacks, 6 + 6 + 8 + 6 + 5 + 4 + 3)
        assert.isAbove(fresh.waiting.length, 0)
        yield* inStore(
          Effect.gen(function* () {
            const chainStore = yield* opened
            yield* chainStore.commit(
              blocks.map((block) => ([2, 3, 6].includes(block.height) ? untraced(block) : block))
            )
            const before = yield* record
            assert.isTrue(before.callbacks.every((callback) => fresh.callbacks.some((of) => of.body === callback.body)))
            assert.isBelow(before.callbacks.length, fresh.callbacks.length)
            let added = 0
            for (const block of blocks)
              added += yield* chainStore.reprocess(block, { callbacks: true, internalFrom: 0 })
            assert.deepStrictEqual(yield* rows, [])
            assert.strictEqual(added, fresh.callbacks.length - before.callbacks.length)
            assert.deepStrictEqual(yield* record, fresh)
            for (const block of blocks) {
              assert.strictEqual(yield* chainStore.reprocess(block, { callbacks: true, internalFrom: 0 }), 0)
            }
            assert.deepStrictEqual(yield* record, fresh)
          })
        )
      })
    )

    it.live("stay where a replay does not bring them, and what was recorded stays too", () =>
      inStore(
        Effect.gen(function* () {
          const blocks = mined()
          const chainStore = yield* opened
          yield* chainStore.commit(blocks.map((block) => (block.height === 2 ? untraced(block) : block)))
          const before = yield* record
          for (const block of blocks) {
            const still = { callbacks: true, internalFrom: 0 }
            assert.strictEqual(yield* chainStore.reprocess(untraced(block), still), 0)
            // A source that was told to give no traces, or whose node has no tracer, misses none.
            const { missing: _, ...traceless } = untraced(block)
            assert.strictEqual(yield* chainStore.reprocess(traceless, { callbacks: true, internalFrom: undefined }), 0)
          }
          assert.deepStrictEqual(yield* record, before)
          assert.deepStrictEqual(yield* ranges, [[2, 2]])
        })
      )
    )

    it.live("are filled in also where others have been forgotten on purpose", () =>
      inStore(
        Effect.gen(function* () {
          const blocks = mined()
          const chainStore = yield* opened
          yield* chainStore.commit(blocks.map((block) => (block.height === 2 ? untraced(block) : block)))
          const { query } = yield* Database
          const perBlock = 2 ** 20
          yield* query((db) =>
            db
              .deleteFrom("packed_transfers")
              .where("log", "=", 4 * 1 + 2)
              .where("position", "<", 4 * perBlock)
          )
          for (const block of blocks) yield* chainStore.reprocess(block, { callbacks: false, internalFrom: 4 })
          const internal = (yield* record).chunks.filter(({ log }) => log === 4 * 1 + 2)
          assert.deepStrictEqual(
            internal.map(({ position }) => position / perBlock),
            [2, 4, 5, 6]
          )
          assert.deepStrictEqual(yield* rows, [])
        })
      )
    )
  })
}

describe("MissingParts", () => {
  it("tells the operator which blocks, and what becomes of them", () => {
    const rest = "(out of state). They are filled in, and their callbacks sent, as soon as one of the chain's nodes can"
    const remedy = (to: number) =>
      `trace them; to ask the nodes at once: headwater replay ethereum/devnet --from 7 --to ${to} --callbacks`
    const told = (missing: Omit<MissingParts.MissingInternal, "reason">) =>
      MissingParts.describe(chain, { ...missing, reason: "out of state" })
    assert.strictEqual(
      told({ blocks: 1, from: 7, to: 7, ranges: [{ from: 7, to: 7 }] }),
      `1 block lacks its internal transactions: 7 ${rest} ${remedy(7)}`
    )
    const ranges = [
      { from: 7, to: 9 },
      { from: 12, to: 12 }
    ]
    assert.strictEqual(
      told({ blocks: 4, from: 7, to: 12, ranges }),
      `4 blocks lack their internal transactions: 7 to 9, 12 ${rest} ${remedy(12)}`
    )
    assert.strictEqual(
      told({ blocks: 90, from: 7, to: 120, ranges }),
      `90 blocks lack their internal transactions: 7 to 9, 12, and others up to 120 ${rest} ${remedy(120)}`
    )
  })
})
