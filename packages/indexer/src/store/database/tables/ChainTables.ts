/** The rows of chains: blocks, what the record has and lacks of them, coins and tokens. */
import type { Generated } from "kysely"

export interface ChainTables {
  chain: ChainTable
  block: BlockTable
  reorganisation: ReorganisationTable
  replay: ReplayTable
  missing_parts: MissingPartsTable
  skipped_blocks: SkippedBlocksTable
  not_understood: NotUnderstoodTable
  completeness: CompletenessTable
  unspent_output: UnspentOutputTable
  spent_output: SpentOutputTable
  token: TokenTable
  pruned_internal: PrunedInternalTable
  coin_total: CoinTotalTable
}

/** A followed chain and its cursor: the last committed block. */
export interface ChainTable {
  id: Generated<number>
  /** `blockchain/network`. */
  name: string
  height: number | null
  hash: Uint8Array | null
  /** The newest height that a node has called final. */
  final_height: number | null
  /** The first height that was committed. */
  first_height: number | null
  /** Counts changes of the chain's subscriptions, and undos; taken under the row's lock, so it orders them with the commits. */
  revision: Generated<number>
  /** Transfers, outputs and tokens of every address are recorded from this block on; null where only watched ones are. */
  all_from: number | null
  /** The internal transactions of every block are recorded from this one on, or are missing parts; null where not. */
  internal_from: number | null
  /** Internal transactions of blocks below this one have been forgotten: `pruned_internal` has their sums. */
  internal_forgotten_below: Generated<number>
  /** Outputs that were spent from this block on are remembered; null: all that were ever recorded. */
  spent_from: number | null
  /** Of outputs: the first and the last block with a transaction that may have moved coins unseen; null where none has. */
  coins_lost_from: number | null
  coins_lost_to: number | null
  /** The parties of recorded transactions are recorded from this block on. */
  parties_from: Generated<number>
  /** Who began to follow the chain last; see `Fence.ts`. */
  epoch: Generated<number>
  /** Counts changes of blocks that were recorded before; taken under the row's lock. */
  coin_changes: Generated<number>
}

export interface BlockTable {
  chain: number
  height: number
  hash: Uint8Array
  parent: Uint8Array
  /** Seconds since the Unix epoch. */
  time: number
}

/** A reorganisation that was carried out. */
export interface ReorganisationTable {
  id: Generated<number>
  chain: number
  /** Milliseconds since the Unix epoch. */
  at: number
  /** The last block that both branches share. */
  fork_height: number
  /** Blocks undone. */
  depth: number
  old_hash: Uint8Array
}

/** A replay that is under way, or was interrupted. */
export interface ReplayTable {
  chain: number
  from_height: number
  to_height: number
  /** Every block below it has been replayed. */
  next_height: number
  callbacks: number
}

/** A part that no node could give of committed blocks in a row. Ranges of a chain do not touch. */
export interface MissingPartsTable {
  chain: number
  part: "internal"
  /** The first and the last height. */
  from_height: number
  to_height: number
  /** That of the last block that was committed without the part, in the node's words. */
  reason: string
}

/** Blocks that an operator has given up. */
export interface SkippedBlocksTable {
  chain: number
  /** The first and the last height. */
  from_height: number
  to_height: number
  /** Milliseconds since the Unix epoch. */
  at: number
}

/** A transaction that was not understood in full, as `NotUnderstood` in core's Block. */
export interface NotUnderstoodTable {
  chain: number
  height: number
  /** Numbers those of a block. */
  position: number
  transaction_id: Uint8Array | null
  reason: string
  transfers: number
  raw: string
  /** Whether transfers of the kind may be missing: 0 or 1. */
  lacks_coin: number
  lacks_token: number
  lacks_internal: number
}

/**
 * The first block from which on the record of a watched address is complete, for each of its three parts; 0 is from the
 * beginning, null is unknown. Says nothing of an address that is not watched any more.
 */
export interface CompletenessTable {
  chain: number
  address: Uint8Array
  /**
   * What the address held before this block, on UTXO chains its unspent outputs, and every change since. On account
   * chains the block after the one at which a node was asked for the account.
   */
  coins: number | null
  /** The token transfers of this block and every later one. */
  tokens: number | null
  /** The coin and internal transfers of this block and every later one. */
  history: number | null
  /** The transactions that name the address, in this block and every later one; on UTXO chains where `coins` are known. */
  transactions: number | null
}

/** The UTXO set of a chain: whose coins an input spends, and what an address has. */
export interface UnspentOutputTable {
  chain: number
  transaction_id: Uint8Array
  output_index: number
  script: Uint8Array
  amount: string
  height: number
}

/** Outputs spent in blocks that a reorganisation may still undo. */
export interface SpentOutputTable extends UnspentOutputTable {
  spent_height: number
}

/** What a token contract says of itself; empty or null where it says nothing that can be read. */
export interface TokenTable {
  chain: number
  contract: Uint8Array
  name: string
  symbol: string
  decimals: number | null
  /** The block that made it be asked for. */
  height: number
  /** When a node was asked for it last, in seconds since the Unix epoch; 0 where that is not known. */
  asked_at: Generated<number>
}

/** Sums of the coins of an address up to a block, as decimal text. */
export interface CoinTotalTable {
  chain: number
  address: Uint8Array
  /** The last block that is counted. */
  height: number
  received: string
  spent: string
}

export interface PrunedInternalTable {
  chain: number
  address: Uint8Array
  received: string
  spent: string
}
