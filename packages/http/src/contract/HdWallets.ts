/** HD wallets by extended public key (interface sections 4.9 to 4.11 and 4.14). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import {
  AddressText,
  Amount,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  emptyBody,
  NumberText,
  StandardText,
  SymbolText,
  UnitText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { Listing, offsetPage } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

export const EvmAssets = Schema.Struct({
  confirmedBalance: DecimalText,
  fungibleTokens: Schema.Array(
    Schema.Struct({
      amount: DecimalText,
      contractAddress: AddressText,
      standard: StandardText,
      symbol: SymbolText
    })
  ),
  nonFungibleTokens: Schema.Array(
    Schema.Struct({
      contractAddress: AddressText,
      standard: StandardText,
      symbol: SymbolText,
      tokenId: NumberText
    })
  ),
  totalReceived: DecimalText,
  totalSpent: DecimalText,
  unit: UnitText
}).annotate({ identifier: "EvmHdWalletAssets" })

export const Balance = Schema.Struct({ confirmedBalance: Amount }).annotate({ identifier: "HdWalletBalance" })

export const WalletStatus = Schema.Struct({
  status: Schema.Literals(["syncing", "synced"]).annotate({
    description: "`syncing` while coins from before the wallet was synced are being looked for"
  }),
  completeFrom: Schema.optionalKey(
    Schema.Struct({
      height: Schema.Int.annotate({ description: "The block from which on everything is recorded" }),
      unspentOutputs: Schema.Boolean.annotate({
        description:
          "Whether coins that were unspent at that block are recorded as well; if not, the balance lacks them"
      })
    })
  ).annotate({ description: "Absent while the wallet is syncing" })
}).annotate({ identifier: "HdWalletStatus" })

export const DerivedAddress = Schema.Struct({
  address: AddressText,
  format: Schema.String.annotate({ description: "Form of the address", examples: ["P2WPKH"] }),
  index: Schema.Int.annotate({ description: "Derivation index" }),
  derivationType: Schema.String.annotate({ examples: ["account"] }),
  type: Schema.String.annotate({ examples: ["receiving"] })
}).annotate({ identifier: "DerivedAddress" })

const Derivation = Schema.Literals(["account", "bip32"])

/** How the wallet derives, in any letter case. */
const derivation = {
  derivation: Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^(account|bip32)$/i, { message: "must be account or bip32" }))
      .annotate({ description: "`account` (m/0/i and m/1/i, the default) or `bip32` (m/i)" })
      .pipe(
        Schema.decodeTo(
          Derivation,
          SchemaTransformation.transform({
            decode: (text) => text.toLowerCase() as typeof Derivation.Type,
            encode: (derivation) => derivation
          })
        )
      )
  )
}

const params = {
  ...chainParams,
  extendedPublicKey: Schema.String.annotate({ description: "Extended public key of the account (xpub, ypub, zpub …)" })
}
const errors = [...chainErrors, Failures.invalidXpub, Failures.unimplemented, Failures.nodeUnavailable] as const

const assets = { params, query: { ...context, ...derivation }, error: [...errors, Failures.xpubNotSynced] } as const
/** Of wallets whose earlier coins, from before the sync, have to be found first. */
const recorded = { ...assets, error: [...assets.error, Failures.xpubSyncInProgress] } as const
const derive = {
  params,
  query: { ...context, ...derivation },
  payload: emptyBody,
  success: offsetPage(DerivedAddress).pipe(HttpApiSchema.status(201)),
  error: [...errors, Failures.xpubSyncInProgress, ...bodyErrors]
} as const

export class HdWalletsGroup extends HttpApiGroup.make("hdWallets")
  .add(
    HttpApiEndpoint.get("evmAssets", "/evm/:blockchain/:network/:extendedPublicKey/assets", {
      ...assets,
      success: item(EvmAssets)
    })
      .annotate(Price, "evm-assets")
      .annotate(Families, ["evm", "tron"])
      .annotateMerge(OpenApi.annotations({ summary: "Read the assets of an EVM wallet" })),
    HttpApiEndpoint.get("utxoAssets", "/utxo/:blockchain/:network/:extendedPublicKey/assets", {
      ...recorded,
      success: item(Balance)
    })
      .annotate(Price, "utxo-assets")
      .annotate(Families, ["utxo"])
      .annotateMerge(OpenApi.annotations({ summary: "Read the confirmed balance of a UTXO wallet" })),
    HttpApiEndpoint.get("utxoStatus", "/utxo/:blockchain/:network/:extendedPublicKey/status", {
      ...assets,
      success: item(WalletStatus)
    })
      .annotate(Price, "subscription-get")
      .annotate(Families, ["utxo"])
      .annotateMerge(
        OpenApi.annotations({ summary: "Read from which block on the record of a UTXO wallet is complete" })
      ),
    HttpApiEndpoint.get("xrpAssets", "/:blockchain/:network/:extendedPublicKey/assets", {
      ...recorded,
      success: item(Balance)
    })
      .annotate(Price, "xrp-assets")
      .annotate(Families, ["xrp"])
      .annotateMerge(OpenApi.annotations({ summary: "Read the confirmed balance of an XRP wallet" })),
    HttpApiEndpoint.post(
      "utxoDerive",
      "/utxo/:blockchain/:network/:extendedPublicKey/addresses/derive-and-sync",
      derive
    )
      .annotate(Price, "utxo-derive")
      .annotate(Listing, "whole")
      .annotate(Families, ["utxo"])
      .annotateMerge(
        OpenApi.annotations({ summary: "Derive 100 receiving addresses of a UTXO wallet and record their transfers" })
      ),
    HttpApiEndpoint.post("xrpDerive", "/:blockchain/:network/:extendedPublicKey/addresses/derive-and-sync", derive)
      .annotate(Price, "xrp-derive")
      .annotate(Listing, "whole")
      .annotate(Families, ["xrp"])
      .annotateMerge(
        OpenApi.annotations({ summary: "Derive 100 receiving addresses of an XRP wallet and record their transfers" })
      )
  )
  .middleware(RequestedChain)
  .prefix("/hd-wallets")
  .annotateMerge(OpenApi.annotations({ title: "HD wallets", description: "Wallets by extended public key" })) {}
