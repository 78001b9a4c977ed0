/** The operations of a UTXO chain, over its wallets and its node. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import { UtxoFamily } from "@headwater/indexer/families/utxo/UtxoFamily"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import { keyOf, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import { type InsufficientCredits, InvalidXpub, XpubNotSynced, XpubSyncInProgress } from "../../contract/Errors.ts"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"

export interface Options {
  /** Unused addresses that are watched behind the last used one of each branch of a wallet. */
  readonly gapLimit: number
}

const attribute = "extendedPublicKey"

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const wallets = yield* Wallets
  const freshness = yield* Freshness.make(yield* ChainReader.make(chain), UtxoFamily)

  const walletKey = ({ account, derivation, extendedPublicKey }: WalletRequest) =>
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

  const latestBlock: ChainOperations["latestBlock"] = Effect.gen(function* () {
    const { source } = yield* freshness.node
    return yield* freshness.orUnavailable(source.latestDetails)
  })

  const balance: ChainOperations["balance"] = Effect.fn("UtxoOperations.balance")(function* (request) {
    yield* walletOf(request)
    // Looked at before the balance is read: blocks may only come in between.
    yield* freshness.recorded(true)
    const { balance, state } = yield* walletOf(request)
    if (state === "scanning") return yield* inProgress
    return { confirmedBalance: { amount: Amount.format(balance, chain.decimals), unit: chain.unit } }
  })

  const walletStatus: ChainOperations["walletStatus"] = Effect.fn("UtxoOperations.walletStatus")(function* (request) {
    const { complete, state } = yield* walletOf(request)
    return {
      status: state === "scanning" ? ("syncing" as const) : ("synced" as const),
      ...(complete === undefined ? {} : { completeFrom: { height: complete.height, unspentOutputs: complete.coins } })
    }
  })

  const deriveAndSync: ChainOperations["deriveAndSync"] = Effect.fn("UtxoOperations.deriveAndSync")(
    function* (request, paying) {
      const key = yield* walletKey(request)
      const addresses = yield* wallets
        .deriveAndSync<InsufficientCredits | DatabaseError, never>(key, options.gapLimit, paying)
        .pipe(Effect.catchTags({ WalletScanning: () => Effect.fail(inProgress), DatabaseError: Effect.die }))
      return addresses.map(({ address, index }) => ({
        ...{ address, index, format: key.format },
        ...{ derivationType: key.derivation, type: "receiving" }
      }))
    }
  )

  return { latestBlock, balance, walletStatus, deriveAndSync } satisfies Partial<ChainOperations>
})
