/**
 * One chain's part of the store: its cursor, its headers, and the one commit by which blocks enter — header, output
 * map, matched callbacks and cursor in a single transaction — or leave again.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type * as Chain from "@headwater/core/chains/Chain"
import type * as Callback from "@headwater/core/events/Callback"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { NodeError } from "../../families/node/NodeError.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "../subscriptions/CallbackState.ts"
import * as PendingConfirmations from "../subscriptions/PendingConfirmations.ts"
import * as Retractions from "../subscriptions/Retractions.ts"
import * as Subscribers from "../subscriptions/Subscribers.ts"
import * as WalletBlocks from "../wallets/WalletBlocks.ts"
import * as Reprocess from "./Reprocess.ts"
import type { Tokens } from "./Tokens.ts"
import * as TransferLog from "./transfers/TransferLog.ts"
import * as UtxoSet from "./UtxoSet.ts"
import * as WatchedAddresses from "./WatchedAddresses.ts"

/** The last committed block; its hash is absent where a reorganisation left nothing of what was ever committed. */
export interface Cursor {
  readonly height: number
  readonly hash: Uint8Array | undefined
}

/** The block does not continue the stored chain: a reorganisation, or another process has moved the cursor. */
export class NotNext extends Schema.TaggedError<NotNext>()("NotNext", {
  height: Schema.Int,
  cursor: Schema.UndefinedOr(Schema.Int)
}) {
  override get message() {
    return `Block ${this.height} does not follow the stored block ${this.cursor ?? "(none)"}`
  }
}

export type { NotRecorded } from "./Reprocess.ts"

/** Which transfers and outputs are kept. */
export type Record = "all" | "watched"

export interface Options {
  readonly record: Record
  readonly undoDepth: number
  /** Where the facts about a token contract come from when a callback needs them. */
  readonly tokens?: Tokens
  /** Unused addresses that are watched behind the last used one of each branch of an HD wallet; 20 by default. */
  readonly gapLimit?: number
}

export interface Committed {
  readonly blocks: number
  /** Callbacks that became due with the blocks. */
  readonly callbacks: number
}

export interface ReplayOptions {
  /** Add the callbacks that subscriptions should have had. */
  readonly callbacks: boolean
  /** Internal transactions of blocks below this height stay as they are: they may have been forgotten on purpose. */
  readonly internalFrom: number
}

export interface ChainStore {
  readonly chain: Chain.Chain
  readonly cursor: Effect.Effect<Cursor | undefined, DatabaseError>
  /** The newest height that a node has called final, ever. */
  readonly final: Effect.Effect<number | undefined, DatabaseError>
  /** Hash of the stored block at a height. */
  readonly hashAt: (height: number) => Effect.Effect<Uint8Array | undefined, DatabaseError>
  /**
   * Enters blocks in one transaction: the one that follows the cursor, or any where there is no cursor yet, and those
   * that follow it in turn. From the first that does not follow, nothing is entered; where that is the first of all, it
   * fails.
   */
  readonly commit: (blocks: ReadonlyArray<Block>) => Effect.Effect<Committed, NotNext | NodeError | DatabaseError>
  /** Leaves every block above `fork`; callbacks of theirs that have not left yet are taken back. */
  readonly undo: (fork: number) => Effect.Effect<void, DatabaseError>
  /**
   * Enters a committed block again: what its place in the record should hold is written where it is not there, and with
   * `callbacks` those that are missing are added, under the keys that they always had; how many.
   */
  readonly replay: (
    block: Block,
    options: ReplayOptions
  ) => Effect.Effect<number, Reprocess.NotRecorded | NodeError | DatabaseError>
  /** As `undo`, by an operator's will: also below what was called final, and below the first block. */
  readonly rewind: (height: number) => Effect.Effect<void, DatabaseError>
  readonly setFinal: (height: number) => Effect.Effect<void, DatabaseError>
}

/** What BIP-44 recommends. */
export const defaultGapLimit = 20
/** How often spent outputs beyond the undo depth are forgotten, in blocks. */
const pruneEvery = 100

const unknownToken: Callback.TokenMetadata = { name: "", symbol: "", decimals: undefined }

