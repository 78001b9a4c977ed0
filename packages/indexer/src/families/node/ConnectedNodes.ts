/**
 * The chains' nodes as they are connected at present: the supervision of chains enters a node here, and endpoints find
 * the node of their chain.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type ConnectedNode, type Family, type FamilyFields, isNodeOf } from "../Family.ts"
import { NodeUnreachable } from "./NodeError.ts"

export class ConnectedNodes extends Context.Service<
  ConnectedNodes,
  {
    /** Makes a chain's node known until the scope closes. */
    readonly connect: (chain: Chain.Chain, node: ConnectedNode) => Effect.Effect<void, never, Scope.Scope>
    /** The node of a chain. Fails where none has answered since the last failure. */
    readonly of: (chain: Chain.Chain) => Effect.Effect<ConnectedNode, NodeUnreachable>
    /** The node of a chain of this family, with what the family's endpoints ask of it; fails as `of`. */
    readonly ofFamily: <Node extends ConnectedNode, Fields extends FamilyFields>(
      chain: Chain.Chain,
      family: Family<Node, Fields>
    ) => Effect.Effect<Node, NodeUnreachable>
  }
>()("@headwater/indexer/families/node/ConnectedNodes") {
  static readonly layer = Layer.sync(ConnectedNodes, () => {
    const nodes = new Map<string, ConnectedNode>()
    const of: ConnectedNodes["Service"]["of"] = (chain) =>
      Effect.suspend(() => {
        const node = nodes.get(Chain.nameOf(chain))
        return node === undefined
          ? Effect.fail(new NodeUnreachable({ node: Chain.nameOf(chain), method: "", message: "no node is connected" }))
          : Effect.succeed(node)
      })
    return ConnectedNodes.of({
      connect: (chain, node) =>
        Effect.acquireRelease(
          Effect.sync(() => nodes.set(Chain.nameOf(chain), node)),
          () =>
            Effect.sync(() => {
              if (nodes.get(Chain.nameOf(chain)) === node) nodes.delete(Chain.nameOf(chain))
            })
        ),
      of,
      ofFamily: (chain, family) =>
        Effect.filterOrElse(
          of(chain),
          (node) => isNodeOf(family, node),
          (node) => Effect.die(new Error(`${Chain.nameOf(chain)} is of family ${node.family}, not ${family.name}`))
        )
    })
  })
}
