/**
 * One chain's part of the store: its cursor and headers, and the transactions by which blocks enter, leave, or are
 * entered again.
 */
import type { Block } from "@headwater/core/Block"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as BlockRow from "../database/BlockRow.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as Fence from "../database/Fence.ts"
import * as FanOut from "../subscriptions/FanOut.ts"
import * as PastPayments from "../subscriptions/PastPayments.ts"
import * as Commit from "./Commit.ts"
import type { Make, OpenChain } from "./Projection.ts"
import * as Projections from "./projections.ts"
import type { RecordingMode } from "./RecordingMode.ts"
import * as Reorganisation from "./Reorganisation.ts"
import * as Reprocess from "./Reprocess.ts"
import * as Skip from "./Skip.ts"
import * as Tokens from "./Tokens.ts"
import * as WatchedAddresses from "./WatchedAddresses.ts"

export { type Committed, NotNext } from "./Commit.ts"
export { NotRecorded } from "./Reprocess.ts"

/** The last committed block; its hash is absent where a reorganisation left nothing of what was ever committed. */
export interface Cursor {
  readonly height: number
  readonly hash: Uint8Array | undefined
  /** The newest height that a node has called final, ever. */
  readonly final: number | undefined
}

export interface Options {
  readonly record: RecordingMode
  /** Blocks that a reorganisation may undo. */
  readonly undoDepth: number
  /** Unused addresses that are watched behind the last used one of each branch of an HD wallet; 20 by default. */
  readonly gapLimit?: number
  /** What blocks change in the store; by default what `projections.ts` lists for the chain. */
  readonly projections?: ReadonlyArray<Make>
}

export interface ChainStore {
  readonly chain: Chain.Chain
  readonly cursor: Effect.Effect<Cursor | undefined, DatabaseError>
  /** The newest height that a node has called final, ever. */
  readonly final: Effect.Effect<number | undefined, DatabaseError>
  /** Hash of the stored block at a height. */
  readonly hashAt: (height: number) => Effect.Effect<Uint8Array | undefined, DatabaseError>
  /**
   * The token contracts that the callbacks of these blocks will name and the store does not know: a node is asked for
   * them before the commit. Also brings what is watched up to the present, which the commit then need not do under its
   * lock.
   */
  readonly unknownTokens: (
    blocks: ReadonlyArray<Block>
  ) => Effect.Effect<ReadonlyArray<Tokens.TokenMention>, DatabaseError>
  /**
   * Enters blocks in one transaction: the one that follows the cursor, or any where there is no cursor yet, and those
   * that follow it in turn. From the first that does not follow, nothing is entered; where that is the first of all, it
   * fails.
   *
   * Callbacks of an address with many subscriptions, and confirmations of many occurrences, are left to `fanOut`.
   *
   * `learned` is what the node has said of the contracts that `unknownTokens` named. Where it lacks one, the commit fails
   * with `TokensUnknown`; without it, no node is asked on this chain and such contracts have no name.
   *
   * `final` is the height that a node calls final where the last of these blocks is its newest one.
   */
  readonly commit: (
    blocks: ReadonlyArray<Block>,
    learned?: ReadonlyArray<Tokens.LearnedToken>,
    final?: number
  ) => Effect.Effect<Commit.Committed, Commit.NotNext | Tokens.TokensUnknown | DatabaseError>
  /**
   * Leaves every block above `fork`; what they told is taken back. Where that is much, most of it is left to `fanOut`.
   *
   * Nothing is left where the last block is another than `last`: another process may have found the fork before, and have
   * entered other blocks since.
   */
  readonly undo: (fork: number, last?: Uint8Array) => Effect.Effect<void, DatabaseError>
  /**
   * Enters a committed block again: what its place in the record should hold is written where it is not there, and with
   * `callbacks` those that are missing are added, under the keys that they always had; how many.
   */
  readonly reprocess: (
    block: Block,
    options: Reprocess.Options
  ) => Effect.Effect<number, Reprocess.NotRecorded | Tokens.TokensUnknown | DatabaseError>
  /** As `undo`, by an operator's will: also below what was called final, and below the first block. */
  readonly rewind: (height: number) => Effect.Effect<void, DatabaseError>
  /** Leaves out the blocks above `after`, where the cursor is, up to `to`, by an operator's will: no node has them. */
  readonly skip: (after: number, to: number) => Effect.Effect<void, Skip.NotSkipped | DatabaseError>
  /** A step that writes some of the callbacks that commits have left, and takes back some that undone blocks have; `sync/FanOutTask` repeats it until none is left. */
  readonly fanOut: Effect.Effect<FanOut.Step, DatabaseError>
  /** An effect that waits for the next commit of this process that leaves callbacks to steps. */
  readonly fanOutWanted: Effect.Effect<Effect.Effect<void>>
  /**
   * A step that looks for what extended public keys were paid before their windows reached it, and the next block that is to
   * be entered again with `callbacks: "past"`, of one account after another: each account's lowest one above `after`, if that
   * names the account. `sync/PastPaymentSync` repeats it.
   */
  readonly pastPayments: (after?: ReadonlyMap<number, number>) => Effect.Effect<PastPayments.Step, DatabaseError>
  readonly setFinal: (height: number) => Effect.Effect<void, DatabaseError>
}

