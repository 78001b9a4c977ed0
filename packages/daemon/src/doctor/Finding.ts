/** A result of the doctor's: what was checked, with which result, and the advice where something is wrong. */
import type { NodeFinding } from "@headwater/indexer/families/node/NodeFinding"

export interface Finding extends NodeFinding {
  /** `settings`, `store`, or a chain and its node. */
  readonly subject: string
}
