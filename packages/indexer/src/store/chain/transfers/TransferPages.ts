/** Pages of recorded transfers by address. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import { isCoinContract } from "@headwater/core/evm/CoinContract"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import { inChunks, rows } from "../../database/Statements.ts"
import * as FormerChunk from "./internal/FormerChunk.ts"
import { type ChunkTable, type Entry, type Kind, logOf, tablesOf, type TransferOf } from "./internal/Logs.ts"
import * as Posting from "./internal/Posting.ts"
import * as PostingSearch from "./internal/PostingSearch.ts"
import * as TransferChunk from "./internal/TransferChunk.ts"

/** A transfer with where it stands. */
export interface Recorded<K extends Kind> {
  /** Sorts transfers of one chain and kind as the chain does, and names one: the keyset of pages. */
  readonly position: number
  readonly height: number
  readonly transactionId: Uint8Array
  readonly transfer: TransferOf<K>
}

export interface PageRequest {
  readonly order: "ascending" | "descending"
  readonly limit: number
  /** Begin beyond this position. */
  readonly after?: number | undefined
  /** Nothing below this height. */
  readonly fromHeight?: number | undefined
  /** Nothing of blocks of these heights. */
  readonly except?: ReadonlySet<number> | undefined
}

/** Transfers in the wanted order, and whether there are more beyond the last one. */
export interface Page<K extends Kind> {
  readonly transfers: ReadonlyArray<Recorded<K>>
  readonly hasMore: boolean
}

/** Positions count transfers within a block below this, blocks above. */
export const perBlock = Posting.perBlock

const names = ({ from, to }: Entry, address: AddressBytes): boolean =>
  (from !== undefined && Bytes.equal(from, address)) || (to !== undefined && Bytes.equal(to, address))

/** Coins that 0.1 recorded as a token as well. */
const isCoins = (entry: Entry): boolean => entry.kind === "token" && isCoinContract(entry.contract)

/** Whether a recorded transfer is one of an address. */
const isOf = <K extends Kind>({ transfer }: Recorded<K>, address: AddressBytes): boolean =>
  names(transfer, address) && !isCoins(transfer)

/** The transfers at those of the positions that a table of chunks has, by their position. */
const fetchOf = Effect.fnUntraced(function* <K extends Kind>(
  table: ChunkTable,
  log: number,
  positions: ReadonlyArray<number>,
  found: Map<number, Recorded<K>>
) {
  const { numbers, read } = yield* Database
  const size = table === "transfer_chunk" ? FormerChunk.size : TransferChunk.numbers
  const wanted = new Map<number, Set<number>>()
  for (const position of positions) {
    const number = position % size
    const start = position - number
    const others = wanted.get(start)
    if (others === undefined) wanted.set(start, new Set([number]))
    else others.add(number)
  }
  const chunks = yield* read(
    rows(sql<{ readonly position: number; readonly data: Uint8Array }>`
      select position, data from ${sql.table(table)} where log = ${log} and position in ${numbers([...wanted.keys()])}`)
  )
  for (const { data, position: start } of chunks) {
    const here = wanted.get(start)!
    const chunk = TransferChunk.unpack(data, here)
    for (const number of here) {
      const packed = chunk[number]
      if (packed === undefined) continue
      const position = start + number
      const transfer = packed.transfer as TransferOf<K>
      const { transactionId } = packed
      found.set(position, { position, height: Posting.heightOf(position), transactionId, transfer })
    }
  }
})

/** The transfers at these positions, in their order; positions that hold none are left out. */
const fetch = Effect.fnUntraced(function* <K extends Kind>(log: number, kind: K, positions: ReadonlyArray<number>) {
  const { partitioned } = yield* Database
  const found = new Map<number, Recorded<K>>()
  for (const table of tablesOf(kind, partitioned)) {
    const missing = positions.filter((position) => !found.has(position))
    if (missing.length > 0) yield* fetchOf(table, log, missing, found)
  }
  return positions.flatMap((position) => found.get(position) ?? [])
})

