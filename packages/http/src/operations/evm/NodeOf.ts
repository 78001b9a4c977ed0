/** The EVM side of a connected node. */
import type { ConnectedNode } from "@headwater/indexer/sources/ConnectedNodes"
import type { EvmNode } from "@headwater/indexer/sources/EvmNode"
import * as Effect from "effect/Effect"
import { Unimplemented } from "../../Errors.ts"

/** Finds what an operation needs of a node. */
export type NodeOf<N = EvmNode> = (node: ConnectedNode) => Effect.Effect<N, Unimplemented>

export const nodeOf: NodeOf = ({ evm, source }) =>
  evm === undefined
    ? Effect.fail(
        new Unimplemented({ message: `The node of ${source.chain.blockchain} does not support the operation` })
      )
    : Effect.succeed(evm)
