/**
 * The record of transfers, found by address and read in pages.
 *
 * Transfers are kept once, packed, 64 to a row under their position (height and number within the block). What an
 * index over addresses would spread over random pages is kept as postings instead: those of the newest blocks lie
 * staged, a row a block; from time to time the staged ones are sorted into a run of pages, and runs of like size are
 * merged into a larger one. So a commit appends a handful of rows, whatever the size of the record.
 *
 * Nothing that is written is wrong after a reorganisation: a page may still name a position that is gone or holds
 * another transfer now, and the reader, who compares the full address, passes over it.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { Database, type DatabaseError } from "../../database/Database.ts"
import * as Posting from "./internal/Posting.ts"
import * as PostingRuns from "./internal/PostingRuns.ts"
import * as TransferChunk from "./internal/TransferChunk.ts"

export type Kind = Transfer["kind"]

/** The transfer type of a kind. */
export type TransferOf<K extends Kind> = Extract<Transfer, { readonly kind: K }>

const kinds: ReadonlyArray<Kind> = ["coin", "token", "internal"]

/** The number under which a chain's transfers of one kind are kept. */
const logOf = (chain: number, kind: Kind): number => chain * 4 + kinds.indexOf(kind)

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
}

/** Positions count transfers within a block below this, blocks above. */
export const perBlock = Posting.perBlock

/** Staged postings of one log that make it worth a run. */
export const stagedLimit = 65_536

/** A block's rows in one log. */
const rowsOf = (chain: number, kind: Kind, block: Block, keep: (transfer: Transfer) => boolean) => {
  const log = logOf(chain, kind)
  const packed: Array<TransferChunk.PackedTransfer> = []
  for (const transfer of block.transfers) {
    if (transfer.kind !== kind || !keep(transfer)) continue
    packed.push({ transactionId: block.transactions[transfer.transaction]!, transfer })
  }
  const chunks: Array<{ log: number; position: number; data: Uint8Array }> = []
  for (let i = 0; i < packed.length; i += TransferChunk.size) {
    const data = TransferChunk.pack(packed.slice(i, i + TransferChunk.size))
    chunks.push({ log, position: Posting.positionOf(block.height, i), data })
  }
  const staged = packed.length === 0 ? [] : [{ log, height: block.height, data: postingsOf(block.height, packed) }]
  return { log, chunks, staged }
}

const countOf = (staged: ReadonlyArray<{ readonly data: Uint8Array }>) =>
  staged.reduce((sum, { data }) => sum + data.length / Posting.width, 0)

/** A block's rows in all logs of its chain. */
export type Rows = ReadonlyArray<ReturnType<typeof rowsOf>>

/** What a block's transfers that `keep` picks are in the logs of its chain. */
export const pack = (chain: number, block: Block, keep: (transfer: Transfer) => boolean): Rows =>
  kinds.map((kind) => rowsOf(chain, kind, block, keep))

/** Records blocks in their transaction; how many postings that staged. */
export const append = Effect.fnUntraced(function* (blocks: ReadonlyArray<Rows>) {
  const { insertMany } = yield* Database
  const logs = blocks.flat()
  const staged = logs.flatMap(({ staged }) => staged)
  yield* insertMany(
    "transfer_chunk",
    logs.flatMap(({ chunks }) => chunks)
  )
  yield* insertMany("staged_postings", staged)
  return countOf(staged)
})

/**
 * As `append`, for a block that is recorded already: what stands there gives way to what should, and where that is the
 * same nothing is written. `which` kinds are looked at; how many postings that staged.
 */
export const rewrite = Effect.fnUntraced(function* (
  chain: number,
  block: Block,
  keep: (transfer: Transfer) => boolean,
  which: (kind: Kind) => boolean
) {
  const { insertMany, query, defer } = yield* Database
  let count = 0
  for (const kind of kinds.filter(which)) {
    const { chunks, log, staged } = rowsOf(chain, kind, block, keep)
    const [first, end] = [Posting.positionOf(block.height, 0), Posting.positionOf(block.height + 1, 0)]
    const present = yield* query((db) =>
      db
        .selectFrom("transfer_chunk")
        .select(["position", "data"])
        .where("log", "=", log)
        .where("position", ">=", first)
        .where("position", "<", end)
        .orderBy("position")
    )
    const same =
      present.length === chunks.length &&
      present.every(({ data, position }, i) => position === chunks[i]!.position && Bytes.equal(data, chunks[i]!.data))
    if (same) continue
    yield* defer((db) =>
      db.deleteFrom("transfer_chunk").where("log", "=", log).where("position", ">=", first).where("position", "<", end)
    )
    yield* defer((db) => db.deleteFrom("staged_postings").where("log", "=", log).where("height", "=", block.height))
    yield* insertMany("transfer_chunk", chunks)
    yield* insertMany("staged_postings", staged)
    count += countOf(staged)
  }
  return count
})

const postingsOf = (height: number, packed: ReadonlyArray<TransferChunk.PackedTransfer>): Uint8Array => {
  const bytes = Buffer.allocUnsafe(packed.length * 2 * Posting.width)
  let at = 0
  const add = (address: Uint8Array | undefined, index: number) => {
    if (address === undefined) return
    Posting.write(bytes, at, Posting.hash(address), Posting.positionOf(height, index))
    at += Posting.width
  }
  packed.forEach(({ transfer: { from, to } }, index) => {
    add(from, index)
    if (from === undefined || to === undefined || !Bytes.equal(from, to)) add(to, index)
  })
  return Uint8Array.prototype.slice.call(bytes, 0, at)
}

