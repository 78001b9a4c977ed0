/** The operations of an EVM chain, over its record and its node. */
import type { Chain } from "@headwater/core/Chain"
import * as RecordedChain from "@headwater/indexer/store/RecordedChain"
import * as Effect from "effect/Effect"
import type { ChainOperations } from "../Operations.ts"
import * as AddressRecord from "./AddressRecord.ts"
import * as Assets from "./evm/Assets.ts"
import * as Logs from "./evm/Logs.ts"
import { nodeOf } from "./evm/NodeOf.ts"
import * as Prepare from "./evm/Prepare.ts"
import * as Freshness from "./Freshness.ts"

export interface Options extends Assets.Options {
  /** Whether internal transactions are recorded at all. */
  readonly internalTransactions: boolean
}

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* RecordedChain.make(chain)
  const freshness = yield* Freshness.make(record)
  const { internalTransactions, tokensTransfers } = AddressRecord.make(record, freshness, options)
  return {
    ...(options.internalTransactions ? { internalTransactions } : {}),
    tokensTransfers,
    evmAssets: Assets.make(record, freshness, nodeOf, options),
    logs: Logs.make(record, freshness, nodeOf),
    prepare: Prepare.make(record, freshness, nodeOf)
  } satisfies Partial<ChainOperations>
})
