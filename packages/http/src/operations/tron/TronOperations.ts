/**
 * The operations of a Tron chain, over its record and its node: those of EVM chains, but that state is known of the newest
 * block only, and transfers are prepared in Tron's own way.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import { TronFamily } from "@headwater/indexer/families/tron/TronFamily"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import * as AddressHistory from "../evm/AddressHistory.ts"
import * as Assets from "../evm/Assets.ts"
import type { Options } from "../evm/EvmOperations.ts"
import * as Logs from "../evm/Logs.ts"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import { evmOf } from "./EvmOfTron.ts"
import * as Prepare from "./Prepare.ts"

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* ChainReader.make(chain)
  const freshness = yield* Freshness.make(record, TronFamily)
  const { internalTransactions, tokensTransfers } = AddressHistory.make(record, freshness, options)
  return {
    ...(options.internalTransactions ? { internalTransactions } : {}),
    tokensTransfers,
    evmAssets: Assets.make(record, freshness, evmOf, options),
    logs: Logs.make(record, freshness, evmOf),
    prepare: Prepare.make(record, freshness)
  } satisfies Partial<ChainOperations>
})
