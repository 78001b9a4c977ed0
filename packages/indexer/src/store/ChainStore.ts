/**
 * One chain's part of the store: its cursor, its headers, and the one commit by which a block enters — header, output
 * map, matched callbacks and cursor in a single transaction — or leaves again.
 */
import type { AddressBytes } from "@headwater/core/Address"
import * as Address from "@headwater/core/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import type * as Callback from "@headwater/core/Callback"
import * as Chain from "@headwater/core/Chain"
import * as Matcher from "@headwater/core/Matcher"
import * as Watched from "@headwater/core/Watched"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { NodeError } from "../sources/NodeError.ts"
import { Database, type DatabaseError } from "./Database.ts"
import * as Replayed from "./internal/Replayed.ts"
import * as Retractions from "./internal/Retractions.ts"
import * as Waits from "./internal/Waits.ts"
import * as WalletBlocks from "./internal/WalletBlocks.ts"
import * as OutputMap from "./OutputMap.ts"
import type { Tokens } from "./Tokens.ts"
import * as TransferLog from "./TransferLog.ts"

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

export type { NotRecorded } from "./internal/Replayed.ts"

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
  /** Callbacks that became due with the block. */
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
  /** Enters the block that follows the cursor, or any block where there is no cursor yet. */
  readonly commit: (block: Block) => Effect.Effect<Committed, NotNext | NodeError | DatabaseError>
  /** Leaves every block above `fork`; callbacks of theirs that have not left yet are taken back. */
  readonly undo: (fork: number) => Effect.Effect<void, DatabaseError>
  /**
   * Enters a committed block again: what its place in the record should hold is written where it is not there, and with
   * `callbacks` those that are missing are added, under the keys that they always had.
   */
  readonly replay: (
    block: Block,
    options: ReplayOptions
  ) => Effect.Effect<Committed, Replayed.NotRecorded | NodeError | DatabaseError>
  /** As `undo`, by an operator's will: also below what was called final, and below the first block. */
  readonly rewind: (height: number) => Effect.Effect<void, DatabaseError>
  readonly setFinal: (height: number) => Effect.Effect<void, DatabaseError>
}

/** What BIP-44 recommends. */
export const defaultGapLimit = 20
/** Rows read at a time when the watched set is filled. */
const pageSize = 50_000
/** Addresses asked for in one query. */
const lookupSize = 500
/** How often spent outputs beyond the undo depth are forgotten, in blocks. */
const pruneEvery = 100

const unknownToken: Callback.TokenMetadata = { name: "", symbol: "", decimals: undefined }

