/**
 * Reads what the store has of a chain: pages of transfers with their blocks, each the state of one moment, also while
 * blocks are committed and undone.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as PastReading from "../addresses/PastReading.ts"
import * as SyncedAddresses from "../addresses/SyncedAddresses.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import * as CoinTotals from "./CoinTotals.ts"
import * as Completeness from "./Completeness.ts"
import * as PlacedPages from "./internal/PlacedPages.ts"
import type { PageRequest, Position } from "./internal/PlacedPages.ts"
import * as PrunedInternal from "./PrunedInternal.ts"
import * as RecordGaps from "./RecordGaps.ts"
import * as Tokens from "./Tokens.ts"
import type { Kind, TransferOf } from "./transfers/TransferLog.ts"
import * as TransferPages from "./transfers/TransferPages.ts"

export type { PageRequest, Position } from "./internal/PlacedPages.ts"

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
  /**
   * Every recorded transfer of a kind up to a height that names an address, with its height, oldest first, a page at a time;
   * `false` from `use` ends the reading.
   */
  readonly each: <K extends Kind>(
    kind: K,
    address: AddressBytes,
    upTo: number,
    use: (transfer: TransferOf<K>, height: number) => unknown
  ) => Effect.Effect<void, DatabaseError>
  /** What an address received and spent in coins up to a height. Account chains only. */
  readonly coinTotals: (address: AddressBytes, upTo: number) => Effect.Effect<CoinTotals.CoinTotals, DatabaseError>
  /** Sums of internal transactions that are no longer kept, by the key of their address. */
  readonly prunedTotals: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, CoinTotals.CoinTotals>, DatabaseError>
  /** What is known of token contracts, by the key of their address; a node says the rest. */
  readonly tokens: (
    contracts: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, Tokens.KnownToken>, DatabaseError>
  /** Keeps a node's answers about contracts, as `Tokens.keep` does. */
  readonly keepTokens: (learned: ReadonlyArray<Tokens.LearnedToken>) => Effect.Effect<void, DatabaseError>
  /**
   * The lowest height whose block has this time or a later one; one past the tip where none has, and 0 where the record
   * begins with such a block, or on a UTXO chain with one that is little older: others from before may be as young.
   */
  readonly heightSince: (time: number) => Effect.Effect<number, DatabaseError>
  /** From which block on each of the addresses is recorded, by its key; absent where nothing is known. */
  readonly completeness: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, Completeness.Completeness>, DatabaseError>
  /** As {@link Completeness.usesFrom}. */
  readonly usesFrom: (addresses: ReadonlyArray<AddressBytes>) => Effect.Effect<number | undefined, DatabaseError>
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

const page = Effect.fn("ChainReader.page")(function* <K extends Kind>(
  chain: Chain.Chain,
  kind: K,
  address: AddressBytes,
  request: PageRequest
) {
  const read: PlacedPages.Read<TransferPages.Recorded<K>> = (id, within) =>
    Effect.map(TransferPages.page(id, kind, address, within), ({ hasMore, transfers }) => ({
      hasMore,
      items: transfers
    }))
  const { items, next } = yield* PlacedPages.read(chain, read, request)
  return { transfers: items, next } satisfies Page<K>
})

const transactions = Effect.fn("ChainReader.transactions")(function* (
  chain: Chain.Chain,
  address: AddressBytes,
  request: PageRequest
) {
  const kind = chain.ledger === "outputs" ? "coin" : "transaction"
  const { items, next } = yield* PlacedPages.read(
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
  use: (transfer: TransferOf<K>, height: number) => unknown
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
      if (height > upTo || use(transfer, height) === false) return
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
            : PlacedPages.heightSince(chain, { id, first, last: height }, time)
        ),
      completeness: (addresses) => provided(Completeness.of(chain, addresses)),
      usesFrom: (addresses) => ofRow(undefined, ({ id }) => Completeness.usesFrom(chain, id, addresses)),
      wholeFrom: provided(RecordGaps.wholeFrom(chain)),
      beingRead: (addresses) => provided(PastReading.beingRead(chain, addresses)),
      watchedBy: (account, addresses) => ofRow([], ({ id }) => watchedBy(id, account, addresses)),
      isDeactivatedBy: (account, address) => provided(SyncedAddresses.isDeactivated({ account, chain, address }))
    } satisfies ChainReader
  })
