import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as MissingParts from "@headwater/indexer/store/chain/MissingParts"
import { Database } from "@headwater/indexer/store/database/Database"
import { Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as MissingPartSync from "@headwater/indexer/sync/MissingPartSync"
import * as Duration from "effect/Duration"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import { stores, takenStores } from "../../../../test/Stores.ts"
import { address, FakeChain } from "./FakeChain.ts"
import * as Seed from "../store/Seed.ts"

const chainOf = (blockchain: string) => Result.getOrThrow(Chain.find(blockchain, "devnet"))
const ethereum = chainOf("ethereum")

/** The newest block: more than one look asks about. */
const newest = 24

/** As shown by a node that can trace it: with a coin transfer that has an internal one below. */
const traced = (block: Block): Block => ({
  ...block,
  transfers: block.transfers.flatMap((transfer) => [
    transfer,
    {
      ...{ kind: "internal" as const, transaction: transfer.transaction, operation: "call_0", operationType: "call" },
      ...{ from: address(1), to: address(2), amount: transfer.amount }
    }
  ])
})

const untraced = (block: Block): Block => ({
  ...block,
  missing: [{ part: "internal", reason: "debug_traceBlockByHash: required historical state unavailable" }]
})

const subscribe = (chain: Chain.Chain, reference: string, event: EventType, of: number, confirmations = 1) =>
  Seed.subscriptionRow(chain, reference, event, address(of), { confirmations })

/** What is left for receivers and readers, without row ids and times. */
const record = Effect.gen(function* () {
  const { read } = yield* Database
  const chunks = yield* read((db) => db.selectFrom("packed_transfers").selectAll().orderBy("log").orderBy("position"))
  const callbacks = yield* read((db) =>
    db.selectFrom("callback").select(["idempotency_key", "event", "body", "height"]).orderBy("idempotency_key")
  )
  const waiting = yield* read((db) =>
    db.selectFrom("waiting").select(["height", "occurrence"]).orderBy("height").orderBy("occurrence")
  )
  return {
    chunks: chunks.map(({ data, ...row }) => ({ ...row, data: Buffer.from(data).toString("hex") })),
    ...{ callbacks, waiting }
  }
})

const make = Effect.fnUntraced(function* (of: Chain.Chain = ethereum) {
  const fake = new FakeChain(of)
  for (let i = 0; i < newest; i++) fake.mine([{ from: 0, to: 1 }])
  const open = ChainStore.open(of, { record: "all", undoDepth: 64 })
  const store = yield* open
  yield* subscribe(of, "coins", "ADDRESS_COINS_TRANSACTION_CONFIRMED", 1)
  yield* subscribe(of, "internal", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", 2)
  yield* subscribe(of, "later", "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", 2, 12)
  const node = {
    /** Which blocks can be traced. */
    traces: (_height: number) => false,
    asked: [] as Array<number>,
    millis: 0,
    fault: undefined as ((height: number) => Effect.Effect<Block, NodeUnreachable>) | undefined
  }
  const wholeBlockAt = (height: number) =>
    Effect.suspend(() => {
      node.asked.push(height)
      if (node.fault !== undefined) return node.fault(height)
      const block = fake.blocks[height]!
      const answer = Effect.succeed(node.traces(height) ? traced(block) : untraced(block))
      return Effect.andThen(TestClock.adjust(node.millis), answer)
    })
  const syncOf = (store: ChainStore.ChainStore) =>
    MissingPartSync.make(fake.source, wholeBlockAt, store, { pollInterval: Duration.seconds(2) })
  return { fake, open, store, node, syncOf, sync: yield* syncOf(store) }
})

/** What a node that traces every block leaves. */
const fresh = Effect.gen(function* () {
  const { fake, store } = yield* make()
  yield* store.commit(fake.blocks.map(traced))
  return yield* record
}).pipe(Effect.provide(stores[0]!.layer), Effect.scoped)

const gapFrom = (first: number, last: number) => (block: Block) =>
  block.height >= first && block.height <= last ? untraced(block) : traced(block)

for (const store of takenStores(import.meta.url)) {
  const inStore = <A, E>(test: Effect.Effect<A, E, Database | Scope.Scope>) =>
    test.pipe(Effect.provide(store.layer), Effect.scoped)

  describe(`MissingPartSync on ${store.name}`, () => {
    it.effect("fills blocks in once a node can trace them: what a fresh sync leaves", () =>
      Effect.gen(function* () {
        const whole = yield* fresh
        yield* inStore(
          Effect.gen(function* () {
            const { fake, node, store, sync } = yield* make()
            yield* store.commit(fake.blocks.map(gapFrom(3, 22)))
            yield* sync.step
            assert.deepInclude(yield* MissingParts.missingInternal(ethereum), { blocks: 20, from: 3, to: 22 })
            assert.isBelow((yield* record).callbacks.length, whole.callbacks.length)
            node.traces = () => true
            node.asked.length = 0
            yield* TestClock.adjust("1 minute")
            yield* sync.step
            assert.isUndefined(yield* MissingParts.missingInternal(ethereum))
            assert.deepStrictEqual(yield* record, whole)
            assert.deepStrictEqual(new Set(node.asked).size, node.asked.length, "no block is fetched twice")
            yield* TestClock.adjust("1 minute")
            node.asked.length = 0
            yield* sync.step
            assert.deepStrictEqual(node.asked, [])
          })
        )
      })
    )

    it.effect("beside another daemon, and killed on the way, fills each block in once", () =>
      Effect.gen(function* () {
        const whole = yield* fresh
        yield* inStore(
          Effect.gen(function* () {
            const { fake, node, open, store, sync, syncOf } = yield* make()
            yield* store.commit(fake.blocks.map(gapFrom(0, newest)))
            node.traces = () => true
            const other = yield* syncOf(yield* open)
            const killed = yield* Effect.forkChild(sync.step)
            while ((yield* MissingParts.missingInternal(ethereum))?.from === 0)
              yield* Effect.promise(() => new Promise(setImmediate))
            yield* Fiber.interrupt(killed)
            const left = (yield* MissingParts.missingInternal(ethereum))?.blocks ?? 0
            assert.isAbove(left, 0)
            yield* Effect.all([(yield* syncOf(store)).step, other.step], { concurrency: 2 })
            assert.isUndefined(yield* MissingParts.missingInternal(ethereum))
            assert.deepStrictEqual(yield* record, whole)
          })
        )
      })
    )

    it.effect("a block that leaves the chain meanwhile is not filled in, and its successor is none of ours", () =>
      inStore(
        Effect.gen(function* () {
          const { fake, node, store, sync } = yield* make()
          yield* store.commit(fake.blocks.map(gapFrom(20, newest)))
          const before = yield* record
          fake.drop(3)
          for (let i = 0; i < 3; i++) fake.mine([{ from: 0, to: 1 }])
          node.traces = () => true
          yield* sync.step
          assert.deepInclude(yield* MissingParts.missingInternal(ethereum), { blocks: 3, from: 22, to: 24 })
          const now = yield* record
          const added = now.callbacks.length - before.callbacks.length
          assert.strictEqual(added, 2, "those of blocks 20 and 21")
          yield* store.undo(21)
          assert.isUndefined(yield* MissingParts.missingInternal(ethereum))
          yield* store.commit(fake.blocks.slice(22).map(traced))
          yield* TestClock.adjust("1 minute")
          yield* sync.step
          const told = (yield* record).callbacks.filter(({ event }) => event.startsWith("ADDRESS_INTERNAL"))
          assert.strictEqual(new Set(told.map(({ idempotency_key }) => idempotency_key)).size, told.length)
        })
      )
    )
  })
}

describe("MissingPartSync", () => {
  const [store] = stores as [(typeof stores)[number]]
  const inStore = <A, E>(test: Effect.Effect<A, E, Database | Scope.Scope>) =>
    test.pipe(Effect.provide(store.layer), Effect.scoped)

  it.effect("asks again by time that passes, also where a clock that was ahead is put right", () =>
    inStore(
      Effect.gen(function* () {
        const { fake, node, store, sync } = yield* make()
        yield* store.commit(fake.blocks.map(gapFrom(0, newest)))
        node.traces = () => false
        const now = yield* Clock.currentTimeMillis
        yield* TestClock.setTime(now + 86_400_000)
        yield* sync.step
        yield* TestClock.setTime(now)
        node.traces = () => true
        yield* TestClock.adjust("1 minute")
        yield* sync.step
        assert.isUndefined(yield* MissingParts.missingInternal(ethereum))
      })
    )
  )

  it.effect("finds what only the newest blocks' state shows, and what is in the middle in its turn", () =>
    inStore(
      Effect.gen(function* () {
        const { fake, node, store, sync } = yield* make()
        yield* store.commit(fake.blocks.map(gapFrom(0, newest)))
        node.traces = (height) => height > 16 && height !== 20
        yield* sync.step
        assert.deepStrictEqual((yield* MissingParts.missingInternal(ethereum))?.ranges, [
          { from: 0, to: 16 },
          { from: 20, to: 20 }
        ])
        node.traces = (height) => height === 9
        for (let i = 0; i < 5; i++) {
          yield* TestClock.adjust("1 minute")
          yield* sync.step
        }
        assert.deepStrictEqual((yield* MissingParts.missingInternal(ethereum))?.ranges, [
          { from: 0, to: 8 },
          { from: 10, to: 16 },
          { from: 20, to: 20 }
        ])
      })
    )
  )

  it.effect("asks about few blocks, less and less often; after a look that took long, later still", () =>
    inStore(
      Effect.gen(function* () {
        const { fake, node, store, sync } = yield* make()
        yield* store.commit(fake.blocks.map(gapFrom(0, newest)))
        const looks: Array<number> = []
        const watch = Effect.fnUntraced(function* (seconds: number) {
          looks.length = 0
          for (let second = 0; second < seconds; second++) {
            node.asked.length = 0
            yield* sync.step
            if (node.asked.length > 0) looks.push(second)
            assert.isAtMost(node.asked.length, 8)
            yield* TestClock.adjust("1 second")
          }
          return looks
        })
        assert.deepStrictEqual(yield* watch(250), [0, 2, 6, 14, 30, 62, 122, 182, 242])
        yield* TestClock.adjust("1 minute")
        node.millis = 5_000
        yield* sync.step
        node.millis = 0
        assert.deepStrictEqual(yield* watch(402), [400], "ten times the 40 seconds of eight questions")
      })
    )
  )

  it.effect("goes on where nodes do not answer, and holds up no block that can be filled in", () =>
    inStore(
      Effect.gen(function* () {
        const { fake, node, store, sync } = yield* make()
        yield* store.commit(fake.blocks.map(gapFrom(5, 9)))
        node.fault = (height) =>
          height === 6
            ? Effect.fail(new NodeUnreachable({ node: "node", method: "eth_getBlockByNumber", message: "refused" }))
            : Effect.succeed(traced(fake.blocks[height]!))
        yield* sync.step
        assert.deepInclude(yield* MissingParts.missingInternal(ethereum), { blocks: 1, from: 6, to: 6 })
      })
    )
  )

  it.effect("sends no callback again whose record is gone, and none of coins that were told", () =>
    inStore(
      Effect.gen(function* () {
        const { fake, node, store, sync } = yield* make()
        yield* store.commit(fake.blocks.map(gapFrom(5, 9)))
        const { query } = yield* Database
        yield* query((db) => db.deleteFrom("callback").where("event", "=", "ADDRESS_COINS_TRANSACTION_CONFIRMED"))
        const before = (yield* record).callbacks.length
        node.traces = () => true
        yield* sync.step
        const { callbacks } = yield* record
        assert.strictEqual(callbacks.length, before + 10)
        assert.isTrue(callbacks.every(({ event }) => event.startsWith("ADDRESS_INTERNAL")))
      })
    )
  )

  it.live("Arbitrum's coins that a trace alone shows are told, as long as the record of what was told is kept", () =>
    inStore(
      Effect.gen(function* () {
        const arbitrum = chainOf("arbitrum")
        const { fake, node, store, sync } = yield* make(arbitrum)
        const ticket = {
          kind: "coin",
          transaction: 0,
          position: 1,
          from: undefined,
          to: address(1),
          amount: 9n
        } as const
        const { finishedMillis } = yield* Retention
        const now = Math.floor(Date.now() / 1000)
        // Block 5 is a day too old, block 6 is not.
        fake.blocks = fake.blocks.map((block) => ({
          ...block,
          time: now - finishedMillis / 1000 + (block.height < 6 ? -86_400 : 86_400)
        }))
        yield* store.commit(fake.blocks.map(gapFrom(5, 6)))
        node.fault = (height) => {
          const block = traced(fake.blocks[height]!)
          return Effect.succeed({ ...block, transfers: [...block.transfers, ticket] })
        }
        const before = yield* record
        yield* sync.step
        const known = new Set(before.callbacks.map(({ idempotency_key }) => idempotency_key))
        const added = (yield* record).callbacks.filter(({ idempotency_key }) => !known.has(idempotency_key))
        const internal = [5, 5, 6, 6].map((height) => `${height} ADDRESS_INTERNAL_TRANSACTION_CONFIRMED`)
        assert.deepStrictEqual(added.map(({ event, height }) => `${height} ${event}`).sort(), [
          ...internal.slice(0, 2),
          ...["6 ADDRESS_COINS_TRANSACTION_CONFIRMED", ...internal.slice(2)]
        ])
      })
    )
  )
})
