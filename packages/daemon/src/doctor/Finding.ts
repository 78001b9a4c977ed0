/** A result of the doctor's: what was checked, with which result, and the advice where something is wrong. */
import type { CodedFinding, WellFinding } from "@headwater/indexer/families/node/NodeFinding"
import type { FindingCode } from "./FindingExplanations.ts"

/** A finding, whatever it is about. */
export type Unaddressed = WellFinding | CodedFinding<FindingCode>

export type Finding = Unaddressed & {
  /** `settings`, `store`, or a chain and its node. */
  readonly subject: string
}
