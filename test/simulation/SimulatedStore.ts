/** What a store stands on in the simulated world, be it SQLite's or PostgreSQL's. */
import type * as Layer from "effect/Layer"
import type * as System from "./System.ts"

export interface SimulatedStore {
  /** Where the store is, as settings have it. */
  readonly settings: () => System.Written["store"]
  /** The machine below the store in one life of the program; `isAlive`: whether the world hears of it. */
  readonly layer: (isAlive: () => boolean) => Layer.Layer<never>
  /** Reads the store as an operator would with the database's own shell. */
  readonly look: <A>(sql: string) => ReadonlyArray<A>
  /** The probability with which a statement finds the store in trouble. */
  readonly setTrouble: (probability: number) => void
  readonly isTroubled: () => boolean
  /** Ends all trouble, for the rest of the story. */
  readonly mend: () => void
  /** Goes on with what a process leaves that is killed, or whose machine loses its power. */
  readonly crash: (how: "killed" | "power") => void
  /** Whether several programs may have the store at once. */
  readonly isShared: boolean
  /** Whether a loss of power may take what was committed. */
  readonly losesCommitted: boolean
  /** Removes what was stored. */
  readonly remove: () => void
}
