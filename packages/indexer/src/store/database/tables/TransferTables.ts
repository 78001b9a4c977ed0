/** The rows of the transfer log. */
import type { Generated } from "kysely"

export interface TransferTables {
  transfer_chunk: TransferChunkTable
  staged_postings: StagedPostingsTable
  posting_run: PostingRunTable
  posting_page: PostingPageTable
  packed_transfers: TransferChunkTable
  packed_internal: TransferChunkTable
  packed_internal_default: TransferChunkTable
  internal_partition: InternalPartitionTable
  sorted_postings: PostingPageTable
}

/**
 * Up to 64 transfers of one block, of one chain and kind (its log), packed: internal transactions of a block that has a
 * partition in `packed_internal`, all others in `packed_transfers`, and those of before in `transfer_chunk`.
 */
export interface TransferChunkTable {
  log: number
  /** Of its first transfer: the height times 2^20 and the number within the block. */
  position: number
  data: Uint8Array
}

/** A partition of `packed_internal`, on PostgreSQL: of a chain's blocks from a height on, below another one. */
export interface InternalPartitionTable {
  chain: number
  from_height: number
  to_height: number
}

/** The postings of a block that are in no run yet, in the order of their positions. */
export interface StagedPostingsTable {
  log: number
  height: number
  data: Uint8Array
}

/** Sorted postings in pages. `building`: not to be read yet; `retired`: merged into a larger one. */
export interface PostingRunTable {
  id: Generated<number>
  log: number
  level: number
  first_position: number
  last_position: number
  postings: number
  state: "building" | "live" | "retired"
  /** Milliseconds since the Unix epoch. */
  changed: number
  /** 1 where the pages are in `sorted_postings`; those of before are in `posting_page`. */
  paged: number
}

/** Pages of runs: `sorted_postings`, and `posting_page` for runs of before. */
export interface PostingPageTable {
  run: number
  /** The page's first posting. */
  first: Uint8Array
  data: Uint8Array
}
