/** The logs of a chain: one for each kind of transfer, and one for the parties of transactions. */
import type { TransactionParties, Transfer } from "@headwater/core/Block"

/** What a log holds: transfers, or whom transactions name. */
export type Entry = Transfer | TransactionParties

/** An entry with the id of its transaction. */
export interface PackedTransfer {
  readonly transactionId: Uint8Array
  readonly transfer: Entry
}

export type Kind = Entry["kind"]

/** The entry type of a kind. */
export type TransferOf<K extends Kind> = Extract<Entry, { readonly kind: K }>

export const kinds: ReadonlyArray<Kind> = ["coin", "token", "internal", "transaction"]

/** A table of chunks; those of before are in the last one. */
export type ChunkTable = "packed_internal" | "packed_transfers" | "transfer_chunk"

/** Where the chunks of a kind may be: internal transactions also in a table that has partitions. */
export const tablesOf = (kind: Kind, partitioned: boolean): ReadonlyArray<ChunkTable> => [
  ...(kind === "internal" && partitioned ? (["packed_internal"] as const) : []),
  "packed_transfers",
  "transfer_chunk"
]

/** The number under which a chain's transfers of one kind are kept. */
export const logOf = (chain: number, kind: Kind): number => chain * 4 + kinds.indexOf(kind)
