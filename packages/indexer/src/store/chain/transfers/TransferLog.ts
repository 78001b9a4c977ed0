/**
 * The record of transfers, found by address and read in pages.
 *
 * Transfers are kept once, packed, 64 to a row under their position (height and number within the block). What an
 * index over addresses would spread over random pages is kept as postings instead: those of the newest blocks lie
 * unsorted, a row a block; from time to time `Compaction` sorts them into a run of pages, and merges runs of like size
 * into a larger one. So a commit appends a handful of rows, whatever the size of the record.
 *
 * Nothing that is written is wrong after a reorganisation: a page may still name a position that is gone or holds
 * another transfer now, and the reader, who compares the full address, passes over it.
 */
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as TimeSlice from "../../../TimeSlice.ts"
import { Database, type DatabaseError } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import { type Entry, type Kind, kinds, logOf, type TransferOf } from "./internal/Logs.ts"
import * as Posting from "./internal/Posting.ts"
import * as PostingRuns from "./internal/PostingRuns.ts"
import * as TransferChunk from "./internal/TransferChunk.ts"

export type { Entry, Kind, TransferOf } from "./internal/Logs.ts"

/** What blocks leave in the logs of their chain. */
export interface Rows {
  readonly chunks: ReadonlyArray<Row<"transfer_chunk">>
  readonly unsorted: ReadonlyArray<Row<"staged_postings">>
}

/** Transfers whose postings are made between two steps. */
const transfersOfStep = 512

function* postingsOf(height: number, packed: ReadonlyArray<TransferChunk.PackedTransfer>): Generator<void, Uint8Array> {
  const bytes = Buffer.allocUnsafe(packed.length * 2 * Posting.width)
  let at = 0
  const add = (address: Uint8Array | undefined, index: number) => {
    if (address === undefined) return
    Posting.write(bytes, at, Posting.hash(address), Posting.positionOf(height, index))
    at += Posting.width
  }
  for (const [index, { transfer }] of packed.entries()) {
    const { from, to } = transfer
    add(from, index)
    if (from === undefined || to === undefined || !Bytes.equal(from, to)) add(to, index)
    if (index % transfersOfStep === 0) yield
  }
  return Uint8Array.prototype.slice.call(bytes, 0, at)
}

/** A block's rows in one log. */
function* rowsOf(log: number, kind: Kind, block: Block, keep: (transfer: Entry) => boolean): Generator<void, Rows> {
  const packed: Array<TransferChunk.PackedTransfer> = []
  const entries: ReadonlyArray<Entry> = kind === "transaction" ? (block.parties ?? []) : block.transfers
  for (const [index, transfer] of entries.entries()) {
    if (index % transfersOfStep === 0) yield
    if (transfer.kind !== kind || !keep(transfer)) continue
    packed.push({ transactionId: block.transactions[transfer.transaction]!, transfer })
  }
  if (packed.length === 0) return { chunks: [], unsorted: [] }
  const chunks: Array<Row<"transfer_chunk">> = []
  for (let i = 0; i < packed.length; i += TransferChunk.size) {
    const data = TransferChunk.pack(packed.slice(i, i + TransferChunk.size))
    chunks.push({ log, position: Posting.positionOf(block.height, i), data })
    yield
  }
  return { chunks, unsorted: [{ log, height: block.height, data: yield* postingsOf(block.height, packed) }] }
}

/** A block's transfers that `keep` picks, as the rows that record them. */
export function* pack(chain: number, block: Block, keep: (transfer: Entry) => boolean): Generator<void, Rows> {
  const all: Array<Rows> = []
  for (const kind of kinds) all.push(yield* rowsOf(logOf(chain, kind), kind, block, keep))
  return { chunks: all.flatMap(({ chunks }) => chunks), unsorted: all.flatMap(({ unsorted }) => unsorted) }
}

/** The chunks of one block in a log. */
const chunksOf = Effect.fnUntraced(function* (log: number, height: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("transfer_chunk")
      .selectAll()
      .where("log", "=", log)
      .where("position", ">=", Posting.positionOf(height, 0))
      .where("position", "<", Posting.positionOf(height + 1, 0))
      .orderBy("position")
  )
})

const isSame = (a: Rows["chunks"], b: Rows["chunks"]) =>
  a.length === b.length &&
  a.every(({ data, position }, i) => position === b[i]!.position && Bytes.equal(data, b[i]!.data))

/**
 * Records a block that is recorded already: what stands there gives way to what should, and where that is the same
 * nothing is written. `which` kinds are looked at; the postings that are unsorted now.
 */
export const rewrite = Effect.fnUntraced(function* (
  chain: number,
  block: Block,
  keep: (transfer: Entry) => boolean,
  which: (kind: Kind) => boolean
) {
  const { defer, insertMany } = yield* Database
  const written: Array<Row<"staged_postings">> = []
  for (const kind of kinds.filter(which)) {
    const log = logOf(chain, kind)
    const { chunks, unsorted } = yield* TimeSlice.runInTransaction(() => rowsOf(log, kind, block, keep))
    if (isSame(yield* chunksOf(log, block.height), chunks)) continue
    yield* defer((db) =>
      db
        .deleteFrom("transfer_chunk")
        .where("log", "=", log)
        .where("position", ">=", Posting.positionOf(block.height, 0))
        .where("position", "<", Posting.positionOf(block.height + 1, 0))
    )
    yield* defer((db) => db.deleteFrom("staged_postings").where("log", "=", log).where("height", "=", block.height))
    yield* insertMany("transfer_chunk", chunks)
    yield* insertMany("staged_postings", unsorted)
    written.push(...unsorted)
  }
  return written
})

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

/** Chunks that go in one step of {@link prune}, and the pause in which others may write. */
const pruneStep = 100
const prunePause = "5 millis"

/** The last position of the next chunks below `end`; undefined where there are none. */
const nextStep = Effect.fnUntraced(function* (log: number, end: number) {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("transfer_chunk")
      .select("position")
      .where("log", "=", log)
      .where("position", "<", end)
      .orderBy("position")
      .limit(pruneStep)
  )
  return rows.at(-1)?.position
})

/**
 * Forgets transfers of a kind below a height, a step at a time; postings go with the runs they are in. `forget` is given
 * the transfers that go, in the transaction in which they go.
 */
export const prune = Effect.fn("TransferLog.prune")(function* <K extends Kind>(
  chain: number,
  kind: K,
  below: number,
  forget: (transfers: ReadonlyArray<TransferOf<K>>) => Effect.Effect<void, DatabaseError, Database> = () => Effect.void
) {
  const { query, transaction } = yield* Database
  const log = logOf(chain, kind)
  const end = Posting.positionOf(below, 0)
  while (true) {
    const last = yield* nextStep(log, end)
    if (last === undefined) break
    yield* transaction(
      Effect.gen(function* () {
        const gone = yield* query((db) =>
          db.deleteFrom("transfer_chunk").where("log", "=", log).where("position", "<=", last).returning("data")
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
