/** Logs of a transaction (interface section 4.12), from the chain's node. */
import * as Address from "@headwater/core/address/Address"
import * as EventSignature from "@headwater/core/evm/EventSignature"
import type { EvmNode } from "@headwater/indexer/families/evm/EvmNode"
import type { ConnectedNode } from "@headwater/indexer/families/Family"
import type { ChainReader } from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { TransactionNotFound } from "../../contract/Errors.ts"
import type { Freshness } from "../Freshness.ts"
import * as Hex from "../Hex.ts"
import type { ChainOperations } from "../Operations.ts"

export const make = <Node extends ConnectedNode>(
  record: ChainReader,
  freshness: Freshness<Node>,
  nodeOf: (node: Node) => Pick<EvmNode, "logs">
): ChainOperations["logs"] =>
  Effect.fn("Logs.logs")(function* ({ limit, offset, transactionHash }) {
    const evm = nodeOf(yield* freshness.node)
    const hash = Hex.decode(transactionHash)
    const logs = yield* freshness.orUnavailable(evm.logs(hash))
    if (logs === undefined) {
      return yield* new TransactionNotFound({ message: `No block of ${record.name} has this transaction` })
    }
    return {
      total: logs.length,
      items: logs.slice(offset, offset + limit).map(({ address, data, removed, topics }) => {
        const [first] = topics
        const name = first === undefined ? undefined : EventSignature.nameOf(first)
        return {
          address: Address.encode(record.chain, address)!,
          data: Hex.prefixed(data),
          isRemoved: removed,
          ...(name === undefined ? {} : { name }),
          topics: topics.map(Hex.prefixed)
        }
      })
    }
  })
