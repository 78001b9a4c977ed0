/**
 * The record of transfers, found by address and read in pages.
 *
 * Transfers are kept once, packed, some dozens to a row under their position (height and number within the block). What
 * an index over addresses would spread over random pages is kept as postings instead: those of the newest blocks lie
 * unsorted, a row a block; from time to time `Compaction` sorts them into a run of pages, and merges runs of like size
 * into a larger one. So a commit appends a handful of rows, whatever the size of the record.
 *
 * Nothing that is written is wrong after a reorganisation: a page may still name a position that is gone or holds
 * another transfer now, and the reader, who compares the full address, passes over it.
 */
import type { Block, InternalTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import { type ChunkTable, type Entry, type Kind, kinds, logOf, type PackedTransfer, tablesOf } from "./internal/Logs.ts"
import * as InternalPartitions from "./InternalPartitions.ts"
import * as Posting from "./internal/Posting.ts"
import * as PostingRuns from "./internal/PostingRuns.ts"
import * as TransferChunk from "./internal/TransferChunk.ts"

export type { Entry, Kind, TransferOf } from "./internal/Logs.ts"

/** What a block leaves in a log. */
interface Rows {
  readonly chunks: ReadonlyArray<Row<ChunkTable>>
  readonly unsorted: ReadonlyArray<Row<"staged_postings">>
}

/** What a block leaves in the logs of its chain, by table. */
type RowsOfBlock = {
  readonly [T in "packed_internal" | "packed_transfers" | "staged_postings"]: ReadonlyArray<Row<T>>
}

/** Transfers that are packed between two steps. */
const transfersOfStep = 128

/** Packs the transfers of a block and makes their postings, in the order of their positions. */
class BlockPacking {
  readonly #log: number
  readonly #height: number
  readonly #packing: TransferChunk.Packing
  #postings = new DataView(new ArrayBuffer(64 * Posting.width))
  #end = 0

  constructor(log: number, kind: Kind, height: number) {
    this.#log = log
    this.#height = height
    this.#packing = new TransferChunk.Packing(kind)
  }

  add(packed: PackedTransfer) {
    const { from, to } = packed.transfer
    const fromHash = from === undefined ? 0 : Posting.hash(from)
    const toHash = to === undefined ? 0 : Posting.hash(to)
    const position = Posting.positionOf(this.#height, this.#packing.add(packed, fromHash, toHash))
    if (from !== undefined) this.#post(fromHash, position)
    // One posting stands for two sides with the same hash.
    if (to !== undefined && (from === undefined || fromHash !== toHash)) this.#post(toHash, position)
  }

  #post(hash: number, position: number) {
    if (this.#end === this.#postings.byteLength) {
      this.#postings = new DataView((this.#postings.buffer as ArrayBuffer).transfer(2 * this.#end))
    }
    Posting.write(this.#postings, this.#end, hash, position)
    this.#end += Posting.width
  }

  get rows(): Rows {
    const [log, height] = [this.#log, this.#height]
    const chunks = this.#packing
      .end()
      .map((data, i) => ({ log, position: Posting.positionOf(height, i * TransferChunk.numbers), data }))
    return { chunks, unsorted: [{ log, height, data: new Uint8Array(this.#postings.buffer, 0, this.#end) }] }
  }
}

const nothing: Rows = { chunks: [], unsorted: [] }

/** A block's rows in one log. */
function* rowsOf(log: number, kind: Kind, block: Block, keep: (transfer: Entry) => boolean): Generator<void, Rows> {
  let packing: BlockPacking | undefined
  const entries: ReadonlyArray<Entry> = kind === "transaction" ? (block.parties ?? []) : block.transfers
  for (let index = 0; index < entries.length; index++) {
    if (index % transfersOfStep === 0) yield
    const transfer = entries[index]!
    if (transfer.kind !== kind || !keep(transfer)) continue
    packing ??= new BlockPacking(log, kind, block.height)
    packing.add({ transactionId: block.transactions[transfer.transaction]!, transfer })
  }
  return packing?.rows ?? nothing
}

/** Where the chunks of a block's internal transactions go: into the partition of the block, if there is one. */
export type InternalTable = "packed_internal" | "packed_transfers"

/** A block's transfers that `keep` picks, as the rows that record them. */
export function* pack(
  chain: number,
  block: Block,
  keep: (transfer: Entry) => boolean,
  internalTable: InternalTable = "packed_transfers"
): Generator<void, RowsOfBlock> {
  const rows = {
    packed_internal: [] as Array<Row<ChunkTable>>,
    packed_transfers: [] as Array<Row<ChunkTable>>,
    staged_postings: [] as Array<Row<"staged_postings">>
  } satisfies RowsOfBlock
  for (const kind of kinds) {
    const { chunks, unsorted } = yield* rowsOf(logOf(chain, kind), kind, block, keep)
    rows[kind === "internal" ? internalTable : "packed_transfers"].push(...chunks)
    rows.staged_postings.push(...unsorted)
  }
  return rows
}

/** Chunks of a log in a table, from a position on below another one. */
const chunksBetween = Effect.fnUntraced(function* (
  table: ChunkTable,
  log: number,
  range: { readonly from: number; readonly end: number; readonly limit?: number }
) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom(table)
      .selectAll()
      .where("log", "=", log)
      .where("position", ">=", range.from)
      .where("position", "<", range.end)
      .orderBy("position")
      .$if(range.limit !== undefined, (select) => select.limit(range.limit!))
  )
})

/** The chunks of one block in a log. */
const chunksOf = Effect.fnUntraced(function* (log: number, kind: Kind, height: number) {
  const { partitioned } = yield* Database
  const range = { from: Posting.positionOf(height, 0), end: Posting.positionOf(height + 1, 0) }
  const found = yield* Effect.forEach(tablesOf(kind, partitioned), (table) => chunksBetween(table, log, range))
  return { packed: found.slice(0, -1).flat(), former: found.at(-1)! }
})

const isSame = (a: Rows["chunks"], b: Rows["chunks"]) =>
  a.length === b.length &&
  a.every(({ data, position }, i) => position === b[i]!.position && Bytes.equal(data, b[i]!.data))

/** Chunks of before as they would be packed now. */
const packedNow = (log: number, kind: Kind, height: number, former: Rows["chunks"]): Rows["chunks"] => {
  const packing = new BlockPacking(log, kind, height)
  for (const { data } of former) for (const packed of TransferChunk.unpack(data)) packing.add(packed)
  return packing.rows.chunks
}

/**
 * Records a block that is recorded already: what stands there gives way to what should, and where that is the same
 * nothing is written. `which` kinds are looked at; those that were written, and the postings that are unsorted now.
 */
export const rewrite = Effect.fnUntraced(function* (
  chain: number,
  block: Block,
  keep: (transfer: Entry) => boolean,
  which: (kind: Kind) => boolean
) {
  const { defer, insertMany, partitioned } = yield* Database
  const rewritten: Array<Kind> = []
  const written: Array<Row<"staged_postings">> = []
  for (const kind of kinds.filter(which)) {
    const log = logOf(chain, kind)
    const { chunks, unsorted } = yield* TimeSlice.runInTransaction(() => rowsOf(log, kind, block, keep))
    const { former, packed } = yield* chunksOf(log, kind, block.height)
    const stands = former.length === 0 ? packed : [...packed, ...packedNow(log, kind, block.height, former)]
    // The same transfers stay under the positions that they have: somebody may be reading on from one of them.
    if (isSame(stands, chunks)) continue
    for (const table of tablesOf(kind, partitioned)) {
      yield* defer((db) =>
        db
          .deleteFrom(table)
          .where("log", "=", log)
          .where("position", ">=", Posting.positionOf(block.height, 0))
          .where("position", "<", Posting.positionOf(block.height + 1, 0))
      )
    }
    yield* defer((db) => db.deleteFrom("staged_postings").where("log", "=", log).where("height", "=", block.height))
    const isPartitioned = kind === "internal" && (yield* InternalPartitions.at(chain, block.height)) !== undefined
    yield* insertMany(isPartitioned ? "packed_internal" : "packed_transfers", chunks)
    yield* insertMany("staged_postings", unsorted)
    rewritten.push(kind)
    written.push(...unsorted)
  }
  return { rewritten, unsorted: written } as const
})

/** Takes back every block above `fork`; in the transaction that undoes it. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer, partitioned } = yield* Database
  for (const kind of kinds) {
    const log = logOf(chain, kind)
    for (const table of tablesOf(kind, partitioned)) {
      yield* defer((db) =>
        db
          .deleteFrom(table)
          .where("log", "=", log)
          .where("position", ">=", Posting.positionOf(fork + 1, 0))
      )
    }
    yield* defer((db) => db.deleteFrom("staged_postings").where("log", "=", log).where("height", ">", fork))
  }
})

/** Chunks of a table that go in one step of {@link forgetInternal}, about, and the pause in which others may write. */
const forgetStep = 100
const forgetPause = "5 millis"

/** About a step's chunks of a table, and the position below which these are all: whole blocks. */
const stepOf = Effect.fnUntraced(function* (table: ChunkTable, log: number, from: number, end: number) {
  const chunks = yield* chunksBetween(table, log, { from, end, limit: forgetStep + 1 })
  const beyond = chunks[forgetStep]
  if (beyond === undefined) return { chunks, end }
  const [first, height] = [Posting.heightOf(chunks[0]!.position), Posting.heightOf(beyond.position)]
  if (height > first) return { chunks, end: Posting.positionOf(height, 0) }
  const next = Posting.positionOf(first + 1, 0)
  return { chunks: yield* chunksBetween(table, log, { from, end: next }), end: next }
})

/** Where rows of forgotten blocks are deleted: those in a partition of their own go with that. */
const deletedFrom = (table: ChunkTable) => (table === "packed_internal" ? "packed_internal_default" : table)

/**
 * Forgets internal transactions below a height, some blocks at a time, under the lock of the chain's row, which says up to
 * where they are forgotten; postings go with the runs they are in. `forget` is given what is forgotten, in that transaction.
 */
export const forgetInternal = Effect.fn("TransferLog.forgetInternal")(function* (
  chain: number,
  below: number,
  forget: (transfers: ReadonlyArray<InternalTransfer>) => Effect.Effect<void, DatabaseError, Database>
) {
  const { partitioned, query, transaction } = yield* Database
  const log = logOf(chain, "internal")
  const step = Effect.gen(function* () {
    const { height, internal_forgotten_below: forgotten } = yield* ChainRow.lock(chain)
    // The chain may have been rewound: blocks that are yet to come are not forgotten.
    const last = Math.min(below, (height ?? -1) + 1)
    if (forgotten >= last) return true
    const found = yield* Effect.forEach(tablesOf("internal", partitioned), (table) => {
      // Elsewhere nothing that has been summed up is left.
      const from = table === "packed_internal" ? Posting.positionOf(forgotten, 0) : 0
      return Effect.map(stepOf(table, log, from, Posting.positionOf(last, 0)), (step) => ({ ...step, table }))
    })
    const end = Math.min(...found.map(({ end }) => end))
    const chunks = found.flatMap(({ chunks }) => chunks.filter(({ position }) => position < end))
    yield* forget(
      chunks.flatMap(({ data }) => TransferChunk.unpack(data).map(({ transfer }) => transfer as InternalTransfer))
    )
    yield* ChainRow.forgetInternalBelow(chain, Posting.heightOf(end))
    for (const { chunks, table } of found) {
      if (chunks.length === 0) continue
      yield* query((db) => db.deleteFrom(deletedFrom(table)).where("log", "=", log).where("position", "<", end))
    }
    return Posting.heightOf(end) === last
  })
  if ((yield* ChainRow.internalRememberedFrom(chain)) >= below) return
  while (!(yield* transaction(step))) yield* Effect.sleep(forgetPause)
  yield* PostingRuns.drop(log, Posting.positionOf(yield* ChainRow.internalRememberedFrom(chain), 0))
})
