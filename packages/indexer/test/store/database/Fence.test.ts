import { assert, layer } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Fence from "@headwater/indexer/store/database/Fence"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"

const hashOf = (height: number) => new Uint8Array(32).fill(height + 1)
const blockOf = (height: number) => ({
  ...{ height, hash: hashOf(height), parent: hashOf(height - 1), time: height },
  ...{ transactions: [], transfers: [], spends: [] }
})

/** The chain's store as a new follower has it, and its fence. */
const follower = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const fence = yield* ChainRow.follow(chain)
  const as = Effect.provideService(Fence.Current, fence)
  return { as, fence, store: yield* as(ChainStore.open(chain, { record: "all", undoDepth: 64 })) }
})

const refusalOf = <A, E extends { readonly _tag: string; readonly cause?: unknown }, R>(self: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(self), Fence.refusal)

for (const store of takenStores(import.meta.url)) {
  layer(store.layer)(`Fence on ${store.name}`, (it) => {
    it.effect("refuses every write of who followed before, and lets the last one go on", () =>
      Effect.gen(function* () {
        const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
        const first = yield* follower(chain)
        yield* first.as(first.store.commit([blockOf(7), blockOf(8)]))
        const second = yield* follower(chain)
        assert.isAbove(second.fence.epoch, first.fence.epoch)

        const { transaction } = yield* Database
        const { id } = (yield* ChainRow.find(chain))!
        const writes = {
          commit: first.store.commit([blockOf(9)]),
          undo: first.store.undo(7),
          reprocess: first.store.reprocess(blockOf(8), { callbacks: true, internalFrom: 0 }),
          fanOut: first.store.fanOut,
          lock: transaction(ChainRow.lock(id)),
          "lock and bump": transaction(ChainRow.lockAndBumpRevision(id)),
          look: first.store.cursor
        }
        for (const [name, write] of Object.entries(writes)) {
          const refusal = yield* refusalOf(first.as<unknown, { readonly _tag: string }, Database>(write))
          assert.deepInclude(
            { ...refusal },
            { chain: "ethereum/devnet", epoch: first.fence.epoch, present: second.fence.epoch },
            name
          )
          assert.match(refusal!.message, /^ethereum\/devnet is followed by another daemon since/)
        }
        yield* first.as(first.store.setFinal(8))
        assert.isUndefined(yield* second.store.final)
        assert.deepInclude(yield* ChainRow.find(chain), { height: 8, revision: 0 })

        assert.deepInclude(yield* second.as(second.store.commit([blockOf(9)])), { blocks: 1 })
        yield* second.as(second.store.setFinal(8))
        assert.strictEqual(yield* second.store.final, 8)
      })
    )

    it.effect("lets requests, replays and the followers of other chains write beside a follower", () =>
      Effect.gen(function* () {
        const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
        const other = Result.getOrThrow(Chain.find("dash", "regtest"))
        const { as, store } = yield* follower(chain)
        yield* as(store.commit([blockOf(0)]))
        const { transaction } = yield* Database
        yield* transaction(ChainRow.lockAndBumpRevisionOf(chain))
        const replaying = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
        yield* replaying.reprocess(blockOf(0), { callbacks: false, internalFrom: undefined })
        yield* as(store.commit([blockOf(1)]))
        yield* as(transaction(ChainRow.lockAndBumpRevisionOf(other)))
        assert.strictEqual((yield* as(store.cursor))?.height, 1)
      })
    )

    it.effect(
      "has nothing undone by who has found a fork below blocks that are others by now, also without a fence",
      () =>
        Effect.gen(function* () {
          const chain = Result.getOrThrow(Chain.find("zcash", "regtest"))
          const open = ChainStore.open(chain, { record: "all", undoDepth: 64 })
          const [slow, other] = [yield* open, yield* open]
          yield* slow.commit([blockOf(0), blockOf(1), blockOf(2)])
          const found = (yield* slow.cursor)!
          yield* other.commit([blockOf(3)])
          yield* slow.undo(0, found.hash)
          assert.strictEqual((yield* slow.cursor)?.height, 3)
          yield* slow.undo(0, blockOf(3).hash)
          assert.strictEqual((yield* slow.cursor)?.height, 0)
        })
    )

    it.effect("lets a follower begin anew after a rewind, and after a skip of blocks", () =>
      Effect.gen(function* () {
        const chain = Result.getOrThrow(Chain.find("dogecoin", "regtest"))
        const before = yield* follower(chain)
        yield* before.as(before.store.commit([blockOf(0), blockOf(1), blockOf(2)]))
        const operator = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
        yield* operator.rewind(1)
        assert.isDefined(yield* refusalOf(before.as(before.store.commit([blockOf(2)]))))
        const after = yield* follower(chain)
        yield* after.as(after.store.commit([blockOf(2)]))
        yield* operator.skip(2, 4)
        assert.isDefined(yield* refusalOf(after.as(after.store.cursor)))
        const last = yield* follower(chain)
        assert.deepInclude(yield* last.as(last.store.commit([blockOf(5)])), { blocks: 1 })
      })
    )
  })
}
