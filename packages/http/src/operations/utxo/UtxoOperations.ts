/** The operations of a UTXO chain, over its wallets and its node. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import { keyOf, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import {
  type InsufficientCredits,
  InvalidXpub,
  Unimplemented,
  XpubNotSynced,
  XpubSyncInProgress
} from "../../contract/Errors.ts"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"

export interface Options {
  /** Unused addresses that are watched behind the last used one of each branch of a wallet. */
  readonly gapLimit: number
}

const attribute = "extendedPublicKey"

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const wallets = yield* Wallets
  const freshness = yield* Freshness.make(yield* ChainReader.make(chain))

  const walletKey = ({ account, derivation = "account", extendedPublicKey }: WalletRequest) =>
    Effect.mapError(
      Effect.fromResult(keyOf(account, chain, extendedPublicKey, derivation)),
      ({ message }) => new InvalidXpub({ message, details: [{ attribute, message }] })
    )

  const walletOf = Effect.fnUntraced(function* (request: WalletRequest) {
    const wallet = yield* Effect.orDie(wallets.get(yield* walletKey(request)))
    return (
      wallet ??
      (yield* new XpubNotSynced({
        message: "The account has not synced this extended public key: derive and sync its addresses first"
      }))
    )
  })

  const inProgress = new XpubSyncInProgress({
    message: "The coins that the wallet had before it was synced are being looked for: try again later"
  })

  const utxoLatest: ChainOperations["utxoLatest"] = Effect.fn("UtxoOperations.utxoLatest")(function* () {
    const { utxo } = yield* freshness.node
    if (utxo === undefined) return yield* new Unimplemented({ message: "The node has no block details" })
    return yield* freshness.orUnavailable(utxo.latestDetails)
  })

  const utxoAssets: ChainOperations["utxoAssets"] = Effect.fn("UtxoOperations.utxoAssets")(function* (request) {
    yield* walletOf(request)
    // Looked at before the balance is read: blocks may only come in between.
    yield* freshness.recorded(true)
    const { balance, state } = yield* walletOf(request)
    if (state === "scanning") return yield* inProgress
    return { confirmedBalance: { amount: Amount.format(balance, chain.decimals), unit: chain.unit } }
  })

  const utxoStatus: ChainOperations["utxoStatus"] = Effect.fn("UtxoOperations.utxoStatus")(function* (request) {
    const { complete, state } = yield* walletOf(request)
    return {
      status: state === "scanning" ? ("syncing" as const) : ("synced" as const),
      ...(complete === undefined ? {} : { completeFrom: { height: complete.height, unspentOutputs: complete.coins } })
    }
  })

  const utxoDerive: ChainOperations["utxoDerive"] = Effect.fn("UtxoOperations.utxoDerive")(function* (request) {
    const key = yield* walletKey(request)
    const addresses = yield* wallets
      .deriveAndSync<InsufficientCredits, never>(key, options.gapLimit, request.paying)
      .pipe(Effect.catchTags({ WalletScanning: () => Effect.fail(inProgress), DatabaseError: Effect.die }))
    return addresses.map(({ address, index }) => ({
      ...{ address, index, format: key.format },
      ...{ derivationType: key.derivation, type: "receiving" }
    }))
  })

  return { utxoLatest, utxoAssets, utxoStatus, utxoDerive } satisfies Partial<ChainOperations>
})
