/** What an action of a Zcash transaction costs by a node (ZIP-317), which ZIP-2009 has lowered. */
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { NodeRejected } from "../../node/NodeError.ts"

/** Zebra has it; zcashd has not. */
export const call = { method: "getstandardfee", params: [] }

const first = Number(TransactionCosts.firstActionFee)
/** ZIP-2009. */
const least = 1_000

/**
 * In zatoshi; undefined where the node does not say that. A node that says more than ZIP-317 had at first is not followed, since
 * that would give coins away, and none that says less than ZIP-2009, since a payment of less waits for good.
 */
export const of = (answer: Result.Result<unknown, NodeRejected> | undefined): bigint | undefined => {
  const value = answer && Result.getOrUndefined(answer)
  const said = Predicate.isReadonlyObject(value) ? value.standard_fee : undefined
  return typeof said === "number" && Number.isInteger(said) && said >= least && said < first ? BigInt(said) : undefined
}
