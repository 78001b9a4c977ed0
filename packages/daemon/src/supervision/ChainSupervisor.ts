/**
 * Follows the configured chains, each in a fiber of its own that is started again when it fails: a broken node, or a
 * defect in the code that reads the node, never stops another chain.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as SideTasks from "@headwater/indexer/sync/SideTasks"
import * as Supervision from "@headwater/indexer/sync/Supervision"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Settings from "../settings/Settings.ts"

/** Follows one chain for good. Ends where only an operator can help. */
const follow = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const outbox = yield* Outbox
  const statuses = yield* ChainStatus
  const nodes = yield* ConnectedNodes
  const run = Effect.gen(function* () {
    const node = yield* ChainConnection.open(chain, settings)
    const { networkDoubt } = node
    statuses.update(chain, { networkDoubt }, yield* Clock.currentTimeMillis)
    yield* nodes.connect(chain, node)
    const store = yield* ChainStore.open(chain, settings)
    yield* SideTasks.run(node, store, settings)
    const { run } = yield* Follow.make(node.source, store, {
      start: settings.start,
      pollInterval: Duration.millis(settings.pollMillis),
      concurrency: settings.parallel,
      undoDepth: settings.undoDepth,
      onCommitted: (_blocks, { callbacks }) => (callbacks > 0 ? outbox.wakeup : Effect.void),
      onUndone: outbox.undone
    })
    return yield* run
  }).pipe(Effect.scoped)
  yield* Effect.ignore(Supervision.keepFollowing(chain, run))
})

/** Follows every configured chain as long as the layer lives. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const statuses = yield* ChainStatus
    const now = yield* Clock.currentTimeMillis
    for (const { chain, settings } of Settings.chains(yield* Settings.Settings)) {
      statuses.update(chain, { state: "starting" }, now)
      yield* Effect.forkScoped(follow(chain, settings))
    }
  })
)