/** Takes back every block above `fork`; in the transaction that undoes it. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  for (const kind of kinds) {
    const log = logOf(chain, kind)
    yield* defer((db) =>
      db
        .deleteFrom("transfer_chunk")
        .where("log", "=", log)
        .where("position", ">=", Posting.positionOf(fork + 1, 0))
    )
    yield* defer((db) => db.deleteFrom("staged_postings").where("log", "=", log).where("height", ">", fork))
  }
})

/**
 * Sorts what is staged into runs where it has become much, and merges runs: in small steps, outside of commits. Returns
 * when there is nothing more to do.
 */
export const maintain = Effect.fn("TransferLog.maintain")(function* (chain: number, limit = stagedLimit) {
  for (const kind of kinds) {
    const log = logOf(chain, kind)
    yield* PostingRuns.flush(log, limit)
    yield* PostingRuns.merge(log)
  }
})

/**
 * Tends the log of a chain beside its commits for as long as the scope lives, at first and whenever as much has been
 * staged as makes it worth it: commits say how many postings they have `staged`.
 */
export const tended = Effect.fnUntraced(function* (chain: number) {
  let postings = stagedLimit
  yield* Effect.suspend(() => {
    if (postings < stagedLimit) return Effect.void
    postings = 0
    return maintain(chain)
  }).pipe(
    Effect.catchTag("DatabaseError", (error) => Effect.logWarning(`Tending the transfer log failed: ${error.message}`)),
    Effect.repeat(Schedule.spaced("200 millis")),
    Effect.forkScoped
  )
  return {
    staged: (count: number) => {
      postings += count
    }
  }
})

/** Chunks that go in one step of {@link prune}, and the pause in which others may write. */
const pruneStep = 100
const prunePause = "5 millis"

/**
 * Forgets transfers of a kind below a height, a step at a time; postings go with the runs they are in. `forget` is told
 * what goes, in the transaction in which it goes.
 */
export const prune = Effect.fn("TransferLog.prune")(function* <K extends Kind>(
  chain: number,
  kind: K,
  below: number,
  forget: (transfers: ReadonlyArray<TransferOf<K>>) => Effect.Effect<void, DatabaseError, Database> = () => Effect.void
) {
  const { query, read, transaction } = yield* Database
  const log = logOf(chain, kind)
  const end = Posting.positionOf(below, 0)
  while (true) {
    const rows = yield* read((db) =>
      db
        .selectFrom("transfer_chunk")
        .select("position")
        .where("log", "=", log)
        .where("position", "<", end)
        .orderBy("position")
        .limit(pruneStep)
    )
    const last = rows.at(-1)
    if (last === undefined) break
    yield* transaction(
      Effect.gen(function* () {
        const gone = yield* query((db) =>
          db
            .deleteFrom("transfer_chunk")
            .where("log", "=", log)
            .where("position", "<=", last.position)
            .returning("data")
        )
        yield* forget(
          gone.flatMap(({ data }) => TransferChunk.unpack(data).map(({ transfer }) => transfer as TransferOf<K>))
        )
      })
    )
    yield* Effect.sleep(prunePause)
  }
  yield* PostingRuns.drop(log, end)
})

/** What {@link page} answers: transfers in the wanted order, and whether there are more beyond the last one. */
export interface Page<K extends Kind> {
  readonly transfers: ReadonlyArray<Recorded<K>>
  readonly hasMore: boolean
}

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
    while (found.length < wanted) {
      // One more than is wanted: postings that turn out to be stale are made up for by the next round.
      const positions = yield* PostingRuns.positions(log, address, { ...request, after, limit: wanted })
      const transfers = yield* fetch<K>(log, positions)
      for (const recorded of transfers) {
        if (found.length < wanted && names(recorded.transfer, address)) found.push(recorded)
      }
      if (positions.length < wanted) break
      after = positions.at(-1)!
    }
    return { transfers: found.slice(0, request.limit), hasMore: found.length > request.limit }
  })

const names = ({ from, to }: Transfer, address: AddressBytes): boolean =>
  (from !== undefined && Bytes.equal(from, address)) || (to !== undefined && Bytes.equal(to, address))

/** The transfers at these positions, in their order; positions that hold none are left out. */
const fetch = Effect.fnUntraced(function* <K extends Kind>(log: number, positions: ReadonlyArray<number>) {
  const { read } = yield* Database
  const chunkOf = (position: number) => position - (position % TransferChunk.size)
  const keys = [...new Set(positions.map(chunkOf))]
  const rows =
    keys.length === 0
      ? []
      : yield* read((db) =>
          db
            .selectFrom("transfer_chunk")
            .select(["position", "data"])
            .where("log", "=", log)
            .where("position", "in", keys)
        )
  const chunks = new Map(rows.map((row) => [row.position, TransferChunk.unpack(row.data)]))
  return positions.flatMap((position): ReadonlyArray<Recorded<K>> => {
    const packed = chunks.get(chunkOf(position))?.[position % TransferChunk.size]
    if (packed === undefined) return []
    const transfer = packed.transfer as TransferOf<K>
    return [{ position, height: Posting.heightOf(position), transactionId: packed.transactionId, transfer }]
  })
})