/** Opens a chain in the store, making its row at the first time, and fills the watched set. */
export const open = Effect.fn("ChainStore.open")(function* (chain: Chain.Chain, options: Options) {
  const database = yield* Database
  const { insertMany, query, read, transaction } = database
  const name = Chain.nameOf(chain)

  yield* query((db) =>
    db
      .insertInto("chain")
      .values({ name })
      .onConflict((conflict) => conflict.doNothing())
  )
  const row = read((db) => db.selectFrom("chain").selectAll().where("name", "=", name)).pipe(
    Effect.map(([row]) => row!)
  )
  const { id } = yield* row
  /** Takes the lock by which commits and changes of subscriptions exclude one another. */
  const lock = query((db) => {
    const select = db.selectFrom("chain").selectAll().where("id", "=", id)
    return database.dialect === "postgres" ? select.forUpdate() : select
  }).pipe(Effect.map(([row]) => row!))

  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const watched = Watched.make([key[0]!, key[1]!])
  let watchedRevision = 0
  /** Whether any wallet is synced on the chain. */
  let wallets = false

  /** Addresses of subscriptions or wallets that came with the revisions up to the given one. */
  const watchThose = Effect.fnUntraced(function* (whose: "subscription" | "wallet_address", revision: number) {
    let after = 0
    while (true) {
      const rows = yield* read((db) =>
        db
          .selectFrom(whose)
          .select(["id", "address"])
          .where("chain", "=", id)
          .where("revision", ">", watchedRevision)
          .where("revision", "<=", revision)
          .where("id", ">", after)
          .$if(whose === "subscription", (select) => select.where("subscription.active", "=", 1))
          .orderBy("id")
          .limit(pageSize)
      )
      for (const { address } of rows) if (address !== null) watched.add(address)
      if (whose === "wallet_address" && rows.length > 0) wallets = true
      if (rows.length < pageSize) return
      after = rows.at(-1)!.id
      yield* Effect.logInfo(`Watching ${watched.size()} addresses so far`)
    }
  })

  /** Brings the watched set up to the chain's revision. */
  const watch = Effect.fnUntraced(function* (revision: number) {
    if (revision <= watchedRevision) return
    yield* watchThose("subscription", revision)
    yield* watchThose("wallet_address", revision)
    watchedRevision = revision
  })
  yield* watch((yield* row).revision)

  const walletBlocks = yield* WalletBlocks.make({ chain, id, gapLimit: options.gapLimit ?? defaultGapLimit, watched })

  /** Which of these addresses no wallet has. */
  const unowned = Effect.fnUntraced(function* (addresses: ReadonlyArray<AddressBytes>) {
    const owned = new Set<string>()
    for (let i = 0; wallets && i < addresses.length; i += lookupSize) {
      const rows = yield* query((db) =>
        db
          .selectFrom("wallet_address")
          .select("address")
          .where("chain", "=", id)
          .where("address", "in", addresses.slice(i, i + lookupSize))
      )
      for (const { address } of rows) owned.add(Address.key(address))
    }
    return addresses.filter((address) => !owned.has(Address.key(address)))
  })

  const subscribers = Effect.fnUntraced(function* (addresses: ReadonlyMap<string, AddressBytes>) {
    const select = query((db) =>
      db
        .selectFrom("subscription")
        .select(["id", "reference_id", "host", "event", "confirmations", "address"])
        .where("chain", "=", id)
        .where("active", "=", 1)
        .where("event", "=", "BLOCK_MINED")
        .where("address", "is", null)
        .orderBy("id")
    )
    const toSubscriber = (row: Effect.Success<typeof select>[number]): Waits.Subscriber => ({
      ...row,
      address: (row.address ?? undefined) as AddressBytes | undefined
    })
    const blockMined = (yield* select).map(toSubscriber)
    const byAddress = new Map<string, Array<Waits.Subscriber>>()
    const list = [...addresses.values()]
    for (let i = 0; i < list.length; i += lookupSize) {
      const rows = yield* query((db) =>
        db
          .selectFrom("subscription")
          .select(["id", "reference_id", "host", "event", "confirmations", "address"])
          .where("chain", "=", id)
          .where("active", "=", 1)
          .where("address", "in", list.slice(i, i + lookupSize))
          .orderBy("id")
      )
      for (const row of rows) {
        const hex = Buffer.from(row.address!).toString("hex")
        const known = byAddress.get(hex)
        if (known === undefined) byAddress.set(hex, [toSubscriber(row)])
        else known.push(toSubscriber(row))
      }
    }
    const strangers = [...addresses].flatMap(([hex, address]) => (byAddress.has(hex) ? [] : [address]))
    for (const address of yield* unowned(strangers)) watched.remove(address)
    return { blockMined, byAddress }
  })

  const learnTokens = Effect.fnUntraced(function* (block: Block) {
    const { tokens } = options
    if (tokens === undefined || watched.size() === 0) return
    const unknown = new Map<string, AddressBytes>()
    for (const transfer of block.transfers) {
      if (transfer.kind !== "token" || tokens.known(transfer.contract) !== undefined) continue
      if (!watched.has(transfer.from) && !watched.has(transfer.to)) continue
      unknown.set(Buffer.from(transfer.contract).toString("hex"), transfer.contract)
    }
    if (unknown.size > 0) yield* tokens.learn([...unknown.values()], block.height)
  })

  const isRecorded = (transfer: Transfer) =>
    options.record === "all" ||
    transfer.kind === "internal" ||
    (transfer.from !== undefined && watched.has(transfer.from)) ||
    (transfer.to !== undefined && watched.has(transfer.to))

  /** Postings staged since the transfer log was last tended, which is done beside the commits. */
  let staged = TransferLog.stagedLimit
  yield* Effect.suspend(() => {
    if (staged < TransferLog.stagedLimit) return Effect.void
    staged = 0
    return TransferLog.maintain(id)
  }).pipe(
    Effect.catchTag("DatabaseError", (error) => Effect.logWarning(`Tending the transfer log failed: ${error.message}`)),
    Effect.repeat(Schedule.spaced("200 millis")),
    Effect.forkScoped
  )

  const keep = (script: AddressBytes) => options.record === "all" || watched.has(script)

  /** The block of a UTXO chain with what its inputs spend; wallets have been watched further before that is found. */
  const applyCoins = Effect.fnUntraced(function* (block: Block) {
    const owners = wallets ? yield* walletBlocks.use(block) : undefined
    const applied = yield* OutputMap.apply(id, block, keep)
    if (owners !== undefined) yield* walletBlocks.move(owners, applied.created, applied.taken)
    return applied.block
  })

  const commit = Effect.fn("ChainStore.commit")(
    function* (block: Block) {
      // Metadata comes from the node, so it is fetched before the transaction takes the store's one writer.
      yield* watch((yield* row).revision)
      yield* learnTokens(block)
      return yield* transaction(
        Effect.gen(function* () {
          const { hash, height, revision } = yield* lock
          const fits = hash === null || Buffer.compare(hash, block.parent) === 0
          if (height !== null && !(block.height === height + 1 && fits))
            return yield* new NotNext({ height: block.height, cursor: height ?? undefined })
          yield* watch(revision)
          if (chain.family !== "utxo" && wallets) yield* walletBlocks.use(block)
          const resolved = chain.family === "utxo" ? yield* applyCoins(block) : block
          const candidates = yield* subscribers(Matcher.touched(resolved, watched))
          const metadata = (contract: AddressBytes) => options.tokens?.known(contract) ?? unknownToken
          const occurrences = Matcher.match(chain, resolved, { ...candidates, metadata })
          const now = yield* Clock.currentTimeMillis
          const released = yield* Waits.release(id, block.height, now)
          const { due, waiting } = Waits.sort(id, block, occurrences, now)
          yield* insertMany("block", [
            { chain: id, height: block.height, hash: block.hash, parent: block.parent, time: block.time }
          ])
          if (chain.family !== "utxo") staged += yield* TransferLog.append(id, resolved, isRecorded)
          yield* insertMany("waiting", waiting)
          yield* insertMany(
            "callback",
            [...released, ...due],
            // The same event has the same key: it is there already after a replay, or was taken back until its block returned.
            `on conflict (idempotency_key) do update set state = 'due', attempts = 0, due = excluded.due
             where callback.state in ('orphaned', 'retracted')`
          )
          if (block.height % pruneEvery === 0) {
            yield* OutputMap.prune(id, block.height - options.undoDepth)
          }
          yield* query((db) =>
            db
              .updateTable("chain")
              .set({
                height: block.height,
                hash: block.hash,
                ...(height === null ? { first_height: block.height } : {})
              })
              .where("id", "=", id)
          )
          return { callbacks: released.length + due.length }
        })
      )
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
          if (chain.family === "utxo" || wallets) yield* walletBlocks.undo(fork, first_height)
          yield* OutputMap.undo(id, fork)
          yield* TransferLog.undo(id, fork)
          if (options.tokens !== undefined) yield* options.tokens.undo(fork)
          yield* query((db) => db.deleteFrom("block").where("chain", "=", id).where("height", ">", fork))
          yield* query((db) => db.deleteFrom("waiting").where("chain", "=", id).where("height", ">", fork))
          yield* Retractions.takeBack(id, fork, hash, at)
          yield* insertMany("reorganisation", [
            { chain: id, at, fork_height: fork, depth: height - fork, old_hash: hash }
          ])
          yield* query((db) =>
            db
              .updateTable("chain")
              .set({ height: fork, hash: forkBlock?.hash ?? null })
              .where("id", "=", id)
          )
        })
      )
    },
    Effect.provideService(Database, database)
  )

  const replay = Effect.fn("ChainStore.replay")(
    function* (block: Block, { callbacks, internalFrom }: ReplayOptions) {
      yield* watch((yield* row).revision)
      yield* learnTokens(block)
      return yield* transaction(
        Effect.gen(function* () {
          const stored = yield* lock
          yield* watch(stored.revision)
          yield* Replayed.header(stored, block)
          const utxo = chain.family === "utxo"
          const resolved = utxo ? yield* Replayed.withSpent(id, block) : block
          const candidates = yield* subscribers(Matcher.touched(resolved, watched))
          if (!utxo) {
            const which = (kind: TransferLog.Kind) => kind !== "internal" || block.height >= internalFrom
            staged += yield* TransferLog.rewrite(id, resolved, isRecorded, which)
          }
          if (!callbacks) return { callbacks: 0 }
          const metadata = (contract: AddressBytes) => options.tokens?.known(contract) ?? unknownToken
          const occurrences = Matcher.match(chain, resolved, { ...candidates, metadata })
          const added = yield* Replayed.enqueue(stored, block, occurrences, yield* Clock.currentTimeMillis)
          return { callbacks: added }
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
