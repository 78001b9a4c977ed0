/** What the doctor has looked at: how it is, and what to do where it is not well. */
import type { NodeFinding } from "@headwater/indexer/families/node/NodeFinding"

export interface Finding extends NodeFinding {
  /** `settings`, `store`, or a chain and its node. */
  readonly subject: string
}
