/**
 * The chains' nodes as they are connected at the moment: whoever follows a chain says so, and whoever answers requests
 * finds its node here.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { EvmNode } from "../evm/EvmNode.ts"
import type { FetchTokenMetadata, Source } from "../Source.ts"
import type { TronSource } from "../tron/TronSource.ts"
import type { UtxoSource } from "../utxo/UtxoSource.ts"
import type { XrpSource } from "../xrp/XrpSource.ts"
import { NodeUnreachable } from "./NodeError.ts"

export interface ConnectedNode {
  readonly source: Source
  /** Names, symbols and decimals of token contracts, in families that have them. */
  readonly tokenMetadata?: FetchTokenMetadata | undefined
  /** What EVM chains can be asked beyond blocks; absent in other families. */
  readonly evm?: EvmNode | undefined
  /** The source of a UTXO chain once more, with what others lack. */
  readonly utxo?: UtxoSource | undefined
  /** The same of Tron. */
  readonly tron?: TronSource | undefined
  /** The same of XRP. */
  readonly xrp?: XrpSource | undefined
}

export class ConnectedNodes extends Context.Service<
  ConnectedNodes,
  {
    /** Makes a chain's node known until the scope closes. */
    readonly connect: (chain: Chain.Chain, node: ConnectedNode) => Effect.Effect<void, never, Scope.Scope>
    /** The node of a chain. Fails where none has answered since the last failure. */
    readonly of: (chain: Chain.Chain) => Effect.Effect<ConnectedNode, NodeUnreachable>
  }
>()("@headwater/indexer/families/node/ConnectedNodes") {
  static readonly layer = Layer.sync(ConnectedNodes, () => {
    const nodes = new Map<string, ConnectedNode>()
    return ConnectedNodes.of({
      connect: (chain, node) =>
        Effect.acquireRelease(
          Effect.sync(() => nodes.set(Chain.nameOf(chain), node)),
          () =>
            Effect.sync(() => {
              if (nodes.get(Chain.nameOf(chain)) === node) nodes.delete(Chain.nameOf(chain))
            })
        ),
      of: (chain) =>
        Effect.suspend(() => {
          const node = nodes.get(Chain.nameOf(chain))
          return node === undefined
            ? Effect.fail(
                new NodeUnreachable({ node: Chain.nameOf(chain), method: "", message: "no node is connected" })
              )
            : Effect.succeed(node)
        })
    })
  })
}
