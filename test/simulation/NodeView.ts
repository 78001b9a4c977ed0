/** What a node has to answer from. */
import type { Branch } from "./Chains.ts"

export interface View {
  readonly branch: Branch
  readonly final: number
  /** Whether the node does not give all that nodes of its family have. */
  readonly lacksParts: boolean
  /** Its place among the nodes, which do not lie in the same way. */
  readonly place: number
}
