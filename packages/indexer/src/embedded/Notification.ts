/** What a consumer of an embedded indexer is told. */
import * as Chain from "@headwater/core/chains/Chain"
import type * as Effect from "effect/Effect"
import type { ConsumedBlock, Event } from "../store/consumers/BlockEvents.ts"
import type { Change } from "../store/consumers/ConsumerChanges.ts"
import type { DatabaseError } from "../store/database/DatabaseError.ts"

/** Blocks, and the events of all of them in their order. */
export interface Blocks {
  readonly blocks: ReadonlyArray<ConsumedBlock>
  readonly events: ReadonlyArray<Event>
}

interface OfChain extends Blocks {
  /** `blockchain/network`. */
  readonly chain: string
  /**
   * Blocks that the consumer was told of before as `incomplete`, or as having movements in doubt: each with the events that
   * have become known since, and with what it lacks still. `events` has these events, behind those of `blocks`.
   */
  readonly completed: ReadonlyArray<ConsumedBlock>
}

/** Blocks have come, behind those that the consumer knows. */
export interface Committed extends OfChain {
  readonly _tag: "Committed"
  /** Nothing. */
  readonly undone: Blocks
}

/**
 * Blocks that the consumer knows have left the chain; `blocks` have come in their place, none of them yet or more. Where very
 * many have left, the highest are told first, and none has come before all are told.
 */
export interface Reorganised extends OfChain {
  readonly _tag: "Reorganised"
  /** Those that have left, lowest first. */
  readonly undone: Blocks
}

/** More has become known of blocks that the consumer knows; nothing else has happened. */
export interface Completed extends OfChain {
  readonly _tag: "Completed"
  /** Nothing. */
  readonly undone: Blocks
}

export type Notification = Committed | Reorganised | Completed

/** A notification of a stream. */
export type Acknowledgeable = Notification & {
  /**
   * Moves the consumer's position behind this notification, and so behind all earlier ones of the chain: a consumer that
   * comes back is told what follows. What is not acknowledged is told again.
   */
  readonly acknowledge: Effect.Effect<void, DatabaseError>
}

const eventsOf = (blocks: ReadonlyArray<ConsumedBlock>) => blocks.flatMap(({ events }) => events)

export const make = (chain: Chain.Chain, { blocks, completed, undone }: Change): Notification => ({
  _tag: undone.length > 0 ? "Reorganised" : blocks.length > 0 ? "Committed" : "Completed",
  chain: Chain.nameOf(chain),
  ...{ blocks, completed, events: [...eventsOf(blocks), ...eventsOf(completed)] },
  undone: { blocks: undone, events: eventsOf(undone) }
})
