/**
 * The operations of a Tron chain, over its record and its node: those of EVM chains, but that state is known of the newest
 * block only, and transfers are prepared in Tron's own way.
 */
import type { Chain } from "@headwater/core/Chain"
import * as RecordedChain from "@headwater/indexer/store/RecordedChain"
import * as Effect from "effect/Effect"
import type { ChainOperations } from "../Operations.ts"
import * as AddressRecord from "./AddressRecord.ts"
import type { Options } from "./EvmOperations.ts"
import * as Assets from "./evm/Assets.ts"
import * as Logs from "./evm/Logs.ts"
import * as Freshness from "./Freshness.ts"
import * as Prepare from "./tron/Prepare.ts"
import { evmOf } from "./tron/TronOfNode.ts"

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* RecordedChain.make(chain)
  const freshness = yield* Freshness.make(record)
  const { internalTransactions, tokensTransfers } = AddressRecord.make(record, freshness, options)
  return {
    ...(options.internalTransactions ? { internalTransactions } : {}),
    tokensTransfers,
    evmAssets: Assets.make(record, freshness, evmOf, options),
    logs: Logs.make(record, freshness, evmOf),
    prepare: Prepare.make(record, freshness)
  } satisfies Partial<ChainOperations>
})
