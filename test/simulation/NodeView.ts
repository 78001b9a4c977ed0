/** What a node has to answer from. */
import type { Branch } from "./Chains.ts"

/** An error that the node says. */
export class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface View {
  readonly branch: Branch
  readonly final: number
  /** What the node has, and gives not. */
  readonly lacks: { readonly traces?: boolean }
}
