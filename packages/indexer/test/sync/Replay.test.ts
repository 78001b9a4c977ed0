import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { BlockMissing, NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { takenStores } from "../../../../test/Stores.ts"
import { address, FakeChain } from "./FakeChain.ts"
import * as Seed from "../store/Seed.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const options = { concurrency: 4, internalFrom: 0, forgotten: true }

const subscribe = (
  reference: string,
  event: EventType,
  of: number | undefined,
  confirmations: number,
  from: number | null = null
) => Seed.subscriptionRow(chain, reference, event, of === undefined ? null : address(of), { confirmations, from })

/** Subscriptions of every kind, the same in every store. */
const subscriptions = Effect.gen(function* () {
  yield* subscribe("once", "ADDRESS_COINS_TRANSACTION_CONFIRMED", 0, 1)
  yield* subscribe("third", "ADDRESS_COINS_TRANSACTION_CONFIRMED", 1, 3)
  yield* subscribe("each", "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 2, 4)
  yield* subscribe("blocks", "BLOCK_MINED", undefined, 1)
})

/** Everything that a block leaves in the store, without row ids and times. */
const record = Effect.gen(function* () {
  const { read } = yield* Database
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
  const blocks = yield* read((db) => db.selectFrom("block").selectAll().orderBy("height"))
  const chunks = yield* read((db) => db.selectFrom("packed_transfers").selectAll().orderBy("log").orderBy("position"))
  const staged = yield* read((db) => db.selectFrom("staged_postings").selectAll().orderBy("log").orderBy("height"))
  const waiting = yield* read((db) =>
    db.selectFrom("waiting").selectAll().orderBy("height").orderBy("subscription").orderBy("occurrence")
  )
  const callbacks = yield* read((db) =>
    db.selectFrom("callback").select(["idempotency_key", "body", "height", "event"]).orderBy("idempotency_key")
  )
  return {
    blocks: blocks.map((row) => ({ ...row, hash: hex(row.hash), parent: hex(row.parent) })),
    chunks: chunks.map((row) => ({ ...row, data: hex(row.data) })),
    staged: staged.map((row) => ({ ...row, data: hex(row.data) })),
    waiting: waiting.map(({ id: _, ...row }) => ({ ...row, block_hash: hex(row.block_hash) })),
    callbacks
  }
})

const mined = () => {
  const fake = new FakeChain(chain)
  for (let i = 0; i < 60; i++) {
    fake.mine([
      { from: i % 5, to: (i + 1) % 5 },
      { from: (i + 2) % 5, to: i % 4 }
    ])
  }
  return fake
}

const synced = Effect.fnUntraced(function* (fake: FakeChain) {
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
  yield* subscriptions
  const { step } = yield* Follow.make(fake.source, store, {
    ...{ start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 64 }
  })
  yield* step
  return store
})

const replay = Effect.fnUntraced(function* (fake: FakeChain, store: ChainStore.ChainStore, range: Replay.Range) {
  const next = yield* Replay.begin(chain, range)
  return yield* Replay.run(fake.source, store, range, next, options)
})

/** Loses what the blocks of a range have left. */
const damage = Effect.fnUntraced(function* (from: number, to: number) {
  const { query } = yield* Database
  const perBlock = 2 ** 20
  yield* query((db) =>
    db
      .deleteFrom("packed_transfers")
      .where("position", ">=", from * perBlock)
      .where("position", "<", (to + 1) * perBlock)
  )
  yield* query((db) => db.deleteFrom("staged_postings").where("height", ">=", from).where("height", "<=", to))
  yield* query((db) => db.deleteFrom("callback").where("height", ">=", from).where("height", "<=", to))
  yield* query((db) => db.deleteFrom("waiting").where("height", ">=", from).where("height", "<=", to))
  // A header that is gone, and one that says something else.
  yield* query((db) => db.deleteFrom("block").where("height", "=", from))
  yield* query((db) => db.updateTable("block").set({ time: 1 }).where("height", "=", to))
})

for (const store of takenStores(import.meta.url)) {
  const inStore = <A, E>(test: Effect.Effect<A, E, Database | ChainStatus | Scope.Scope>) =>
    test.pipe(Effect.provide(Layer.merge(ChainStatus.layer, store.layer)), Effect.scoped)

  describe(`Replay on ${store.name}`, () => {
    it.live("makes the record what a fresh sync makes, changes nothing a second time, adds callbacks once", () =>
      Effect.gen(function* () {
        const fake = mined()
        const fresh = yield* inStore(Effect.andThen(synced(fake), record))
        assert.isAbove(fresh.callbacks.length, 100)
        assert.isAbove(fresh.waiting.length, 0)
        yield* inStore(
          Effect.gen(function* () {
            const chainStore = yield* synced(fake)
            const { query } = yield* Database
            yield* query((db) =>
              db.updateTable("callback").set({ state: "delivered", sequence: 1 }).where("height", "=", 9)
            )
            yield* damage(10, 60)
            assert.notDeepEqual(yield* record, fresh)
            const range = { from: 5, to: 60, callbacks: true }
            const first = yield* replay(fake, chainStore, range)
            assert.isAbove(first.callbacks, 100)
            assert.deepStrictEqual(yield* record, fresh)
            const second = yield* replay(fake, chainStore, range)
            assert.deepStrictEqual(second, { callbacks: 0, blocksWithoutCallbacks: 0 })
            assert.deepStrictEqual(yield* record, fresh)
            const [left] = yield* query((db) =>
              db.selectFrom("callback").select("state").where("height", "=", 9).where("state", "!=", "delivered")
            )
            assert.isUndefined(left)
          })
        )
      })
    )

    it.live("goes on after an interruption, and adds no callbacks without being told to", () =>
      Effect.gen(function* () {
        const fake = mined()
        const fresh = yield* inStore(Effect.andThen(synced(fake), record))
        yield* inStore(
          Effect.gen(function* () {
            const chainStore = yield* synced(fake)
            yield* damage(10, 60)
            const range = { from: 10, to: 60, callbacks: false }
            fake.blockFault = (height) =>
              height === 50
                ? Effect.fail(new NodeUnreachable({ node: "fake", method: "", message: "gone" }))
                : undefined
            yield* Effect.flip(replay(fake, chainStore, range))
            fake.blockFault = undefined
            const left = yield* Replay.interrupted(chain)
            assert.isAbove(left!.next, 10)
            assert.isAtMost(left!.next, 50)
            const asked: Array<number> = []
            fake.blockFault = (height) => {
              asked.push(height)
              return undefined
            }
            yield* replay(fake, chainStore, range)
            assert.strictEqual(Math.min(...asked), left!.next)
            assert.isUndefined(yield* Replay.interrupted(chain))
            const now = yield* record
            assert.deepStrictEqual([now.blocks, now.chunks, now.staged], [fresh.blocks, fresh.chunks, fresh.staged])
            assert.isTrue(now.callbacks.every(({ height }) => (height ?? 0) < 10))
          })
        )
      })
    )

    it.live("goes on where it was, whatever another replay beside it has come to", () =>
      inStore(
        Effect.gen(function* () {
          const fake = mined()
          const chainStore = yield* synced(fake)
          const [first, second] = [
            { from: 0, to: 60, callbacks: true },
            { from: 0, to: 50, callbacks: true }
          ]
          const next = yield* Replay.begin(chain, first)
          assert.strictEqual(yield* Replay.begin(chain, second), 0)
          fake.blockFault = (height) =>
            height === 58 ? Effect.fail(new NodeUnreachable({ node: "fake", method: "", message: "gone" })) : undefined
          yield* Effect.flip(Replay.run(fake.source, chainStore, first, next, options))
          // The second one was killed at once: none of its blocks is passed over.
          assert.strictEqual(yield* Replay.begin(chain, second), 0)
          fake.blockFault = undefined
          yield* Replay.run(fake.source, chainStore, first, next, options)
          assert.deepStrictEqual(yield* Replay.interrupted(chain), { ...second, next: 0 })
        })
      )
    )

    it.live("refuses what was never stored, and a node on another branch", () =>
      inStore(
        Effect.gen(function* () {
          const fake = mined()
          const chainStore = yield* synced(fake)
          const refused = (from: number, to: number) => Effect.flip(Replay.begin(chain, { from, to, callbacks: false }))
          assert.match((yield* refused(0, 61)).message, /blocks 0 to 60 of ethereum\/devnet are stored/)
          assert.match((yield* refused(30, 20)).message, /cannot end before its begin: 30 to 20/)
          const other = mined()
          other.drop(20)
          for (let i = 0; i < 20; i++) other.mine([])
          const error = yield* Effect.flip(replay(other, chainStore, { from: 38, to: 60, callbacks: true }))
          assert.strictEqual(error._tag, "NotRecorded")
          assert.match(error.message, /^The node's block 41 is not the stored one/)
        })
      )
    )

    it.live("says from where on a pruned node has blocks", () =>
      inStore(
        Effect.gen(function* () {
          const fake = mined()
          const chainStore = yield* synced(fake)
          const range = { from: 5, to: 60, callbacks: false }
          const blockAt = (height: number) =>
            height < 30
              ? Effect.fail(new BlockMissing({ node: "pruned", block: `${height}` }))
              : fake.source.blockAt(height)
          const next = yield* Replay.begin(chain, range)
          const { message } = yield* Effect.flip(
            Replay.run({ ...fake.source, blockAt }, chainStore, range, next, { ...options, concurrency: 1 })
          )
          assert.strictEqual(
            message,
            "Block 5 cannot be replayed: pruned does not have block 5; the nodes have blocks from 30 on"
          )
        })
      )
    )

    it.live("leaves to later subscriptions what was before them, and forgotten callbacks alone", () =>
      inStore(
        Effect.gen(function* () {
          const fake = mined()
          const chainStore = yield* synced(fake)
          yield* subscribe("late", "BLOCK_MINED", undefined, 1, 40)
          assert.deepStrictEqual(yield* replay(fake, chainStore, { from: 0, to: 60, callbacks: true }), {
            callbacks: 20,
            blocksWithoutCallbacks: 0
          })
          const { query } = yield* Database
          yield* query((db) => db.deleteFrom("callback"))
          const range = { from: 0, to: 60, callbacks: true }
          const finishedMillis = 30 * 86_400_000
          const live = yield* Clock.Clock
          // A block is a second younger than the one below it, and takes half a second.
          let now = 1_700_000_029_500 + finishedMillis
          const clock: Clock.Clock = Object.assign(Object.create(live), {
            currentTimeMillis: Effect.sync(() => now)
          })
          const onReplayed = () =>
            Effect.sync(() => {
              now += 500
            })
          const later = yield* Replay.begin(chain, range).pipe(
            Effect.flatMap((next) =>
              Replay.run(fake.source, chainStore, range, next, { ...options, forgotten: false, onReplayed })
            ),
            Effect.provideService(Retention, { finishedMillis, parkedMillis: 1, parkedCount: 1 }),
            Effect.provideService(Clock.Clock, clock)
          )
          assert.deepStrictEqual(later.blocksWithoutCallbacks, 59)
        })
      )
    )

    it.live("internal transactions below a height are left alone", () =>
      inStore(
        Effect.gen(function* () {
          const fake = mined()
          const chainStore = yield* synced(fake)
          const before = yield* record
          const { query } = yield* Database
          yield* query((db) =>
            db.insertInto("packed_transfers").values({ log: 4 * 1 + 2, position: 7 * 2 ** 20, data: Uint8Array.of(1) })
          )
          const range = { from: 0, to: 60, callbacks: false }
          const next = yield* Replay.begin(chain, range)
          yield* Replay.run(fake.source, chainStore, range, next, { ...options, internalFrom: 8 })
          assert.lengthOf((yield* record).chunks, before.chunks.length + 1)
          yield* Replay.run(fake.source, chainStore, range, yield* Replay.begin(chain, range), options)
          assert.deepStrictEqual(yield* record, before)
        })
      )
    )
  })

  describe(`Replay of a UTXO chain on ${store.name}`, () => {
    it.live("finds again what blocks have spent, and leaves the UTXO set as it is", () =>
      inStore(
        Effect.gen(function* () {
          const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
          const bytes = (length: number, fill: number) => new Uint8Array(length).fill(fill)
          const [alice, bob] = [bytes(22, 1), bytes(22, 2)] as unknown as [AddressBytes, AddressBytes]
          const output = (to: AddressBytes, amount: bigint): CoinTransfer => ({
            ...{ kind: "coin", transaction: 0, position: 0, from: undefined, to, amount }
          })
          const first: Block = {
            ...{ height: 0, hash: bytes(32, 10), parent: bytes(32, 9), time: 1_700_000_000 },
            ...{ transactions: [bytes(32, 20)], transfers: [output(alice, 500n)], spends: [] }
          }
          const second: Block = {
            ...{ height: 1, hash: bytes(32, 11), parent: first.hash, time: 1_700_000_060 },
            ...{ transactions: [bytes(32, 21)], transfers: [output(bob, 490n)] },
            spends: [{ transaction: 0, position: 0, outpoint: { transactionId: bytes(32, 20), index: 0 } }]
          }
          const chainStore = yield* ChainStore.open(litecoin, { record: "all", undoDepth: 64 })
          const { query, read } = yield* Database
          const [{ id }] = (yield* read((db) => db.selectFrom("chain").select("id"))) as [{ readonly id: number }]
          yield* query((db) =>
            db.insertInto("subscription").values({
              ...{ reference_id: "coins", account: 1, chain: id, revision: 1, confirmations: 1, created: 0, active: 1 },
              ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: alice, from_height: null },
              ...{ callback_url: "https://receiver.test/", host: "receiver.test" }
            })
          )
          yield* query((db) => db.updateTable("chain").set({ revision: 1 }))
          for (const block of [first, second]) yield* chainStore.commit([block])
          const state = Effect.all([
            read((db) => db.selectFrom("callback").select(["body", "idempotency_key"]).orderBy("height")),
            read((db) => db.selectFrom("unspent_output").selectAll()),
            read((db) => db.selectFrom("spent_output").selectAll())
          ])
          const before = yield* state
          assert.lengthOf(before[0], 2)
          assert.match(before[0][1]!.body, /"direction":"outgoing"/)
          yield* query((db) => db.deleteFrom("callback"))
          const again = { callbacks: true, internalFrom: 0 }
          for (const block of [first, second]) {
            assert.deepStrictEqual(yield* chainStore.reprocess(block, again), 1)
            assert.deepStrictEqual(yield* chainStore.reprocess(block, again), 0)
          }
          assert.deepStrictEqual(yield* state, before)
        })
      )
    )
  })

  describe(`rewinding on ${store.name}`, () => {
    it.live("leads out of a fork below what was final, and can begin lower than before", () =>
      inStore(
        Effect.gen(function* () {
          const fake = mined()
          fake.final = 55
          const chainStore = yield* synced(fake)
          const { run, step } = yield* Follow.make(fake.source, chainStore, {
            ...{ start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 64 }
          })
          yield* step
          fake.final = undefined
          fake.drop(20)
          for (let i = 0; i < 25; i++) fake.mine([{ from: 0, to: 1 }])
          assert.strictEqual((yield* Effect.flip(run))._tag, "UnrecoverableFork")
          yield* chainStore.rewind(40)
          assert.strictEqual((yield* chainStore.cursor)!.height, 40)
          assert.strictEqual(yield* chainStore.final, 40)
          yield* step
          assert.deepStrictEqual((yield* chainStore.cursor)!.hash, fake.tip.hash)
          const { query, read } = yield* Database
          yield* query((db) => db.updateTable("chain").set({ first_height: 30 }))
          yield* query((db) => db.deleteFrom("block").where("height", "<", 30))
          yield* chainStore.rewind(9)
          yield* step
          const rows = yield* read((db) => db.selectFrom("block").select("height").orderBy("height"))
          assert.deepStrictEqual([rows[0]!.height, rows.length], [10, fake.tip.height - 9])
          const [row] = yield* read((db) => db.selectFrom("chain").select("first_height"))
          assert.strictEqual(row!.first_height, 10)
        })
      )
    )
  })
}