/** A page of the transfers of one kind that name `address` on either side. */
export const page = <K extends Kind>(
  chain: number,
  kind: K,
  address: AddressBytes,
  request: PageRequest
): Effect.Effect<Page<K>, DatabaseError, Database> =>
  Effect.gen(function* () {
    const log = logOf(chain, kind)
    const wanted = request.limit + 1
    const found: Array<Recorded<K>> = []
    let after = request.after
    // Rows of what is forgotten may still be there.
    const remembered = kind === "internal" ? yield* ChainRow.internalRememberedFrom(chain) : 0
    const fromHeight = Math.max(request.fromHeight ?? 0, remembered)
    const isWanted = (recorded: Recorded<K>) => isOf(recorded, address) && request.except?.has(recorded.height) !== true
    while (found.length < wanted) {
      // One more than is wanted: postings that turn out to be stale are made up for by the next round.
      const positions = yield* PostingSearch.positions(log, address, { ...request, after, fromHeight, limit: wanted })
      const transfers = yield* fetch(log, kind, positions)
      for (const recorded of transfers) {
        if (found.length < wanted && isWanted(recorded)) found.push(recorded)
      }
      if (positions.length < wanted) break
      after = positions.at(-1)!
    }
    return { transfers: found.slice(0, request.limit), hasMore: found.length > request.limit }
  })

/**
 * The first block that has a transfer of one kind that names each of the addresses, by their key; those that none names
 * are not among the answers.
 */
export const firstHeights = Effect.fnUntraced(function* (
  chain: number,
  kind: Exclude<Kind, "internal">,
  addresses: ReadonlyArray<AddressBytes>
) {
  const log = logOf(chain, kind)
  const positions = yield* PostingSearch.firstOfEach(log, addresses)
  const transfers = yield* inChunks([...new Set(positions.values())], (some) => fetch(log, kind, some))
  const recorded = new Map(transfers.map((one) => [one.position, one]))
  const first = new Map<string, number>()
  for (const address of addresses) {
    const position = positions.get(Bytes.key(address))
    if (position === undefined) continue
    let one = recorded.get(position)
    // A stale posting, or one of another address with the same hash.
    if (one === undefined || !isOf(one, address)) {
      const { transfers } = yield* page(chain, kind, address, { order: "ascending", limit: 1 })
      one = transfers[0]
    }
    if (one !== undefined) first.set(Bytes.key(address), one.height)
  }
  return first as ReadonlyMap<string, number>
})

/** A transaction that names an address, where it stands: `position` is that of the last of its transfers in the order. */
export interface RecordedTransaction extends Pick<Recorded<Kind>, "position" | "height" | "transactionId"> {
  /** Index in its block. */
  readonly index: number
}

const isSame = (a: RecordedTransaction | undefined, b: RecordedTransaction): a is RecordedTransaction =>
  a !== undefined && a.height === b.height && Bytes.equal(a.transactionId, b.transactionId)

/** Transfers of one transaction that are read at a time, where it has more than a page. */
const manyTransfers = 500

/** A page of the transactions whose entries in a log name `address`, each once: entries of a transaction stand together. */
export const transactions = (
  chain: number,
  kind: Kind,
  address: AddressBytes,
  request: PageRequest
): Effect.Effect<
  { readonly items: ReadonlyArray<RecordedTransaction>; readonly hasMore: boolean },
  DatabaseError,
  Database
> =>
  Effect.gen(function* () {
    const found: Array<RecordedTransaction> = []
    let { after, limit } = { after: request.after, limit: request.limit + 1 }
    while (true) {
      const { hasMore, transfers }: Page<Kind> = yield* page(chain, kind, address, { ...request, after, limit })
      for (const { height, position, transactionId, transfer } of transfers) {
        const one = { height, index: transfer.transaction, position, transactionId }
        if (isSame(found.at(-1), one)) found.pop()
        found.push(one)
        if (found.length > request.limit) return { items: found.slice(0, request.limit), hasMore: true }
      }
      if (!hasMore) return { items: found, hasMore: false }
      after = transfers.at(-1)!.position
      limit = manyTransfers
    }
  })
