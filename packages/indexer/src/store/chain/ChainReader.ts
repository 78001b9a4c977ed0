/**
 * Reads what the store has of a chain: pages of transfers with their blocks, each the state of one moment, also while
 * blocks are committed and undone.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as PastReading from "../addresses/PastReading.ts"
import * as SyncedAddresses from "../addresses/SyncedAddresses.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import * as CoinTotals from "./CoinTotals.ts"
import * as Completeness from "./Completeness.ts"
import * as PrunedInternal from "./PrunedInternal.ts"
import * as RecordGaps from "./RecordGaps.ts"
import * as Tokens from "./Tokens.ts"
import type { Kind, TransferOf } from "./transfers/TransferLog.ts"
import * as TransferPages from "./transfers/TransferPages.ts"

/** The last committed block, and how often the chain was reorganised before. */
export interface Tip {
  readonly height: number
  readonly hash: Uint8Array
  readonly reorganisations: number
}

/** A recorded transfer with its block. */
export interface RecordedTransfer<K extends Kind> extends TransferPages.Recorded<K> {
  readonly block: { readonly hash: Uint8Array; readonly time: number }
}

/**
 * Where a page ended: height, number within the block, and the reorganisations that there had been. Blocks that were
 * undone since are seen by the latter.
 */
export type Position = readonly [height: number, index: number, reorganisations: number]

export interface PageRequest {
  readonly order: "ascending" | "descending"
  readonly limit: number
  readonly after?: Position | undefined
  /** No block before this time, in seconds since the Unix epoch. */
  readonly since?: number | undefined
}

export interface Page<K extends Kind> {
  readonly transfers: ReadonlyArray<RecordedTransfer<K>>
  /** Where the page ended, if there is more. */
  readonly next: Position | undefined
}

/** A recorded transaction with its block. */
export interface PlacedTransaction extends TransferPages.RecordedTransaction {
  readonly block: { readonly hash: Uint8Array; readonly time: number }
}

export interface TransactionPage {
  readonly transactions: ReadonlyArray<PlacedTransaction>
  readonly next: Position | undefined
}

export interface ChainReader {
  readonly chain: Chain.Chain
  /** `blockchain/network`. */
  readonly name: string
  /** Undefined before the first commit. */
  readonly tip: Effect.Effect<Tip | undefined, DatabaseError>
  /** Transfers of a kind that name an address on either side. */
  readonly page: <K extends Kind>(
    kind: K,
    address: AddressBytes,
    request: PageRequest
  ) => Effect.Effect<Page<K>, DatabaseError>
  /** Transactions that name an address, on UTXO chains by an input or output. */
  readonly transactions: (address: AddressBytes, request: PageRequest) => Effect.Effect<TransactionPage, DatabaseError>
  /** Every recorded transfer of a kind up to a height that names an address, with its height, oldest first, a page at a time. */
  readonly each: <K extends Kind>(
    kind: K,
    address: AddressBytes,
    upTo: number,
    use: (transfer: TransferOf<K>, height: number) => void
  ) => Effect.Effect<void, DatabaseError>
  /** What an address received and spent in coins up to a height. Account chains only. */
  readonly coinTotals: (address: AddressBytes, upTo: number) => Effect.Effect<CoinTotals.CoinTotals, DatabaseError>
  /** Sums of internal transactions that are no longer kept, by the key of their address. */
  readonly prunedTotals: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, PrunedInternal.Totals>, DatabaseError>
  /** What is known of token contracts, by the key of their address; a node says the rest. */
  readonly tokens: (
    contracts: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, TokenMetadata>, DatabaseError>
  /** Keeps a node's answers about contracts; contracts that are known already stay as they are. */
  readonly keepTokens: (learned: ReadonlyArray<Tokens.LearnedToken>) => Effect.Effect<void, DatabaseError>
  /**
   * The lowest height whose block has this time or a later one; one past the tip where none has, and 0 where the record
   * begins with such a block: others from before may be as young.
   */
  readonly heightSince: (time: number) => Effect.Effect<number, DatabaseError>
  /** From which block on each of the addresses is recorded, by its key; absent where nothing is known. */
  readonly completeness: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, Completeness.Completeness>, DatabaseError>
  /** As {@link Completeness.watchedFrom}. */
  readonly watchedFrom: (addresses: ReadonlyArray<AddressBytes>) => Effect.Effect<number | undefined, DatabaseError>
  /** For each kind of transfers the first block from which on the record has no gap that concerns every address. */
  readonly wholeFrom: Effect.Effect<RecordGaps.WholeFrom, DatabaseError>
  /** Those of the addresses whose past is being read, by their key. */
  readonly beingRead: (addresses: ReadonlyArray<AddressBytes>) => Effect.Effect<ReadonlySet<string>, DatabaseError>
  /** Which of the addresses an account has active subscriptions for, or has synced. */
  readonly watchedBy: (
    account: number,
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<AddressBytes>, DatabaseError>
  /** Whether an account has synced a single address and stopped that. */
  readonly isDeactivatedBy: (account: number, address: AddressBytes) => Effect.Effect<boolean, DatabaseError>
}

/** Rows of one reading through a whole log. */
const eachLimit = 1_000

/** Positions of a page's end and of the transfer log. */
const toLog = (height: number, index: number) => height * TransferPages.perBlock + index

const endOf = (last: { readonly height: number; readonly position: number }, reorganisations: number): Position => [
  last.height,
  last.position - toLog(last.height, 0),
  reorganisations
]

/** The lowest block that reorganisations after the given one left standing; undefined where there were none. */
const forkSince = Effect.fnUntraced(function* (chain: number, reorganisation: number) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("reorganisation")
      .select((of) => of.fn.min("fork_height").as("fork"))
      .where("chain", "=", chain)
      .where("id", ">", reorganisation)
  )
  return row?.fork ?? undefined
})

