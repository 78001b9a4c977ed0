/** What a node has to answer from. */
import type { Branch } from "./Chains.ts"

export interface View {
  readonly branch: Branch
  readonly final: number
  /** What the node has, and gives not. */
  readonly lacks: { readonly traces?: boolean }
}
