/** Details of an HD wallet, from the answer about its assets: the same record, the same refusals. */
import * as Effect from "effect/Effect"
import type { ChainOperations } from "./Operations.ts"

/** Of a chain whose wallets have tokens beside coins. */
export const ofTokens =
  (evmAssets: ChainOperations["evmAssets"]): ChainOperations["evmDetails"] =>
  (request) =>
    Effect.map(evmAssets(request), ({ fungibleTokens: _, nonFungibleTokens: __, ...details }) => details)

/** Of a chain whose wallets have coins alone. */
export const ofCoins =
  (assets: ChainOperations["utxoAssets"]): ChainOperations["utxoDetails"] =>
  (request) =>
    Effect.map(assets(request), ({ confirmedBalance: { amount, unit }, ...rest }) => ({
      ...{ confirmedBalance: amount, unit },
      ...rest
    }))
