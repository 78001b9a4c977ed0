/** What an action of a Zcash transaction costs by a node (ZIP-317), which ZIP-2009 has lowered. */
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { NodeRejected } from "../../node/NodeError.ts"

/** Zebra has it; zcashd has not. */
export const call = { method: "getstandardfee", params: [] }

const first = Number(TransactionCosts.firstActionFee)

/**
 * In zatoshi; undefined where the node does not say that. One that says more than ZIP-317 had at first is not followed: it would give
 * coins away.
 */
export const of = (answer: Result.Result<unknown, NodeRejected> | undefined): bigint | undefined => {
  const value = answer && Result.getOrUndefined(answer)
  const said = Predicate.isReadonlyObject(value) ? value.standard_fee : undefined
  return typeof said === "number" && Number.isSafeInteger(said) && said > 0 && said < first ? BigInt(said) : undefined
}