/**
 * The position in the log beyond which a page begins. Upwards, what has taken the place of undone blocks is still to be
 * shown, so the page begins above the fork; downwards everything below stays below.
 */
const beginOf = Effect.fnUntraced(function* (chain: number, { after, order }: PageRequest) {
  if (after === undefined) return undefined
  const [height, index, reorganisations] = after
  const fork = order === "ascending" ? yield* forkSince(chain, reorganisations) : undefined
  return fork !== undefined && fork < height ? toLog(fork + 1, 0) - 1 : toLog(height, index)
})

/** The lowest height from `first` to `last` whose block has this time or a later one; else one past the last. */
const heightBetween = Effect.fnUntraced(function* (chain: number, first: number, last: number, time: number) {
  const { read } = yield* Database
  let low = first
  let high = last + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    // Among skipped blocks the one below them decides.
    const [block] = yield* read((db) =>
      db
        .selectFrom("block")
        .select("time")
        .where("chain", "=", chain)
        .where("height", "<=", middle)
        .orderBy("height", "desc")
        .limit(1)
    )
    if (block !== undefined && block.time >= time) high = middle
    else low = middle + 1
  }
  return low
})

/** Hashes and times of blocks, by height. */
const blocksAt = Effect.fnUntraced(function* (chain: number, heights: ReadonlyArray<number>) {
  const { read } = yield* Database
  const rows = yield* inChunks(heights, (some) =>
    read((db) =>
      db.selectFrom("block").select(["height", "hash", "time"]).where("chain", "=", chain).where("height", "in", some)
    )
  )
  return new Map(rows.map((row) => [row.height, row]))
})

/** How a page is read of a log. */
type Read<A> = (
  chain: number,
  request: TransferPages.PageRequest
) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly hasMore: boolean }, DatabaseError, Database>

interface Placed<A> {
  readonly items: ReadonlyArray<A & { readonly block: { readonly hash: Uint8Array; readonly time: number } }>
  readonly next: Position | undefined
}

/** A page with its blocks; undefined where blocks were undone meanwhile: half of it may be of either branch. */
const pageAtOnce = Effect.fnUntraced(function* <A extends { readonly height: number; readonly position: number }>(
  chain: Chain.Chain,
  read: Read<A>,
  request: PageRequest
) {
  const before = yield* ChainRow.findWithReorganisations(chain)
  if (before === undefined || before.height === null) return { items: [], next: undefined } satisfies Placed<A>
  const { id } = before
  const { hasMore, items } = yield* read(id, {
    order: request.order,
    limit: request.limit,
    after: yield* beginOf(id, request),
    fromHeight:
      request.since === undefined
        ? undefined
        : yield* heightBetween(id, before.first_height ?? 0, before.height, request.since)
  })
  const blocks = yield* blocksAt(id, [...new Set(items.map(({ height }) => height))])
  const after = yield* ChainRow.findWithReorganisations(chain)
  if (after?.reorganisations !== before.reorganisations) return undefined
  const last = items.at(-1)
  return {
    items: items.map((item) => ({ ...item, block: blocks.get(item.height)! })),
    next: hasMore && last !== undefined ? endOf(last, before.reorganisations ?? 0) : undefined
  } satisfies Placed<A>
})

const paged = Effect.fnUntraced(function* <A extends { readonly height: number; readonly position: number }>(
  chain: Chain.Chain,
  read: Read<A>,
  request: PageRequest
) {
  while (true) {
    const found: Placed<A> | undefined = yield* pageAtOnce(chain, read, request)
    if (found !== undefined) return found
  }
})

