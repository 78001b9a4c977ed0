/** Follows the configured chains. */
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as SideTasks from "@headwater/indexer/sync/SideTasks"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as EachChain from "./EachChain.ts"

/** Follows every configured chain as long as the layer lives. */
export const layer = EachChain.layer(
  Effect.fnUntraced(function* (node, settings) {
    const outbox = yield* Outbox
    const store = yield* ChainStore.open(node.source.chain, settings)
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
)
