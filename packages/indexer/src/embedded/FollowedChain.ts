/** A chain that an embedded indexer follows into its store, and its consumers read from there. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ChainStore from "../store/chain/ChainStore.ts"
import * as ConsumedAddresses from "../store/consumers/ConsumedAddresses.ts"
import * as UnresolvedMovements from "../store/consumers/UnresolvedMovements.ts"
import * as ChainConnection from "../sync/ChainConnection.ts"
import * as EventResolution from "../sync/EventResolution.ts"
import * as Follow from "../sync/Follow.ts"
import * as MissingPartSync from "../sync/MissingPartSync.ts"
import * as Supervision from "../sync/Supervision.ts"
import * as Wakeup from "../Wakeup.ts"
import * as BackPressure from "./BackPressure.ts"
import type { ConfiguredChain, ReadSettings } from "./IndexerSettings.ts"

/** A chain cannot be followed further until somebody has acted: its nodes have left it for good, or are of another one. */
export class ChainStopped extends Schema.TaggedError<ChainStopped>()("ChainStopped", {
  /** `blockchain/network`. */
  chain: Schema.String,
  message: Schema.String
}) {}

export interface FollowedChain {
  readonly chain: Chain.Chain
  readonly addresses: ConsumedAddresses.ConsumedAddresses
  readonly backPressure: BackPressure.BackPressure
  /** Wakes consumers once blocks have come. */
  readonly recorded: Wakeup.Wakeup
  /** The longest time for which consumers look at the store no more, in milliseconds: blocks of other processes wake nobody. */
  readonly pollMillis: number
  /** Fails once the chain is followed no more. */
  readonly stopped: Effect.Effect<never, ChainStopped>
}

/** Follows a chain until the scope ends. */
export const make = Effect.fnUntraced(function* (
  { chain, settings }: ConfiguredChain,
  written: ReadonlyArray<AddressBytes> | "all",
  { ahead, keepBlocks }: Pick<ReadSettings, "ahead" | "keepBlocks">
) {
  const addresses = written === "all" ? ConsumedAddresses.all(chain) : ConsumedAddresses.make(written)
  const backPressure = BackPressure.make(ahead)
  const recorded = Wakeup.make()
  const stopped = Deferred.makeUnsafe<never, ChainStopped>()

  const follow = Effect.gen(function* () {
    const node = yield* ChainConnection.open(chain, settings)
    const pollInterval = Duration.millis(settings.pollMillis)
    const store = yield* ChainStore.open(chain, settings)
    const { minedOutputs, wholeBlockAt } = node.sideSources
    if (minedOutputs !== undefined) {
      const movements = { ...UnresolvedMovements, tidy: () => Effect.void }
      const resolution = yield* EventResolution.make(node.source, minedOutputs, store, { movements, pollInterval })
      yield* Effect.forkScoped(resolution.run)
    }
    if (wholeBlockAt !== undefined) {
      const parts = yield* MissingPartSync.make(node.source, wholeBlockAt, store, { pollInterval })
      yield* Effect.forkScoped(parts.run)
    }
    const { run } = yield* Follow.make(backPressure.hold(node.source), store, {
      ...{ start: settings.start, pollInterval, concurrency: settings.parallel, undoDepth: settings.undoDepth }
    })
    return yield* run
  }).pipe(
    Effect.scoped,
    Effect.provideService(ConsumedAddresses.Current, {
      addresses,
      // Blocks that an open consumer may have yet to be told of stay.
      keepBlocks: keepBlocks === undefined ? undefined : Math.max(keepBlocks, ahead),
      onRecorded: recorded.signal
    })
  )

  yield* Supervision.keepFollowing(chain, follow).pipe(
    Effect.catch(({ message }) => Deferred.fail(stopped, new ChainStopped({ chain: Chain.nameOf(chain), message }))),
    Effect.forkScoped
  )
  return {
    ...{ chain, addresses, backPressure, recorded },
    pollMillis: settings.pollMillis,
    stopped: Deferred.await(stopped)
  } satisfies FollowedChain as FollowedChain
})
