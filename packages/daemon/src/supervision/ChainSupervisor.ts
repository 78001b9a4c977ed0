/** Follows the configured chains that are placed here, and observes the others. */
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { WaitingWork } from "@headwater/indexer/store/chain/WaitingWork"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import * as Fence from "@headwater/indexer/store/database/Fence"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as SideTasks from "@headwater/indexer/sync/SideTasks"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Settings from "../settings/Settings.ts"
import * as ChainObserver from "./ChainObserver.ts"
import * as EachChain from "./EachChain.ts"
import { Placement } from "./Placement.ts"

/** Follows a chain, with the tasks beside its blocks, until somebody else begins to. */
const follow = Effect.fnUntraced(function* (node: EachChain.Node, settings: Settings.ChainSettings) {
  const outbox = yield* Outbox
  const { chain } = node.source
  const followed = Effect.gen(function* () {
    const store = yield* ChainStore.open(chain, settings)
    yield* SideTasks.run(node, store, settings)
    const { run } = yield* Follow.make(node.source, store, {
      start: settings.start,
      pollInterval: Duration.millis(settings.pollMillis),
      concurrency: settings.parallel,
      undoDepth: settings.undoDepth,
      onUndone: outbox.undone
    })
    return yield* run
  })
  return yield* Effect.provideService(followed, Fence.Current, yield* ChainRow.follow(chain))
}, Effect.scoped)

/** Keeps every configured chain followed, here or elsewhere, as long as the layer lives. */
export const layer = EachChain.layer(
  Effect.fnUntraced(function* (node, settings) {
    const placement = yield* Placement
    return yield* placement.run(node.source.chain, {
      follow: follow(node, settings),
      observe: ChainObserver.observe(node, settings)
    })
  })
).pipe(Layer.provide(WaitingWork.layer))
