/**
 * A fiber for each configured chain, connected to the chain's nodes and started again when it fails: a broken node, or a
 * defect in the code that reads the node, never stops another chain.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as Supervision from "@headwater/indexer/sync/Supervision"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Settings from "../settings/Settings.ts"

export type Node = Effect.Success<ReturnType<typeof ChainConnection.open>>

/** What is done with a chain, by its connected nodes. */
export type Run<E, R> = (node: Node, settings: Settings.ChainSettings) => Effect.Effect<never, E, R>

/** Runs one chain for good. */
const keep = Effect.fnUntraced(function* <E extends { readonly message: string }, R>(
  chain: Chain.Chain,
  settings: Settings.ChainSettings,
  run: Run<E, R>
) {
  const statuses = yield* ChainStatus
  const nodes = yield* ConnectedNodes
  const connected = Effect.gen(function* () {
    const node = yield* ChainConnection.open(chain, settings)
    statuses.update(chain, { networkDoubt: node.networkDoubt }, yield* Clock.currentTimeMillis)
    yield* nodes.connect(chain, node)
    return yield* run(node, settings)
  }).pipe(Effect.scoped)
  return yield* Supervision.keepFollowingForGood(chain, connected)
})

/** Runs every configured chain as long as the layer lives; `announcements`: whether nodes are listened to. */
export const layer = <E extends { readonly message: string }, R>(
  run: Run<E, R>,
  { announcements = true }: { readonly announcements?: boolean } = {}
): Layer.Layer<never, never, ChainStatus | ConnectedNodes | Settings.Settings | Exclude<R, Scope.Scope>> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const statuses = yield* ChainStatus
      const now = yield* Clock.currentTimeMillis
      for (const { chain, settings } of Settings.chains(yield* Settings.Settings)) {
        statuses.update(chain, { state: "starting" }, now)
        const own = announcements ? settings : { ...settings, announcements }
        yield* Effect.forkScoped(keep(chain, own, run))
      }
    })
  )
