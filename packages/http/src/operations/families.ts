/** What endpoints answer of a chain, by its family. */
import type * as Chain from "@headwater/core/chains/Chain"
import type { NodeSettings } from "@headwater/indexer/families/Family"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import * as Effect from "effect/Effect"
import * as EvmOperations from "./evm/EvmOperations.ts"
import type { ConfiguredChain } from "./Operations.ts"
import * as ServedEvents from "./ServedEvents.ts"
import * as TronOperations from "./tron/TronOperations.ts"
import * as UtxoOperations from "./utxo/UtxoOperations.ts"
import * as XrpOperations from "./xrp/XrpOperations.ts"

/** The settings of a chain that answers depend on. */
export interface Options extends Pick<NodeSettings, "internalTransactions"> {
  readonly record: RecordingMode
  readonly gapLimit: number
  readonly syncBlocks: number
  readonly reservationSeconds: number
}

const operations = {
  evm: EvmOperations.make,
  tron: TronOperations.make,
  utxo: UtxoOperations.make,
  xrp: XrpOperations.make
}

/** A chain with the operations and events that it serves. */
export const configure = Effect.fnUntraced(function* (chain: Chain.Chain, options: Options) {
  return {
    chain,
    operations: yield* operations[chain.family](chain, options),
    serves: yield* ServedEvents.make(chain, options)
  } satisfies ConfiguredChain as ConfiguredChain
})
