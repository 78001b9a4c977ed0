/** The rows of programs that embed the indexer. */
import type { Generated } from "kysely"

export interface ConsumerTables {
  consumed_block: ConsumedBlockTable
  consumer: ConsumerTable
}

/**
 * A block with the events of it that consumers are told, on the chain or no longer on it. A step back to an earlier block is
 * a row as well, by which what leaves is counted: its `left_number` is its own number.
 */
export interface ConsumedBlockTable {
  chain: number
  /** Counts up with every block that comes, and with every step back. */
  number: number
  /** Of the step back by which the block left the chain; null as long as it is on the chain. */
  left_number: number | null
  height: number
  hash: Uint8Array
  parent: Uint8Array
  /** Seconds since the Unix epoch. */
  time: number
  /** JSON of `store/consumers/BlockEvents`. */
  content: string
  /** The row's own number, where it is what became known later of a block, whose row is above or forgotten; else 0. */
  completion: number
  /**
   * The kinds of events that the block may have yet, with commas, and before them `unresolved` where movements are in doubt;
   * empty where another row says that.
   */
  lacks: string
}

/** How far a program that embeds the indexer has come on a chain. */
export interface ConsumerTable {
  id: Generated<number>
  name: string
  chain: number
  /** The first block that the consumer is told of. */
  from_height: number
  /** The number of `consumed_block` up to which the consumer has acknowledged. */
  position: number
  /** The number of the last step back whose undone blocks the consumer has acknowledged, not below the position. */
  stepped_back: number
  /** The number up to which the consumer was ever told, outside our transactions: what it has of that nobody knows. */
  told: number
  /** The last block of its chain that the consumer has acknowledged; null where that is none. */
  height: number | null
}
