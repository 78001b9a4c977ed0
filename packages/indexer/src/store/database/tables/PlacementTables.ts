/** The rows of daemons that share the store. */
import type { Generated } from "kysely"

export interface PlacementTables {
  daemon: DaemonTable
  placement: PlacementTable
}

/** A daemon that shares the store. Times are those of the store's own clock, in milliseconds since the Unix epoch. */
export interface DaemonTable {
  id: Generated<number>
  name: string
  version: string
  /** Joined by commas. */
  roles: string
  /** Names of the chains that it may follow, joined by commas. */
  chains: string
  started: number
  /** When the daemon last said that it runs. */
  heartbeat: number
}

/** Which daemon follows a chain. */
export interface PlacementTable {
  /** `blockchain/network`. */
  chain: string
  /** The daemon that follows the chain, or is about to; null where none can. */
  daemon: number | null
  /** Since when, as {@link DaemonTable} has times. */
  since: number | null
  /** The daemon that the chain goes to, once the present one has ended its work on it; null where the chain stays. */
  successor: number | null
  /** The name of the daemon that an operator wants to follow the chain. */
  pinned: string | null
}
