import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as BackPressure from "@headwater/indexer/embedded/BackPressure"
import * as ConsumerStream from "@headwater/indexer/embedded/ConsumerStream"
import type { FollowedChain } from "@headwater/indexer/embedded/FollowedChain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import * as Consumers from "@headwater/indexer/store/consumers/Consumers"
import * as Wakeup from "@headwater/indexer/Wakeup"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { takenStores } from "../../../../test/Stores.ts"
import { FakeChain } from "../sync/FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

/** A chain whose blocks are committed by the test. */
const follow = Effect.fnUntraced(function* (ahead = 10) {
  const recorded = Wakeup.make()
  const consumed = { addresses: ConsumedAddresses.all(chain), onRecorded: recorded.signal }
  const store = yield* Effect.provideService(
    ChainStore.open(chain, { record: "watched", undoDepth: 64 }),
    ConsumedAddresses.Current,
    consumed
  )
  const followed: FollowedChain = {
    ...{ chain, addresses: consumed.addresses, backPressure: BackPressure.make(ahead), recorded },
    ...{ pollMillis: 1_000, stopped: Effect.never }
  }
  return { followed, store, node: new FakeChain(chain) }
})

describe.each(takenStores(import.meta.url))("ConsumerStream on $name", ({ layer, name }) => {
  it.live("a consumer that was forgotten is told so, and nothing again", () =>
    Effect.gen(function* () {
      const { followed, node, store } = yield* follow()
      yield* store.commit(node.blocks)
      const first = yield* Deferred.make<void>()
      const running = yield* ConsumerStream.inCommit(followed, "one", "first", () =>
        Effect.flatMap(Deferred.succeed(first, undefined), (isFirst) => (isFirst ? Effect.void : Effect.fail("again")))
      ).pipe(Effect.scoped, Effect.flip, Effect.forkChild)
      yield* Deferred.await(first)
      // Once the transaction has ended.
      yield* Consumers.open(chain, "another", "first")
      yield* Consumers.forget("one")
      yield* store.commit([node.mine([])])
      assert.deepInclude(yield* Fiber.join(running), { _tag: "ConsumerElsewhere", consumer: "one" })
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  if (name === "sqlite")
    it.live("a consumer that has acknowledged nothing holds what is far behind the first block that it is told", () =>
      Effect.gen(function* () {
        const { followed, node, store } = yield* follow()
        yield* Consumers.open(chain, "one", "first")
        while (node.tip.height < 40) node.mine([])
        yield* store.commit(node.blocks.slice(0, 21))
        const { blockAt } = followed.backPressure.hold(node.source)
        const isHeld = Effect.race(Effect.as(blockAt(11), false), Effect.as(Effect.yieldNow, true))
        yield* ConsumerStream.events(followed, "one", "first").pipe(
          Stream.take(1),
          Stream.runForEach(() => Effect.map(isHeld, (held) => assert.isTrue(held)))
        )
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
})
