/**
 * Looks at chains that other daemons follow: their nodes are connected for what endpoints ask of them, and a chain's status
 * is how far the store is beside the node.
 */
import type * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import type { Source } from "@headwater/indexer/families/Source"
import type { Database } from "@headwater/indexer/store/database/Database"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as CatchingUp from "@headwater/indexer/sync/CatchingUp"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as EachChain from "./EachChain.ts"

/** One look at the node and the store. A failure is shown in {@link ChainStatus}, as that of a followed chain is. */
const look = Effect.fnUntraced(
  function* (chain: Chain.Chain, { head: newest }: Source) {
    const statuses = yield* ChainStatus
    const now = yield* Clock.currentTimeMillis
    const head = yield* newest
    const { last: height, time: blockTime } = yield* StoredBlocks.of(chain)
    const before = statuses.get(chain)?.height
    const behind = height === undefined ? Number.POSITIVE_INFINITY : head.height - height
    statuses.update(
      chain,
      {
        ...{ head: head.height, height, blockTime, message: undefined },
        state: behind > CatchingUp.atHead ? "syncing" : "following",
        ...(behind <= 0 ? { atHeadAt: now } : {}),
        // When the block that the first look finds was committed is not known.
        ...(before !== undefined && height !== before ? { committedAt: now } : {})
      },
      now
    )
  },
  (self, chain) =>
    Effect.catch(self, ({ message }) =>
      Effect.gen(function* () {
        const statuses = yield* ChainStatus
        if (statuses.get(chain)?.message !== message) yield* Effect.logWarning(`Cannot look at the chain: ${message}`)
        statuses.update(chain, { state: "failing", message }, yield* Clock.currentTimeMillis)
      })
    )
)

/** Looks at a chain until interrupted. */
export const observe: EachChain.Run<never, ChainStatus | Database> = ({ source }, { pollMillis }) =>
  look(source.chain, source).pipe(Effect.andThen(Effect.sleep(Duration.millis(pollMillis))), Effect.forever)

/** Looks at every configured chain as long as the layer lives. */
export const layer = EachChain.layer(observe, { announcements: false })
