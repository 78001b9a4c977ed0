/** What an action of a Zcash transaction costs by a node (ZIP-317), which ZIP-2009 has lowered. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { NodeRejected } from "../../node/NodeError.ts"

const isCharged = ({ utxo }: Chain) => utxo!.wireFormat === "zcash"

/** What a node of the chain is asked, if anything: Zebra has it, zcashd has not. */
export const calls = (chain: Chain) => (isCharged(chain) ? [{ method: "getstandardfee", params: [] }] : [])

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

/** The most that transactions pay by actions of that fee for 1,000 bytes; 0 on chains that have no such fee. */
export const rateOf = (chain: Chain, action: bigint | undefined): bigint =>
  isCharged(chain) ? TransactionCosts.conventionalRate(action) : 0n