/** Opens a chain in the store, making its row at the first time, and fills the watched set. */
export const open = Effect.fn("ChainStore.open")(function* (chain: Chain.Chain, options: Options) {
  const database = yield* Database
  const { insertMany, query, read, transaction, defer } = database
  const id = yield* ChainRow.make(chain)
  const row = Effect.map(Effect.provideService(ChainRow.find(chain), Database, database), (row) => row!)
  const lock = ChainRow.lock(id)

  const watched = yield* WatchedAddresses.make(id)
  yield* watched.reach((yield* row).revision)
  const subscribers = yield* Subscribers.make(id)

  const gapLimit = options.gapLimit ?? defaultGapLimit
  const walletBlocks = yield* WalletBlocks.make({ chain, id, gapLimit, watched: watched.set })

  /** What the last commit left behind: as long as the chain's row is so, nobody else has changed what is due when. */
  let left:
    | { readonly height: number; readonly hash: Uint8Array; readonly revision: number; readonly nextDue: number }
    | undefined
  /** The height that the next wait is due at; 0 where it has to be looked up. */
  const dueAfter = ({ hash, height, revision }: Row<"chain">) =>
    left?.height === height && left.revision === revision && hash !== null && Bytes.equal(left.hash, hash)
      ? left.nextDue
      : 0

  /** What may be matched with the block, at the revision that the lock has shown. */
  const candidates = Effect.fnUntraced(function* (block: Block, revision: number) {
    const touched = Matcher.touched(block, watched.set)
    const found = yield* subscribers(revision, touched)
    yield* watched.release([...touched].flatMap(([hex, address]) => (found.byAddress.has(hex) ? [] : [address])))
    const metadata = (contract: AddressBytes) => options.tokens?.known(contract) ?? unknownToken
    return { ...found, metadata }
  })

  const learnTokens = Effect.fnUntraced(function* (block: Block) {
    const { tokens } = options
    if (tokens === undefined || watched.set.size() === 0) return
    const unknown = new Map<string, AddressBytes>()
    for (const transfer of block.transfers) {
      if (transfer.kind !== "token" || tokens.known(transfer.contract) !== undefined) continue
      if (!watched.set.has(transfer.from) && !watched.set.has(transfer.to)) continue
      unknown.set(Buffer.from(transfer.contract).toString("hex"), transfer.contract)
    }
    if (unknown.size > 0) yield* tokens.learn([...unknown.values()], block.height)
  })

  const isRecorded = (transfer: Transfer) =>
    options.record === "all" ||
    transfer.kind === "internal" ||
    (transfer.from !== undefined && watched.set.has(transfer.from)) ||
    (transfer.to !== undefined && watched.set.has(transfer.to))

  const log = yield* TransferLog.tended(id)

  const keep = (script: AddressBytes) => options.record === "all" || watched.set.has(script)

  /** The block of a UTXO chain with what its inputs spend; wallets have been watched further before that is found. */
  const applyCoins = Effect.fnUntraced(function* (block: Block) {
    const owners = watched.hasWallets() ? yield* walletBlocks.use(block) : undefined
    const applied = yield* UtxoSet.apply(id, block, keep)
    if (owners !== undefined) yield* walletBlocks.move(owners, applied.created, applied.taken)
    return applied.block
  })

  /** Whether the block may be the next where the chain's row is this. */
  const follows = ({ hash, height }: Pick<Row<"chain">, "hash" | "height">, block: Block) =>
    height === null || (block.height === height + 1 && (hash === null || Bytes.equal(hash, block.parent)))

  /**
   * Moves coins and wallets with the block that follows the last one, and matches it: its part of the record, how many
   * callbacks it has made due, and the height that the next wait is due at.
   */
  const enter = Effect.fnUntraced(function* (block: Block, revision: number, due: number) {
    if (chain.family !== "utxo" && watched.hasWallets()) yield* walletBlocks.use(block)
    const resolved = chain.family === "utxo" ? yield* applyCoins(block) : block
    const occurrences = Matcher.match(chain, resolved, yield* candidates(resolved, revision))
    const now = yield* Clock.currentTimeMillis
    const confirmed =
      due > block.height ? { nextDue: due, callbacks: [] } : yield* PendingConfirmations.confirm(id, block.height, now)
    const scheduled = PendingConfirmations.schedule(id, block, occurrences, block.height, now)
    yield* PendingConfirmations.add(scheduled.pending)
    const callbacks = [...confirmed.callbacks, ...scheduled.due]
    yield* CallbackState.enter("matched", callbacks)
    if (block.height % pruneEvery === 0) yield* UtxoSet.prune(id, block.height - options.undoDepth)
    return {
      rows: chain.family === "utxo" ? [] : TransferLog.pack(id, resolved, isRecorded),
      callbacks: callbacks.length,
      nextDue: scheduled.pending.reduce((next, { due_height }) => Math.min(next, due_height), confirmed.nextDue)
    }
  })

  const commit = Effect.fn("ChainStore.commit")(
    function* (blocks: ReadonlyArray<Block>) {
      // Metadata comes from the node, so it is fetched before the transaction takes the store's one writer.
      yield* watched.reach((yield* row).revision)
      for (const block of blocks) yield* learnTokens(block)
      const { committed, leaves } = yield* transaction(
        Effect.gen(function* () {
          const stored = yield* lock
          const { revision } = stored
          yield* watched.reach(revision)
          let cursor: Pick<Row<"chain">, "hash" | "height"> = stored
          let nextDue = dueAfter(stored)
          let callbacks = 0
          const headers: Array<Row<"block">> = []
          const record: Array<TransferLog.Rows> = []
          for (const block of blocks) {
            if (!follows(cursor, block)) break
            const done = yield* enter(block, revision, nextDue)
            nextDue = done.nextDue
            callbacks += done.callbacks
            cursor = block
            const { hash, height, parent, time } = block
            headers.push({ chain: id, height, hash, parent, time })
            record.push(done.rows)
          }
          const { hash, height } = cursor
          if (headers.length === 0 || hash === null || height === null) {
            return yield* new NotNext({ height: blocks[0]!.height, cursor: height ?? undefined })
          }
          yield* insertMany("block", headers)
          log.staged(yield* TransferLog.append(record))
          yield* ChainRow.moveCursor(id, { height, hash, firstHeight: stored.first_height ?? blocks[0]!.height })
          return { committed: { blocks: headers.length, callbacks }, leaves: { height, hash, revision, nextDue } }
        })
      )
      left = leaves
      return committed
    },
    Effect.provideService(Database, database)
  )

  const undo = Effect.fn("ChainStore.undo")(
    function* (fork: number) {
      const at = yield* Clock.currentTimeMillis
      yield* transaction(
        Effect.gen(function* () {
          const { first_height, hash, height } = yield* lock
          if (hash === null || height === null || height <= fork) return
          const [forkBlock] = yield* query((db) =>
            db.selectFrom("block").select("hash").where("chain", "=", id).where("height", "=", fork)
          )
          if (chain.family === "utxo" || watched.hasWallets()) yield* walletBlocks.undo(fork, first_height)
          yield* UtxoSet.undo(id, fork)
          yield* TransferLog.undo(id, fork)
          if (options.tokens !== undefined) yield* options.tokens.undo(fork)
          yield* defer((db) => db.deleteFrom("block").where("chain", "=", id).where("height", ">", fork))
          yield* PendingConfirmations.undo(id, fork)
          yield* Retractions.takeBack(id, fork, hash, at)
          yield* insertMany("reorganisation", [
            { chain: id, at, fork_height: fork, depth: height - fork, old_hash: hash }
          ])
          yield* ChainRow.moveCursor(id, { height: fork, hash: forkBlock?.hash ?? null, firstHeight: first_height })
        })
      )
      left = undefined
    },
    Effect.provideService(Database, database)
  )

  const replay = Effect.fn("ChainStore.replay")(
    function* (block: Block, { callbacks, internalFrom }: ReplayOptions) {
      yield* watched.reach((yield* row).revision)
      yield* learnTokens(block)
      return yield* transaction(
        Effect.gen(function* () {
          const stored = yield* lock
          yield* watched.reach(stored.revision)
          yield* Reprocess.header(stored, block)
          const utxo = chain.family === "utxo"
          const resolved = utxo ? yield* Reprocess.withSpent(id, block) : block
          if (!utxo) {
            const which = (kind: TransferLog.Kind) => kind !== "internal" || block.height >= internalFrom
            log.staged(yield* TransferLog.rewrite(id, resolved, isRecorded, which))
          }
          if (!callbacks) return 0
          const occurrences = Matcher.match(chain, resolved, yield* candidates(resolved, stored.revision))
          return yield* Reprocess.enqueue(stored, block, occurrences, yield* Clock.currentTimeMillis)
        })
      )
    },
    Effect.provideService(Database, database)
  )

  const rewind = Effect.fn("ChainStore.rewind")(function* (height: number) {
    const within = (column: "final_height" | "first_height", value: number) =>
      query((db) =>
        db
          .updateTable("chain")
          .set({ [column]: value })
          .where("id", "=", id)
          .where(column, ">", value)
      )
    yield* transaction(
      Effect.andThen(undo(height), Effect.all([within("final_height", height), within("first_height", height + 1)]))
    )
  })

  const store: ChainStore = {
    chain,
    cursor: Effect.map(row, ({ hash, height }) => (height === null ? undefined : { height, hash: hash ?? undefined })),
    final: Effect.map(row, ({ final_height }) => final_height ?? undefined),
    hashAt: (height) =>
      read((db) => db.selectFrom("block").select("hash").where("chain", "=", id).where("height", "=", height)).pipe(
        Effect.map(([row]) => row?.hash)
      ),
    commit,
    undo,
    replay,
    rewind,
    setFinal: (height) =>
      query((db) =>
        db
          .updateTable("chain")
          .set({ final_height: height })
          .where("id", "=", id)
          .where((where) => where.or([where("final_height", "is", null), where("final_height", "<", height)]))
      )
  }
  return store
})
