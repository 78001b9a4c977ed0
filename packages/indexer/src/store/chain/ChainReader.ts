/**
 * What the store has of a chain, for whoever reads it: pages of transfers with their blocks, each the state of one
 * moment, also while blocks are committed and undone.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import * as Effect from "effect/Effect"
import type { NodeError } from "../../families/node/NodeError.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as InternalRetention from "./InternalRetention.ts"
import * as Tokens from "./Tokens.ts"
import * as TransferLog from "./transfers/TransferLog.ts"

/** The last committed block, and how often the chain was reorganised before. */
export interface Tip {
  readonly height: number
  readonly hash: Uint8Array
  readonly reorganisations: number
}

/** A recorded transfer with its block. */
export interface RecordedTransfer<K extends TransferLog.Kind> extends TransferLog.Recorded<K> {
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

export interface Page<K extends TransferLog.Kind> {
  readonly transfers: ReadonlyArray<RecordedTransfer<K>>
  /** Where the page ended, if there is more. */
  readonly next: Position | undefined
}

export interface ChainReader {
  readonly chain: Chain.Chain
  /** `blockchain/network`. */
  readonly name: string
  /** Undefined before the first commit. */
  readonly tip: Effect.Effect<Tip | undefined, DatabaseError>
  /** Transfers of a kind that name an address on either side. */
  readonly page: <K extends TransferLog.Kind>(
    kind: K,
    address: AddressBytes,
    request: PageRequest
  ) => Effect.Effect<Page<K>, DatabaseError>
  /** Every recorded transfer of a kind up to a height that names an address, oldest first, a page at a time. */
  readonly each: <K extends TransferLog.Kind>(
    kind: K,
    address: AddressBytes,
    upTo: number,
    use: (transfer: TransferLog.TransferOf<K>) => void
  ) => Effect.Effect<void, DatabaseError>
  /** Sums of internal transactions that are no longer kept, by the key of their address. */
  readonly prunedTotals: (
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, InternalRetention.Totals>, DatabaseError>
  /** What token contracts say of themselves, by the key of their address. */
  readonly tokens: (
    fetch: Tokens.Fetch,
    contracts: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyMap<string, TokenMetadata>, NodeError | DatabaseError>
  /** The lowest height whose block has this time or a later one; one past the tip where none has. */
  readonly heightSince: (time: number) => Effect.Effect<number, DatabaseError>
  /** Which of the addresses an account has active subscriptions for. */
  readonly watchedBy: (
    account: number,
    addresses: ReadonlyArray<AddressBytes>
  ) => Effect.Effect<ReadonlyArray<AddressBytes>, DatabaseError>
}

/** Positions of a page's end and of the transfer log. */
const toLog = (height: number, index: number) => height * TransferLog.perBlock + index

const endOf = (last: { readonly height: number; readonly position: number }, reorganisations: number): Position => [
  last.height,
  last.position - toLog(last.height, 0),
  reorganisations
]

/** Rows of one reading through a whole log. */
const eachLimit = 1_000
/** Addresses asked for in one query. */
const lookupSize = 500

export const make = (chain: Chain.Chain): Effect.Effect<ChainReader, never, Database> =>
  Effect.gen(function* () {
    const database = yield* Database
    const { read } = database
    const name = Chain.nameOf(chain)

    const row = read((db) =>
      db
        .selectFrom("chain")
        .select(["id", "height", "hash", "first_height"])
        .select((select) =>
          select
            .selectFrom("reorganisation")
            .select((of) => of.fn.max("reorganisation.id").as("last"))
            .whereRef("reorganisation.chain", "=", "chain.id")
            .as("reorganisations")
        )
        .where("name", "=", name)
    ).pipe(Effect.map(([row]) => row))

    const tip: ChainReader["tip"] = Effect.map(row, (row) =>
      row === undefined || row.height === null || row.hash === null
        ? undefined
        : { height: row.height, hash: row.hash, reorganisations: row.reorganisations ?? 0 }
    )

    /** The lowest block that reorganisations after the given one left standing; undefined where there were none. */
    const forkSince = (id: number, reorganisation: number) =>
      Effect.map(
        read((db) =>
          db
            .selectFrom("reorganisation")
            .select((of) => of.fn.min("fork_height").as("fork"))
            .where("chain", "=", id)
            .where("id", ">", reorganisation)
        ),
        ([row]) => row?.fork ?? undefined
      )

    /**
     * Where to go on. Upwards, what has taken the place of undone blocks is still to be shown, so the page begins above
     * the fork; downwards everything below stays below.
     */
    const resume = Effect.fnUntraced(function* (id: number, { after, order }: PageRequest) {
      if (after === undefined) return undefined
      const [height, index, reorganisations] = after
      const fork = order === "ascending" ? yield* forkSince(id, reorganisations) : undefined
      return fork !== undefined && fork < height ? toLog(fork + 1, 0) - 1 : toLog(height, index)
    })

    const heightBetween = Effect.fnUntraced(function* (id: number, first: number, last: number, time: number) {
      let low = first
      let high = last + 1
      while (low < high) {
        const middle = Math.floor((low + high) / 2)
        const [block] = yield* read((db) =>
          db.selectFrom("block").select("time").where("chain", "=", id).where("height", "=", middle)
        )
        if (block !== undefined && block.time >= time) high = middle
        else low = middle + 1
      }
      return low
    })

    const heightSince: ChainReader["heightSince"] = Effect.fnUntraced(function* (time) {
      const at = yield* row
      return at === undefined || at.height === null
        ? 0
        : yield* heightBetween(at.id, at.first_height ?? 0, at.height, time)
    })

    const page: ChainReader["page"] = Effect.fn("ChainReader.page")(
      function* (kind, address, request) {
        while (true) {
          const before = yield* row
          if (before === undefined || before.height === null) return { transfers: [], next: undefined }
          const { id } = before
          const { hasMore, transfers } = yield* TransferLog.page(id, kind, address, {
            order: request.order,
            limit: request.limit,
            after: yield* resume(id, request),
            fromHeight:
              request.since === undefined
                ? undefined
                : yield* heightBetween(id, before.first_height ?? 0, before.height, request.since)
          })
          const heights = [...new Set(transfers.map(({ height }) => height))]
          const blocks =
            heights.length === 0
              ? []
              : yield* read((db) =>
                  db
                    .selectFrom("block")
                    .select(["height", "hash", "time"])
                    .where("chain", "=", id)
                    .where("height", "in", heights)
                )
          const after = yield* row
          // Blocks were undone meanwhile: what was read may be half of the one chain and half of the other.
          if (after?.reorganisations !== before.reorganisations) continue
          const byHeight = new Map(blocks.map((block) => [block.height, block]))
          const last = transfers.at(-1)
          return {
            transfers: transfers.map((transfer) => ({ ...transfer, block: byHeight.get(transfer.height)! })),
            next: hasMore && last !== undefined ? endOf(last, before.reorganisations ?? 0) : undefined
          }
        }
      },
      Effect.provideService(Database, database)
    )

    const each: ChainReader["each"] = Effect.fn("ChainReader.each")(
      function* (kind, address, upTo, use) {
        const at = yield* row
        if (at === undefined) return
        let after: number | undefined
        while (true) {
          const { hasMore, transfers } = yield* TransferLog.page(at.id, kind, address, {
            order: "ascending",
            limit: eachLimit,
            after
          })
          for (const { height, transfer } of transfers) {
            if (height > upTo) return
            use(transfer)
          }
          if (!hasMore) return
          after = transfers.at(-1)!.position
        }
      },
      Effect.provideService(Database, database)
    )

    const prunedTotals: ChainReader["prunedTotals"] = Effect.fnUntraced(
      function* (addresses) {
        const at = yield* row
        return at === undefined ? new Map() : yield* InternalRetention.totals(at.id, addresses)
      },
      Effect.provideService(Database, database)
    )

    const tokens: ChainReader["tokens"] = Effect.fnUntraced(
      function* (fetch, contracts) {
        const at = yield* row
        return at === undefined ? new Map() : yield* Tokens.find(at.id, fetch, contracts, at.height ?? 0)
      },
      Effect.provideService(Database, database)
    )

    const watchedBy: ChainReader["watchedBy"] = Effect.fnUntraced(function* (account, addresses) {
      const at = yield* row
      if (at === undefined) return []
      const found = new Set<string>()
      for (let from = 0; from < addresses.length; from += lookupSize) {
        const rows = yield* read((db) =>
          db
            .selectFrom("subscription")
            .select("address")
            .distinct()
            .where("chain", "=", at.id)
            .where("active", "=", 1)
            .where("account", "=", account)
            .where("address", "in", addresses.slice(from, from + lookupSize))
        )
        for (const { address } of rows) found.add(Buffer.from(address!).toString("hex"))
      }
      return addresses.filter((address) => found.has(Buffer.from(address).toString("hex")))
    })

    return { chain, name, tip, page, each, prunedTotals, tokens, heightSince, watchedBy }
  })
