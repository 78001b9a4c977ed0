/** The operations of an EVM chain, over its record and its node. */
import type { Chain } from "@headwater/core/chains/Chain"
import { EvmFamily } from "@headwater/indexer/families/evm/EvmFamily"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as AddressHistory from "./AddressHistory.ts"
import * as Assets from "./Assets.ts"
import * as Logs from "./Logs.ts"
import * as Prepare from "./Prepare.ts"

export interface Options extends Assets.Options {
  /** Whether internal transactions are recorded at all. */
  readonly internalTransactions: boolean
}

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* ChainReader.make(chain)
  const freshness = yield* Freshness.make(record, EvmFamily)
  const { internalTransactions, tokensTransfers } = AddressHistory.make(record, freshness, options)
  return {
    ...(options.internalTransactions ? { internalTransactions } : {}),
    tokensTransfers,
    evmAssets: Assets.make(record, freshness, ({ evm }) => evm, options),
    logs: Logs.make(record, freshness, ({ evm }) => evm),
    prepare: Prepare.make(record, freshness)
  } satisfies Partial<ChainOperations>
})
