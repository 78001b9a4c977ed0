/**
 * A projection is what blocks change in one part of the store, and stands beside the tables of that part. `projections.ts`
 * lists them all: a commit, an undo and a reprocessing are loops over that list.
 *
 * A block passes three stages, and every projection ends one stage before any begins the next:
 *
 * 1. `resolve`: wallets watch further where the block uses their addresses, the UTXO set moves, and inputs get the coins
 *    that they spend.
 * 2. `match`: subscriptions get their callbacks; addresses that nobody watches any more are no longer watched.
 * 3. `record`: everything else that the resolved block leaves, by what is watched after the match.
 */
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Insertable } from "kysely"
import type { ChainRow } from "../database/ChainRow.ts"
import type { Database, DatabaseError } from "../database/Database.ts"
import type { Tables } from "../database/Tables.ts"
import type { FanOut } from "../subscriptions/FanOut.ts"
import type { RecordingMode } from "./RecordingMode.ts"
import type { LearnedToken, Tokens, TokensUnknown } from "./Tokens.ts"
import type { WatchedAddresses } from "./WatchedAddresses.ts"

export interface Projection {
  /** Enters a block that follows the last one. */
  readonly apply: Stages<Commit>
  /** Takes back every block above a fork; projections do so in the order of their list. */
  readonly undo: (undone: Undone) => Effect.Effect<void, DatabaseError, Database>
  /** Enters a committed block again: what its place should hold is written where it is not there. */
  readonly reprocess: Stages<Reprocessing>
  /** Takes back what was called complete, where blocks are left out for good. */
  readonly skip?: (skipped: Skipped) => Effect.Effect<void, DatabaseError, Database>
  /** Forgets what only an undo of blocks below this height would need; from time to time, within a commit. */
  readonly prune?: (below: number) => Effect.Effect<void, DatabaseError, Database>
}

/** A projection for a chain that is being opened. What it runs beside the commits ends with the scope. */
export type Make = (chain: OpenChain) => Effect.Effect<Projection, DatabaseError, Database | Scope.Scope>

/** A chain in the store, as its projections have it in common. */
export interface OpenChain {
  readonly chain: Chain
  /** The chain's number in the store. */
  readonly id: number
  readonly record: RecordingMode
  /** Unused addresses that are watched behind the last used one of each branch of an HD wallet. */
  readonly gapLimit: number
  /** Blocks that an undo may still take back. */
  readonly undoDepth: number
  readonly watched: WatchedAddresses
  readonly tokens: Tokens
  readonly fanOut: FanOut
}

type Stage<Context, A> = (
  block: ResolvedBlock,
  context: Context
) => Effect.Effect<A, DatabaseError | TokensUnknown, Database>

/** What a projection does with a block, by the stage in which it does so. */
export interface Stages<Context> {
  readonly resolve?: Stage<Context, ResolvedBlock>
  readonly match?: Stage<Context, void>
  readonly record?: Stage<Context, void>
}

/** An output that came into the UTXO set or left it; its height is that of the block that created it. */
export type MovedCoin = Pick<Coin, "script" | "amount" | "height">

/** A block with what the store knows of its inputs. Until it is resolved, that is what the source has shown. */
export interface ResolvedBlock extends Block {
  /** Outputs that came into the UTXO set with the block. */
  readonly created: ReadonlyArray<MovedCoin>
  /** Outputs of earlier blocks that left it. */
  readonly taken: ReadonlyArray<MovedCoin>
}

/** A block's way into the store, under the lock of the chain's row. */
export interface Entering {
  /** What is watched, and what is due when, is that of this revision of the chain. */
  readonly revision: number
  /**
   * The revision that the transaction has found. What is remembered beyond the transaction is of this one: what it counts
   * up itself is taken back where it fails, and then somebody else counts up to the same number.
   */
  readonly foundRevision: number
  /** Takes note that the transaction itself has counted the revision up: what it matches from here on is of that one. */
  readonly moveToRevision: (revision: number) => void
  /** The node's answers about token contracts, by the key of their address; undefined where the node is not asked. */
  readonly learned: ReadonlyMap<string, LearnedToken> | undefined
  /** Takes note of callbacks that the block has made due. */
  readonly addCallbacks: (count: number) => void
  /** Runs something once the transaction has been committed. */
  readonly afterwards: (effect: Effect.Effect<void>) => void
}

/** One transaction, in which one or several blocks enter. */
export interface Commit extends Entering {
  /**
   * Whether the block before was entered here and nobody else has changed the chain since: what a projection remembers
   * of that block still holds.
   */
  readonly continues: boolean
  /** The blocks of the transaction; one that does not follow the block before does not enter, nor do those behind that one. */
  readonly blocks: ReadonlyArray<Block>
  /** Adds rows that nothing reads before the commit's end: those of all its blocks go in one statement a table. */
  readonly insert: <T extends keyof Tables & string>(table: T, rows: ReadonlyArray<Insertable<Tables[T]>>) => void
  /** Runs something in the transaction once all of its blocks have entered. */
  readonly atEnd: (effect: Effect.Effect<void, DatabaseError, Database>) => void
}

/**
 * Callbacks that are added where they are missing: none, all, those of one kind alone, or those of subscriptions on extended
 * public keys whose windows have come to reach what the block has paid.
 */
export type AddedCallbacks = boolean | "unresolved" | "internal" | "past"

/** A committed block that is entered again. */
export interface Reprocessing extends Entering {
  /** The chain as it stands at present. */
  readonly row: ChainRow
  /** Whether callbacks that are missing are added, as in `Reprocess.Options`. */
  readonly addsCallbacks: AddedCallbacks
  /** As in `Reprocess.Options`. */
  readonly internalFrom: number | undefined
}

/** Blocks that leave the chain. */
export interface Undone {
  /** The last block that stays. */
  readonly fork: number
  /** Hash of the last block that leaves. */
  readonly tip: Uint8Array
  /** The first height that was ever committed. */
  readonly firstHeight: number | null
  /** Whether outputs that these blocks spent are forgotten, so that they do not come back into the UTXO set. */
  readonly losesCoins: boolean
  /** Whether an operator takes them back, so that they may well come again. */
  readonly rewound: boolean
  /** The revision of the chain. */
  readonly revision: number
  /** Milliseconds since the Unix epoch. */
  readonly at: number
}

/** Blocks that are left out, the first and the last one: what happened in them stays unknown. */
export interface Skipped {
  readonly from: number
  readonly to: number
}

/** Takes a block through the stages of all projections. */
export const through = <Context>(all: ReadonlyArray<Stages<Context>>) => {
  const resolvers = all.flatMap(({ resolve }) => resolve ?? [])
  const after = [...all.flatMap(({ match }) => match ?? []), ...all.flatMap(({ record }) => record ?? [])]
  return Effect.fnUntraced(function* (block: Block, context: Context) {
    let resolved: ResolvedBlock = { ...block, created: [], taken: [] }
    for (const resolve of resolvers) resolved = yield* resolve(resolved, context)
    for (const stage of after) yield* stage(resolved, context)
  })
}
