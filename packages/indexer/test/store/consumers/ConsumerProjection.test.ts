import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import * as Consumers from "@headwater/indexer/store/consumers/Consumers"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { stores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const open = (keepBlocks?: number) =>
  Effect.provideService(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), ConsumedAddresses.Current, {
    ...{ addresses: ConsumedAddresses.make([address(0)]), keepBlocks, onRecorded: Effect.void }
  })

describe.each(stores)("ConsumerProjection on $name", ({ layer }) => {
  it.effect("keeps the steps back that a consumer has not passed, also where it forgets the blocks that left", () =>
    Effect.gen(function* () {
      const node = new FakeChain(chain)
      while (node.tip.height < 29) node.mine([{ from: 3, to: 0 }])
      const store = yield* open(70)
      yield* store.commit(node.blocks)
      const before = yield* Consumers.open(chain, "away", "first")
      const known = (yield* Consumers.next(before, before.acknowledged))!
      yield* Consumers.acknowledge(before, known.progress)
      yield* store.undo(27)
      node.drop(2)
      while (node.tip.height < 110) node.mine([])
      // The commit of block 100 forgets blocks below 30, which is the next one for the consumer, if none has left.
      for (let from = 28; from <= 110; from += 30) yield* store.commit(node.blocks.slice(from, from + 30))
      const after = yield* Consumers.open(chain, "away", "first")
      const lack = yield* Effect.flip(Consumers.next(after, after.acknowledged))
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
          const change = yield* Consumers.next(consumer, progress)
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
})
