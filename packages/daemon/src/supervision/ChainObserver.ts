/**
 * Looks at chains that other daemons follow: their nodes are connected for what endpoints ask of them, and a chain's status
 * is how far the store is beside the node, and whether both have the same blocks.
 */
import * as Bytes from "@headwater/core/Bytes"
import type * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import type { Head, Source } from "@headwater/indexer/families/Source"
import type { Database } from "@headwater/indexer/store/database/Database"
import * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as CatchingUp from "@headwater/indexer/sync/CatchingUp"
import * as Fork from "@headwater/indexer/sync/Fork"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Settings from "../settings/Settings.ts"
import * as EachChain from "./EachChain.ts"

/**
 * Gives one look at a chain's node and its part of the store, to be taken again and again. A failure is shown in
 * {@link ChainStatus}, as that of a followed chain is.
 */
export const make = (source: Source) =>
  Effect.map(ChainStatus, (statuses) => {
    const { chain, resting = Effect.succeed([]) } = source
    /** The store's last block, where the last look found that the node's chain has left that block. */
    let left: Uint8Array | undefined

    /**
     * Why the store's blocks do not fit the node's; undefined where both fit. A block that the node's chain has left is undone
     * within a moment where the chain is followed: only the second look tells.
     */
    const doubtOf = Effect.fnUntraced(function* (head: Head, { hash, last: height }: StoredBlocks.StoredBlocks) {
      const before = left
      left = undefined
      if (height === undefined) return undefined
      if (head.height < height) return `The node went back to block ${head.height}; block ${height} is committed`
      if (hash === undefined || (yield* Fork.agrees(source, { hash, height }, head))) return undefined
      left = hash
      return before !== undefined && Bytes.equal(before, hash)
        ? `The node's block ${height} is another one than the store's, and the daemon that follows the chain has not undone it`
        : undefined
    })

    const look = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      // The store is read first: blocks that are committed meanwhile are no sign of a node that went back.
      const stored = yield* StoredBlocks.of(chain)
      const head = yield* source.head
      const { last: height, time: blockTime } = stored
      const message = yield* doubtOf(head, stored)
      const before = statuses.get(chain)?.height
      const behind = height === undefined ? Number.POSITIVE_INFINITY : head.height - height
      const state = message !== undefined ? "failing" : behind > CatchingUp.atHead ? "syncing" : "following"
      statuses.update(
        chain,
        {
          ...{ head: head.height, height, blockTime, message, state },
          ...(behind <= 0 && message === undefined ? { atHeadAt: now } : {}),
          // When the block that the first look finds was committed is not known.
          ...(before !== undefined && height !== before ? { committedAt: now } : {})
        },
        now
      )
    })

    const reportFailure = Effect.fnUntraced(function* ({ message }: { readonly message: string }) {
      if (statuses.get(chain)?.message !== message) yield* Effect.logWarning(`Cannot look at the chain: ${message}`)
      statuses.update(chain, { state: "failing", message }, yield* Clock.currentTimeMillis)
    })

    const reportResting = Effect.gen(function* () {
      statuses.update(chain, { resting: yield* resting }, yield* Clock.currentTimeMillis)
    })

    return Effect.ensuring(Effect.catch(look, reportFailure), reportResting)
  })

/** What is proved of blocks is known where they are committed. */
const forgetProofs = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const statuses = yield* ChainStatus
  statuses.update(chain, { unproven: undefined }, yield* Clock.currentTimeMillis)
})

/** Looks at a chain until interrupted. */
export const observe: EachChain.Run<never, ChainStatus | Database> = Effect.fnUntraced(function* (
  { source },
  { pollMillis }
) {
  yield* forgetProofs(source.chain)
  const look = yield* make(source)
  return yield* look.pipe(Effect.andThen(Effect.sleep(Duration.millis(pollMillis))), Effect.forever)
})

/** Looks at every configured chain as long as the layer lives. */
export const layer = Layer.merge(
  Layer.effectDiscard(
    Effect.flatMap(Settings.Settings, (settings) =>
      Effect.forEach(Settings.chains(settings), ({ chain }) => forgetProofs(chain), { discard: true })
    )
  ),
  EachChain.layer(observe, { announcements: false })
)