/** What BIP-44 recommends. */
const defaultGapLimit = 20

/**
 * Opens a chain in the store, making its row at the first time, and fills the watched set. What projections run beside
 * the commits ends with the scope.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs"
 * import { tmpdir } from "node:os"
 * import { join } from "node:path"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
 * import { Database } from "@headwater/indexer/store/database/Database"
 * import * as Effect from "effect/Effect"
 *
 * const enter = Effect.gen(function* () {
 *   const chain = yield* Effect.fromResult(Chain.find("ethereum", "devnet"))
 *   const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 64 })
 *   const hash = new Uint8Array(32).fill(1)
 *   const parent = new Uint8Array(32)
 *   return yield* store.commit([{ height: 7, hash, parent, time: 0, transactions: [], transfers: [], spends: [] }])
 * })
 * const file = join(mkdtempSync(join(tmpdir(), "headwater-")), "store.db")
 * const database = Database.layer({ kind: "sqlite", file })
 * await Effect.runPromise(enter.pipe(Effect.scoped, Effect.provide(database))) // => { blocks: 1, callbacks: 0 }
 * ```
 */
export const open = Effect.fn("ChainStore.open")(function* (chain: Chain.Chain, options: Options) {
  const database = yield* Database
  const provided = Effect.provideService(Database, database)
  const id = yield* ChainRow.make(chain)
  const row = Effect.map(provided(ChainRow.find(chain)), (row) => row!)
  /** The row, of which a follower reads at each look whether the chain is still its own. */
  const own = Effect.tap(row, Fence.check)

  const watched = yield* WatchedAddresses.make(id)
  yield* watched.fill((yield* row).revision)
  const tokens = yield* Tokens.make(id, watched)

  const fanOut = yield* FanOut.make(chain, id)
  const { gapLimit = defaultGapLimit, projections = Projections.of(chain), record, undoDepth } = options
  const opened: OpenChain = { chain, id, record, gapLimit, undoDepth, watched, tokens, fanOut }
  const made = yield* Effect.forEach(projections, (make) => make(opened))
  const commit = Commit.make(opened, made)
  const { rewind, undo } = Reorganisation.make(opened, made)
  const reprocess = Reprocess.make(opened, made)
  const skip = Skip.make(opened, made)
  const pastPayments = yield* PastPayments.make(chain, id)

  const store: ChainStore = {
    chain,
    cursor: Effect.map(own, ({ final_height, hash, height }) =>
      height === null ? undefined : { height, hash: hash ?? undefined, final: final_height ?? undefined }
    ),
    final: Effect.map(row, ({ final_height }) => final_height ?? undefined),
    hashAt: (height) => Effect.map(provided(BlockRow.find(id, height)), (block) => block?.hash),
    unknownTokens: Effect.fn("ChainStore.unknownTokens")(function* (blocks) {
      yield* watched.catchUpToRevision((yield* row).revision)
      yield* watched.foresee(blocks)
      return yield* tokens.unknown(blocks)
    }),
    commit: (blocks, learned, final) => provided(commit(blocks, learned, final)),
    undo: (fork, last) => provided(undo(fork, last)),
    reprocess: (block, options) => provided(reprocess(block, options)),
    rewind: (height) => provided(rewind(height)),
    skip: (after, to) => provided(skip(after, to)),
    fanOut: provided(fanOut.step),
    fanOutWanted: fanOut.wanted,
    pastPayments: (after = new Map()) => provided(pastPayments(after)),
    setFinal: (height) => provided(ChainRow.setFinal(id, height))
  }
  return store
})
