import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { ConsumedBlock } from "@headwater/indexer/store/consumers/BlockEvents"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import * as ConsumerChanges from "@headwater/indexer/store/consumers/ConsumerChanges"
import * as Consumers from "@headwater/indexer/store/consumers/Consumers"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const open = (keepBlocks?: number, addresses = ConsumedAddresses.make([address(0)])) =>
  Effect.provideService(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), ConsumedAddresses.Current, {
    ...{ addresses, keepBlocks, onRecorded: Effect.void }
  })

/** A block whose node could not trace it, with a coin for the address of this number, and the same with its trace. */
const lacking = (node: FakeChain, to: number) => {
  const block = node.mine([{ from: 3, to }])
  const [coin] = block.transfers
  node.blocks.splice(-1, 1, { ...block, missing: [{ part: "internal", reason: "no trace" }] })
  const internal = { kind: "internal", transaction: 0, operation: "call_0", operationType: "call" } as const
  const [from, amount] = [address(4), 7n]
  return {
    ...block,
    transfers: [coin!, ...[0, 1].map((to) => ({ ...internal, operation: `call_${to}`, from, to: address(to), amount }))]
  }
}

const filling = { callbacks: false, internalFrom: Number.MAX_SAFE_INTEGER } as const

const wordsOf = (blocks: ReadonlyArray<ConsumedBlock> = []) =>
  blocks.map(({ events, height, incomplete }) => [
    height,
    incomplete,
    ...events.map(({ item, kind }) => ("amount" in item ? `${kind} ${item.direction} ${item.amount}` : kind))
  ])

describe.each(takenStores(import.meta.url))("ConsumerProjection on $name", ({ layer }) => {
  it.effect("keeps the steps back that a consumer has not passed, also where it forgets the blocks that left", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      while (node.tip.height < 29) node.mine([{ from: 3, to: 0 }])
      const store = yield* open(70)
      yield* store.commit(node.blocks)
      const before = yield* Consumers.open(chain, "away", "first")
      const known = (yield* ConsumerChanges.next(before, before.acknowledged))!
      yield* Consumers.acknowledge(before, known.progress)
      yield* store.undo(27)
      node.drop(2)
      while (node.tip.height < 110) node.mine([])
      // The commit of block 100 forgets blocks below 30, which is the next one for the consumer, if none has left.
      for (let from = 28; from <= 110; from += 30) yield* store.commit(node.blocks.slice(from, from + 30))
      const after = yield* Consumers.open(chain, "away", "first")
      const lack = yield* Effect.flip(ConsumerChanges.next(after, after.acknowledged))
      assert.deepInclude(lack, { _tag: "EventsNotKept", from: 28, to: 29 })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("gives no number again that another process has given and forgotten", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      while (node.tip.height < 202) node.mine([])
      const [one, other] = [yield* open(), yield* open()]
      yield* one.commit(node.blocks.slice(0, 101))
      const consumer = yield* Consumers.open(chain, "one", "latest")
      let progress = consumer.acknowledged
      const told: Array<number> = []
      const read = Effect.gen(function* () {
        while (true) {
          const change = yield* ConsumerChanges.next(consumer, progress)
          if (change === undefined) return
          progress = change.progress
          told.push(...change.blocks.map(({ height }) => height))
          yield* Consumers.acknowledge(consumer, progress)
        }
      })
      yield* other.commit(node.blocks.slice(101, 201))
      yield* read
      yield* other.undo(99)
      yield* read
      // The chain is as the first process has left it, and what has left meanwhile is forgotten.
      yield* other.commit([node.blocks[100]!])
      yield* read
      told.length = 0
      yield* one.commit(node.blocks.slice(101, 103))
      yield* read
      assert.deepStrictEqual(told, [101, 102])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect(
    "tells what becomes known of a block later: what the block could lack, and nothing of addresses besides",
    () =>
      Effect.gen(function* () {
        const node = new FakeChain(chain)
        const addresses = ConsumedAddresses.make([address(0)])
        const store = yield* open(undefined, addresses)
        const whole = lacking(node, 0)
        const other = lacking(node, 1)
        yield* store.commit(node.blocks)
        const early = yield* Consumers.open(chain, "early", "first")
        const first = (yield* ConsumerChanges.next(early, early.acknowledged))!
        const coin = "coin incoming 0.000000000000000002"
        assert.deepStrictEqual(wordsOf(first.blocks), [
          [0, false],
          [1, true, coin],
          [2, true]
        ])
        // The coin of the other block is of an address that nobody had asked for.
        addresses.add([address(1)])
        yield* store.reprocess(whole, filling)
        yield* store.reprocess({ ...other, transfers: other.transfers.slice(0, 1) }, filling)
        yield* store.reprocess(whole, filling)
        const second = (yield* ConsumerChanges.next(early, first.progress))!
        const internal = "internal incoming 0.000000000000000007"
        assert.deepStrictEqual(wordsOf(second.completed), [
          [1, false, internal, internal],
          [2, false]
        ])
        assert.deepStrictEqual([second.blocks, second.undone], [[], []])
        assert.isUndefined(yield* ConsumerChanges.next(early, second.progress))
        const late = yield* Consumers.open(chain, "late", 2)
        const all = (yield* ConsumerChanges.next(late, late.acknowledged))!
        assert.deepStrictEqual([wordsOf(all.blocks), wordsOf(all.completed)], [[[2, true]], [[2, false]]])
        yield* store.undo(0)
        const third = (yield* ConsumerChanges.next(early, second.progress))!
        assert.deepStrictEqual(wordsOf(third.undone), [
          [1, false, coin, internal, internal],
          [2, false]
        ])
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("keeps what a block lacks, and what becomes known of that, until consumers have it, and no longer", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      const store = yield* open(70)
      const whole = lacking(node, 0)
      const { query } = yield* Database
      const mineTo = Effect.fnUntraced(function* (height: number) {
        const from = node.tip.height + 1
        while (node.tip.height < height) node.mine([])
        yield* store.commit(node.blocks.slice(from))
      })
      yield* store.commit(node.blocks)
      yield* mineTo(50)
      const before = yield* Consumers.open(chain, "one", "first")
      const first = (yield* ConsumerChanges.next(before, before.acknowledged))!
      yield* Consumers.acknowledge(before, first.progress)
      yield* mineTo(100)
      yield* store.reprocess(whole, filling)
      yield* mineTo(110)
      assert.deepInclude(yield* Consumers.open(chain, "another", "first"), { from: 30 })
      yield* Consumers.forget("another")
      const after = yield* Consumers.open(chain, "one", "first")
      const second = (yield* ConsumerChanges.next(after, after.acknowledged))!
      assert.deepStrictEqual(wordsOf(second.completed), [[1, false, "internal incoming 0.000000000000000007"]])
      assert.strictEqual(second.blocks.length, 60)
      yield* Consumers.acknowledge(after, second.progress)
      yield* mineTo(200)
      const [left] = yield* query((db) =>
        db.selectFrom("consumed_block").select(({ fn }) => fn.min("height").as("height"))
      )
      // The blocks of the commit itself come after it has forgotten others.
      assert.deepStrictEqual(left, { height: 111 })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
