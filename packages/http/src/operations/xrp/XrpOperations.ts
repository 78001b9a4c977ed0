/** The operations of an XRP chain: ledgers and balances from its servers, derived addresses in the store. */
import * as Amount from "@headwater/core/Amount"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import type { ConnectedNode } from "@headwater/indexer/families/node/ConnectedNodes"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import { batchSize, keyOf, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import {
  BlockNotFound,
  type InsufficientCredits,
  InvalidXpub,
  Unimplemented,
  XpubSyncInProgress
} from "../../contract/Errors.ts"
import * as Wallet from "../evm/Wallet.ts"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations, WalletRequest } from "../Operations.ts"

export interface Options {
  /** Addresses without an account in a row after which a wallet ends. */
  readonly gapLimit: number
}

const attribute = "extendedPublicKey"

const xrpOf = ({ xrp }: ConnectedNode) =>
  xrp === undefined
    ? Effect.fail(new Unimplemented({ message: "The node of xrp does not support the operation" }))
    : Effect.succeed(xrp)

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const wallets = yield* Wallets
  const record = yield* ChainReader.make(chain)
  const freshness = yield* Freshness.make(record)

  const walletKey = ({ account, derivation = "account", extendedPublicKey }: WalletRequest) =>
    Effect.mapError(
      Effect.fromResult(keyOf(account, chain, extendedPublicKey, derivation)),
      ({ message }) => new InvalidXpub({ message, details: [{ attribute, message }] })
    )

  const xrpTransactions: ChainOperations["xrpTransactions"] = Effect.fn("XrpOperations.xrpTransactions")(function* ({
    blockHash,
    limit,
    offset
  }) {
    const xrp = yield* xrpOf(yield* freshness.node)
    return yield* xrp.transactionsByHash(Buffer.from(blockHash, "hex"), { limit, offset }).pipe(
      Effect.catchTag("BlockMissing", () =>
        Effect.fail(new BlockNotFound({ message: `No validated ledger that the servers of ${record.name} have` }))
      ),
      freshness.orUnavailable
    )
  })

  const xrpAssets: ChainOperations["xrpAssets"] = Effect.fn("XrpOperations.xrpAssets")(function* (request) {
    const branches = yield* Wallet.branches(chain, request)
    const synced = yield* Effect.orDie(wallets.get(yield* walletKey(request)))
    const xrp = yield* xrpOf(yield* freshness.node)
    // Any of the addresses that the wallet's owner was given may be in use, whatever the gap before it.
    const gapLimit = synced === undefined ? options.gapLimit : Math.max(options.gapLimit, batchSize)
    const drops = yield* xrp
      .walletBalance(
        branches.map(
          (branch) => (from, count) =>
            Derivation.derive(branch, from, count)
              .filter(Result.isSuccess)
              .map(({ success }) => success.bytes)
        ),
        gapLimit
      )
      .pipe(freshness.orUnavailable)
    return { confirmedBalance: { amount: Amount.format(drops, chain.decimals), unit: chain.unit } }
  })

  const xrpDerive: ChainOperations["xrpDerive"] = Effect.fn("XrpOperations.xrpDerive")(function* (request) {
    const key = yield* walletKey(request)
    const addresses = yield* wallets
      .deriveAndSync<InsufficientCredits, never>(key, options.gapLimit, request.paying)
      .pipe(
        Effect.catchTags({
          WalletScanning: () =>
            Effect.fail(
              new XpubSyncInProgress({
                message: "The accounts that the wallet has already are being looked for: try again later"
              })
            ),
          DatabaseError: Effect.die
        })
      )
    return addresses.map(({ address, index }) => ({
      ...{ address, index, format: key.format },
      ...{ derivationType: key.derivation, type: "receiving" }
    }))
  })

  return { xrpTransactions, xrpAssets, xrpDerive } satisfies Partial<ChainOperations>
})
