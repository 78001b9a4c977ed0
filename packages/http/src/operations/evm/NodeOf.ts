/** The EVM side of a connected node. */

import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { ConnectedNode } from "@headwater/indexer/families/node/ConnectedNodes"
import * as Effect from "effect/Effect"
import { Unimplemented } from "../../contract/Errors.ts"

/** Finds what an operation needs of a node. */
export type NodeOf<N = EvmNode> = (node: ConnectedNode) => Effect.Effect<N, Unimplemented>

export const nodeOf: NodeOf = ({ evm, source }) =>
  evm === undefined
    ? Effect.fail(
        new Unimplemented({ message: `The node of ${source.chain.blockchain} does not support the operation` })
      )
    : Effect.succeed(evm)
