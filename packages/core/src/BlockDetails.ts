/** The newest block of a UTXO chain as the interface shows it (section 2.8). */
import * as Schema from "effect/Schema"

export const BlockDetails = Schema.Struct({
  /** The compact target as an integer. */
  bits: Schema.Int,
  /** Hex; empty where the chain's node shows none. */
  chainwork: Schema.String,
  /** Rounded down. */
  difficulty: Schema.Int,
  merkleRoot: Schema.String,
  /** Bytes. */
  size: Schema.Int,
  version: Schema.Int,
  hash: Schema.String,
  height: Schema.Int,
  /** 64 zeros for the genesis block. */
  previousBlockHash: Schema.String,
  /** Bytes without witness data; the size on a chain that has none. */
  strippedSize: Schema.Int,
  /** Seconds since the Unix epoch. */
  timestamp: Schema.Int,
  transactionsCount: Schema.Int,
  /** Eight hex digits. */
  versionHex: Schema.String,
  /** BIP-141; four times the size on a chain without witness data. */
  weight: Schema.Int
})
export type BlockDetails = typeof BlockDetails.Type
