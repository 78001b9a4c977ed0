import { assert, describe, it } from "@effect/vitest"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../../../indexer/test/store/Seed.ts"
import { FakeChain } from "../../../indexer/test/sync/FakeChain.ts"
import * as ChainObserver from "../../src/supervision/ChainObserver.ts"

const { chain } = Seed

/** A node's chain, of which the store has the first blocks, and looks at both. */
const observed = Effect.fnUntraced(function* (blocks: number, stored: number) {
  const node = new FakeChain(chain)
  while (node.blocks.length < blocks) node.mine([])
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
  yield* store.commit(node.blocks.slice(0, stored))
  const statuses = yield* ChainStatus
  let resting: ReadonlyArray<{ readonly node: string; readonly reason: string }> = []
  const look = yield* ChainObserver.make({ ...node.source, resting: Effect.sync(() => resting) })
  const seen = Effect.gen(function* () {
    yield* TestClock.adjust("1 second")
    yield* look
    return statuses.get(chain)!
  })
  return {
    ...{ node, seen, store },
    rest: (nodes: typeof resting) => {
      resting = nodes
    }
  }
})

for (const { layer, name } of takenStores(import.meta.url)) {
  const services = Layer.mergeAll(ChainStatus.layer, layer)

  describe(`ChainObserver on ${name}`, () => {
    it.effect("tells how far the store is beside the node, and the nodes that are not asked", () =>
      Effect.gen(function* () {
        const { node, rest, seen, store } = yield* observed(10, 4)
        assert.deepInclude(yield* seen, { state: "syncing", message: undefined, height: 3, head: 9 })
        yield* store.commit(node.blocks.slice(4))
        const lying = [{ node: "liar", reason: "the root does not fit" }]
        rest(lying)
        assert.deepInclude(yield* seen, { state: "following", height: 9, head: 9, committedAt: 2_000, resting: lying })
        rest([])
        node.headFault = () => Effect.fail(new NodeUnreachable({ node: "fake", method: "head", message: "no route" }))
        assert.deepInclude(yield* seen, { state: "failing", resting: [] })
        node.headFault = undefined
        assert.deepInclude(yield* seen, { state: "following", message: undefined })
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect("tells of a node that went back behind the store", () =>
      Effect.gen(function* () {
        const { node, seen } = yield* observed(10, 10)
        const at = (yield* seen).atHeadAt
        node.drop(2)
        const behind = yield* seen
        assert.deepInclude(behind, { state: "failing", head: 7, height: 9, atHeadAt: at })
        assert.strictEqual(behind.message, "The node went back to block 7; block 9 is committed")
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect(
      "tells of a store that stays on a branch which the node has left, and not of one that leaves the branch",
      () =>
        Effect.gen(function* () {
          const { node, seen, store } = yield* observed(10, 10)
          yield* seen
          // The node's head is at the height of the store's first, then above.
          node.drop(2)
          for (let i = 0; i < 2; i++) node.mine([])
          assert.deepInclude(yield* seen, { state: "following", message: undefined })
          yield* store.undo(7)
          yield* store.commit(node.blocks.slice(8))
          assert.deepInclude(yield* seen, { state: "following", message: undefined })

          node.drop(3)
          for (let i = 0; i < 4; i++) node.mine([])
          assert.strictEqual((yield* seen).state, "following")
          for (let i = 0; i < 2; i++) {
            const left = yield* seen
            assert.deepInclude(left, { state: "failing", height: 9, head: 10 })
            assert.match(left.message ?? "", /^The node's block 9 is another one than the store's/)
          }
          yield* store.undo(6)
          yield* store.commit(node.blocks.slice(7))
          assert.deepInclude(yield* seen, { state: "following", height: 10, message: undefined })
        }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
}
