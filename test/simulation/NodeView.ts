/** What a node has to answer from. */
import type { Branch, Waiting } from "./Chains.ts"

export interface View {
  readonly branch: Branch
  readonly final: number
  /** What waits for a block. */
  readonly waiting: ReadonlyArray<Waiting>
  /** Whether the node does not give all that nodes of its family have. */
  readonly lacksParts: boolean
  /** Whether the program proves what blocks hold. */
  readonly isProved: boolean
  /** Its place among the nodes of its chain, which are not all of one release. */
  readonly place: number
}