const page = Effect.fn("ChainReader.page")(function* <K extends Kind>(
  chain: Chain.Chain,
  kind: K,
  address: AddressBytes,
  request: PageRequest
) {
  const read: Read<TransferPages.Recorded<K>> = (id, within) =>
    Effect.map(TransferPages.page(id, kind, address, within), ({ hasMore, transfers }) => ({
      hasMore,
      items: transfers
    }))
  const { items, next } = yield* paged(chain, read, request)
  return { transfers: items, next } satisfies Page<K>
})

const transactions = Effect.fn("ChainReader.transactions")(function* (
  chain: Chain.Chain,
  address: AddressBytes,
  request: PageRequest
) {
  const kind = chain.ledger === "outputs" ? "coin" : "transaction"
  const { items, next } = yield* paged(
    chain,
    (id, within) => TransferPages.transactions(id, kind, address, within),
    request
  )
  return { transactions: items, next } satisfies TransactionPage
})

const each = Effect.fn("ChainReader.each")(function* <K extends Kind>(
  chain: Chain.Chain,
  kind: K,
  address: AddressBytes,
  upTo: number,
  use: (transfer: TransferOf<K>, height: number) => void
) {
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return
  let after: number | undefined
  while (true) {
    const { hasMore, transfers }: TransferPages.Page<K> = yield* TransferPages.page(row.id, kind, address, {
      order: "ascending",
      limit: eachLimit,
      after
    })
    for (const { height, transfer } of transfers) {
      if (height > upTo) return
      use(transfer, height)
    }
    if (!hasMore) return
    after = transfers.at(-1)!.position
  }
})

const watchedBy = Effect.fnUntraced(function* (chain: number, account: number, addresses: ReadonlyArray<AddressBytes>) {
  const { read } = yield* Database
  const rows = yield* inChunks(addresses, (some) =>
    read((db) =>
      db
        .selectFrom("subscribed_address")
        .select("address")
        .distinct()
        .where("chain", "=", chain)
        .where("active", "=", 1)
        .where("account", "=", account)
        .where("address", "in", some)
        .union(
          db
            .selectFrom("synced_address")
            .select("address")
            .where("chain", "=", chain)
            .where("active", "=", sql.lit(1))
            .where("account", "=", account)
            .where("address", "in", some)
        )
    )
  )
  const found = new Set(rows.map(({ address }) => Bytes.key(address!)))
  return addresses.filter((address) => found.has(Bytes.key(address)))
})

/** A reader of a chain, of which nothing may have been stored yet. */
export const make = (chain: Chain.Chain): Effect.Effect<ChainReader, never, Database> =>
  Effect.map(Database, (database) => {
    const provided = Effect.provideService(Database, database)
    /** Of the chain's row, or `otherwise` where there is none. */
    const ofRow = <A, B>(
      otherwise: B,
      read: (row: ChainRow.ChainRow) => Effect.Effect<A, DatabaseError, Database>
    ): Effect.Effect<A | B, DatabaseError> =>
      provided(
        Effect.flatMap(
          ChainRow.find(chain),
          (row): Effect.Effect<A | B, DatabaseError, Database> =>
            row === undefined ? Effect.succeed(otherwise) : read(row)
        )
      )

    return {
      chain,
      name: Chain.nameOf(chain),
      tip: Effect.map(provided(ChainRow.findWithReorganisations(chain)), (row) =>
        row === undefined || row.height === null || row.hash === null
          ? undefined
          : { height: row.height, hash: row.hash, reorganisations: row.reorganisations ?? 0 }
      ),
      page: (kind, address, request) => provided(page(chain, kind, address, request)),
      transactions: (address, request) => provided(transactions(chain, address, request)),
      each: (kind, address, upTo, use) => provided(each(chain, kind, address, upTo, use)),
      coinTotals: (address, upTo) => provided(CoinTotals.of(chain, address, upTo)),
      prunedTotals: (addresses) => ofRow(new Map(), ({ id }) => PrunedInternal.totals(id, addresses)),
      tokens: (contracts) => ofRow(new Map(), ({ id }) => Tokens.find(id, contracts)),
      keepTokens: (learned) => ofRow(undefined, ({ id }) => Tokens.keep(id, learned)),
      heightSince: (time) =>
        ofRow(0, ({ first_height: first, height, id }) =>
          first === null || height === null
            ? Effect.succeed(0)
            : Effect.map(heightBetween(id, first, height, time), (found) => (found === first ? 0 : found))
        ),
      completeness: (addresses) => provided(Completeness.of(chain, addresses)),
      watchedFrom: (addresses) => ofRow(undefined, ({ id }) => Completeness.watchedFrom(id, addresses)),
      wholeFrom: provided(RecordGaps.wholeFrom(chain)),
      beingRead: (addresses) => provided(PastReading.beingRead(chain, addresses)),
      watchedBy: (account, addresses) => ofRow([], ({ id }) => watchedBy(id, account, addresses)),
      isDeactivatedBy: (account, address) => provided(SyncedAddresses.isDeactivated({ account, chain, address }))
    } satisfies ChainReader
  })
