/** The rows of transactions that were given to nodes. */
import type { Generated } from "kysely"

export interface BroadcastTables {
  broadcast: BroadcastTable
}

/**
 * What became of a broadcast transaction: sent to nodes, mined, mined as failed or refused, replaced by another one, no
 * longer known to any node, or not known yet.
 */
export type BroadcastOutcome = "unknown" | "sent" | "mined" | "failed" | "replaced" | "dropped"

/** A transaction that an account has broadcast. */
export interface BroadcastTable {
  id: Generated<number>
  account: number
  chain: number
  transaction_id: Uint8Array
  raw: Uint8Array
  outcome: BroadcastOutcome
  /** Why the chain has it as failed, or will not have it. */
  error: string | null
  /** The block that has it. */
  height: number | null
  hash: Uint8Array | null
  /** Looks in a row at which no node had it. */
  absences: Generated<number>
  /** A height of the chain, up to which no block has it; where the outcome changes, the chain's height then. */
  since_height: number
  /** The height of the chain from which on it is looked for again; null where the outcome is final. */
  next_look: number | null
  /** Milliseconds since the Unix epoch, as the time of the last change of the outcome. */
  created: number
  changed: number
  /** Its place in the row of its sender's transactions; null where the chain does not count them. */
  sender: Uint8Array | null
  nonce: number | null
  /** The most that it takes of its sender, in the coin's smallest unit; null beside no nonce, and of before this was kept. */
  cost: string | null
  /** Contract of the tokens that it moves from its sender, and how many, in their smallest unit; null of none. */
  token: Uint8Array | null
  token_amount: string | null
  /** Tells the account what became of it; null where nobody is told. */
  subscription: number | null
  /** The event that was told last, and how often any was told. */
  told: string | null
  tellings: Generated<number>
}
