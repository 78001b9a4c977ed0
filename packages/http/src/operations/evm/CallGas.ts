/** The gas that a call takes, and its limit. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Preparation from "@headwater/core/evm/Preparation"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { TransactionRequest } from "@headwater/indexer/families/evm/TransactionRequest"
import * as Effect from "effect/Effect"
import { conflictingField } from "../../contract/Errors.ts"

/** Refusals that are about the transaction: reverted, or out of what a block takes. */
const wouldFail = /revert|gas required|exceeds|insufficient|out of gas|invalid opcode/i

/** The gas that a node estimates for a transaction; a refusal about the transaction is told as one about the request. */
export const estimate = (evm: EvmNode, transaction: TransactionRequest) =>
  Effect.catchTag(evm.estimateGas(transaction), "NodeRejected", ({ code, message }) =>
    Effect.fail(
      conflictingField(
        "recipient",
        code === 3 || wouldFail.test(message)
          ? `the transaction would fail: ${message.slice(0, 200)}`
          : "the node cannot say how much gas the transaction takes, so it would likely fail"
      )
    )
  )

/** A call; of a transfer of tokens with the data of one to an address that has none. */
export interface Called extends TransactionRequest {
  readonly toNobody?: Uint8Array
}

/**
 * Gas that a transfer of tokens takes to who has none: a recipient who has some now may have spent them by the time a block takes
 * the transfer, which would run out of gas. 0 for tokens that only some may hold, and for no transfer of tokens.
 */
const gasOfFirstTokens = (evm: EvmNode, { toNobody, ...transaction }: Called) =>
  toNobody === undefined
    ? Effect.succeed(0n)
    : Effect.catchTag(evm.estimateGas({ ...transaction, data: toNobody }), "NodeRejected", () => Effect.succeed(0n))

/**
 * The gas limit of a call as the state is now, for the node's estimate. An account without code takes just that: data and the account's
 * creation (EIP-8037) are known. What a contract takes, and Arbitrum's part for the layer below, may be more by then.
 */
const usualLimit = Effect.fnUntraced(function* (
  chain: Chain,
  evm: EvmNode,
  to: TransactionRequest["to"],
  estimated: bigint
) {
  const mayTakeMore = chain.evm?.dataFee === "arbitrum" || (yield* evm.hasCode(to))
  return mayTakeMore ? Preparation.withMargin(estimated) : estimated
})

/** The gas limit of a call, for the node's estimate. */
export const limit = Effect.fnUntraced(function* (chain: Chain, evm: EvmNode, called: Called, estimated: bigint) {
  const usual = yield* usualLimit(chain, evm, called.to, estimated)
  const first = yield* gasOfFirstTokens(evm, called)
  return Amount.larger(first, usual)
})
