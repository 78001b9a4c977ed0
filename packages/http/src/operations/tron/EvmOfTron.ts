/** What of a Tron node answers the operations that Tron shares with EVM chains. */
import type { TronConnection } from "@headwater/indexer/families/tron/TronConnection"
import * as Effect from "effect/Effect"
import type { SharedNode } from "../evm/EvmOperations.ts"

/**
 * Balances are those after the newest block, the only ones that a node knows: whether that was the block asked for is
 * seen afterwards. An account that was activated has been used, as one with a nonce has.
 */
export const evmOf = ({ source }: TronConnection): SharedNode => ({
  accountsAt: (addresses) =>
    Effect.map(source.balances(addresses), (balances) =>
      balances.map((balance) => ({ balance: balance ?? 0n, nonce: balance === undefined ? 0 : 1 }))
    ),
  tokenBalancesAt: source.tokenBalances,
  isStillAt: (block) => Effect.map(source.head, ({ hash }) => Buffer.compare(hash, block) === 0),
  logs: source.logs
})
