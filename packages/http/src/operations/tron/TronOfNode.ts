/** The Tron side of a connected node, and what of it answers the operations that Tron shares with EVM chains. */

import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { ConnectedNode } from "@headwater/indexer/families/node/ConnectedNodes"
import type { TronSource } from "@headwater/indexer/families/tron/TronSource"
import * as Effect from "effect/Effect"
import { Unimplemented } from "../../contract/Errors.ts"
import type { WalletNode } from "../evm/Assets.ts"

export const tronOf = ({ source, tron }: ConnectedNode): Effect.Effect<TronSource, Unimplemented> =>
  tron === undefined
    ? Effect.fail(
        new Unimplemented({ message: `The node of ${source.chain.blockchain} does not support the operation` })
      )
    : Effect.succeed(tron)

/**
 * Balances are those after the newest block, the only ones that a node knows: whether that was the block asked for is
 * seen afterwards. An account that was activated has been used, as one with a nonce has.
 */
export const evmOf = (node: ConnectedNode): Effect.Effect<WalletNode & Pick<EvmNode, "logs">, Unimplemented> =>
  Effect.map(tronOf(node), (tron) => ({
    accountsAt: (addresses) =>
      Effect.map(tron.balances(addresses), (balances) =>
        balances.map((balance) => ({ balance: balance ?? 0n, nonce: balance === undefined ? 0 : 1 }))
      ),
    tokenBalancesAt: tron.tokenBalances,
    isStillAt: (block) => Effect.map(tron.head, ({ hash }) => Buffer.compare(hash, block) === 0),
    logs: tron.logs
  }))
