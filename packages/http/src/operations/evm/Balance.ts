/** The coins of an address after the newest block of an EVM chain or Tron. */
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as CoinAmount from "../CoinAmount.ts"
import type { Freshness } from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { decodeAddress } from "../Field.ts"
import type { WalletNode } from "./Assets.ts"

export const make = <Node extends ConnectedNode>(
  { chain }: ChainReader,
  freshness: Freshness<Node>,
  nodeOf: (node: Node) => Pick<WalletNode, "accountsAt">
): ChainOperations["evmBalance"] =>
  Effect.fn("Balance.evmBalance")(function* (request) {
    const address = yield* decodeAddress(chain, "address", request.address)
    const node = yield* freshness.node
    const { hash } = yield* node.source.head
    const [account] = yield* nodeOf(node).accountsAt([address], hash)
    return { confirmedBalance: CoinAmount.of(chain, account!.balance) }
  }, freshness.orUnavailable)
