/** HD wallets by extended public key (interface sections 4.9 to 4.11 and 4.14). */

import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import {
  AddressText,
  Amount,
  BirthHeight,
  BlocksLeft,
  body,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  emptyBody,
  NumberText,
  optionalBody,
  pageErrors,
  StandardText,
  SymbolText,
  UnitText
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { NewWalletTransaction, PreparedWalletTransaction } from "./EvmWalletPreparation.ts"
import { ExampleValues } from "./internal/Example.ts"
import { LargestBody } from "./MessageSize.ts"
import { CompleteFrom, DefaultLimit, Listing, offsetPage, offsetQuery, recordedList } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { NewUtxoTransaction, PreparedUtxoTransaction, preparationBodyBytes } from "./UtxoPreparation.ts"
import { Derivation, derivation, exampleKey, extendedPublicKeyParam, Format, format } from "./WalletParams.ts"

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
      standard: StandardText.annotate({ examples: ["ERC-721"] }),
      symbol: SymbolText,
      tokenId: NumberText
    })
  ),
  totalReceived: DecimalText.annotate({
    description: "Coins that came to the wallet's addresses, by transactions and internal ones, from each other too"
  }),
  totalSpent: DecimalText.annotate({
    description: "Coins that left the wallet's addresses in the same way, without the fees that they paid"
  }),
  unit: UnitText,
  completeFrom: Schema.optionalKey(CompleteFrom).annotate({
    description:
      "Height of the block from which on token transfers of every address of the wallet are recorded: tokens that came " +
      "before and have not moved since may be missing, and an address that had nothing but such tokens counts as unused " +
      "where the wallet's gap is looked for. Absent where none can be",
    examples: [20_000_000]
  })
}).annotate({ identifier: "EvmHdWalletAssets" })

export const Balance = Schema.Struct({
  confirmedBalance: Amount,
  completeFrom: Schema.optionalKey(CompleteFrom).annotate({
    description:
      "Height of the block from which on it is known which addresses were used. What was used and emptied before looks " +
      "unused: coins behind 1,000 such addresses of a UTXO wallet in a row are not found, nor those behind as many deleted " +
      "accounts of the XRP Ledger as the wallet's gap has. Absent where all of the chain is known",
    examples: [850_000]
  })
}).annotate({ identifier: "HdWalletBalance" })

export const WalletStatus = Schema.Struct({
  status: Schema.Literals(["syncing", "synced"]).annotate({
    description:
      "`syncing` while coins are being looked for that addresses of the wallet had before they were synced; a balance " +
      "that was known before goes on being answered"
  }),
  completeFrom: Schema.optionalKey(
    Schema.Struct({
      height: Schema.Int.annotate({
        description: "The block from which on everything is recorded",
        examples: [850_000]
      }),
      unspentOutputs: Schema.Boolean.annotate({
        description: "Always true: coins that were unspent at that block are recorded as well"
      })
    })
  ).annotate({ description: "Absent where no balance is known yet" })
}).annotate({ identifier: "HdWalletStatus" })

export const DerivedAddress = Schema.Struct({
  address: AddressText,
  format: Schema.String.annotate({ description: "Form of the address", examples: ["P2WPKH"] }),
  index: Schema.Int.annotate({ description: "Derivation index" }),
  derivationType: Schema.String.annotate({ examples: ["account"] }),
  type: Schema.String.annotate({ examples: ["receiving"] })
}).annotate({ identifier: "DerivedAddress" })

const params = { ...chainParams, ...extendedPublicKeyParam }
const errors = [...chainErrors, Failures.invalidXpub, Failures.unimplemented, Failures.nodeUnavailable] as const

const assets = {
  params,
  query: { ...context, ...derivation, ...format },
  error: [...errors, Failures.xpubNotSynced]
} as const
/** Of wallets whose earlier coins, from before the sync, have to be found first. */
const recorded = { ...assets, error: [...assets.error, Failures.xpubSyncInProgress] } as const
const derive = {
  params,
  query: { ...context, ...derivation, ...format },
  payload: optionalBody(format),
  success: recordedList(DerivedAddress).pipe(HttpApiSchema.status(201)),
  error: [...errors, Failures.xpubsLimitReached, Failures.xpubSyncInProgress, Failures.conflict, ...bodyErrors]
} as const
/** Of wallets whose earlier coins not every node can show. */
const utxoDerive = { ...derive, error: [...derive.error, Failures.xpubNotSynced] } as const

const SyncStatus = Schema.Literals(["syncing", "synced"]).annotate({
  description: "`syncing` while the past of any address of the wallet is being read, or coins are being looked for"
})

const extendedPublicKey = Schema.String.annotate({
  description: "Extended public key of the wallet",
  examples: [exampleKey]
})

export const SyncedWalletKey = Schema.Struct({ extendedPublicKey }).annotate({ identifier: "SyncedWalletKey" })

export const SyncedWallet = Schema.Struct({
  ...{ extendedPublicKey, isActive: Schema.Boolean, syncStatus: SyncStatus, blocksLeft: BlocksLeft },
  derivation: Derivation.annotate({ description: "How the wallet derives" }),
  format: Schema.optionalKey(Format).annotate({
    description:
      "Form of the wallet's addresses: the same key in another form is another wallet. Absent on EVM chains and Tron",
    examples: ["P2WPKH"]
  })
}).annotate({ identifier: "SyncedWallet" })

export const SyncedWalletState = Schema.Struct({
  blockchain: Schema.String,
  ...{ extendedPublicKey, isActive: Schema.Boolean },
  network: Schema.String,
  syncStatus: SyncStatus
}).annotate({ identifier: "SyncedWalletState" })

/** Of wallets that an account has synced. */
const managed = {
  params,
  query: { ...context, ...derivation, ...format },
  error: [...chainErrors, Failures.invalidXpub, Failures.unimplemented, Failures.resourceNotFound, Failures.conflict]
} as const

const manage = "/manage/:blockchain/:network"

export class HdWalletsGroup extends HttpApiGroup.make("hdWallets")
  .add(
    HttpApiEndpoint.get("evmAssets", "/evm/:blockchain/:network/:extendedPublicKey/assets", {
      ...recorded,
      success: item(EvmAssets),
      error: [...recorded.error, Failures.conflict]
    })
      .annotate(Price, "evm-assets")
      .annotate(ExampleValues, { format: "STANDARD" })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Read the assets of an EVM wallet"),
    HttpApiEndpoint.post("evmPrepare", "/evm/:blockchain/:network/:extendedPublicKey/transactions/prepare", {
      params,
      query: { ...context, ...derivation },
      payload: body(NewWalletTransaction),
      success: item(PreparedWalletTransaction),
      error: [...assets.error, Failures.conflict, ...bodyErrors]
    })
      .annotate(Price, "prepare")
      .annotate(ExampleValues, {
        ...{ exactAmount: undefined, priority: "standard", transactionType: "gas-fee-market-transaction" },
        ...{ total: undefined, reservedUntil: undefined, expirationTimestamp: undefined }
      })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Prepare a transaction of a synced EVM wallet's address for signing"),
    HttpApiEndpoint.get("utxoAssets", "/utxo/:blockchain/:network/:extendedPublicKey/assets", {
      ...recorded,
      success: item(Balance)
    })
      .annotate(Price, "utxo-assets")
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Read the confirmed balance of a UTXO wallet"),
    HttpApiEndpoint.get("utxoStatus", "/utxo/:blockchain/:network/:extendedPublicKey/status", {
      ...assets,
      success: item(WalletStatus)
    })
      .annotate(Price, "subscription-get")
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Read from which block on the record of a UTXO wallet is complete"),
    HttpApiEndpoint.get("xrpAssets", "/:blockchain/:network/:extendedPublicKey/assets", {
      ...recorded,
      success: item(Balance)
    })
      .annotate(Price, "xrp-assets")
      .annotate(ExampleValues, { format: "CLASSIC" })
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Read the confirmed balance of an XRP wallet"),
    HttpApiEndpoint.post(
      "utxoDerive",
      "/utxo/:blockchain/:network/:extendedPublicKey/addresses/derive-and-sync",
      utxoDerive
    )
      .annotate(Price, "utxo-derive")
      .annotate(ExampleValues, { format: "P2WPKH" })
      .annotate(Listing, "whole")
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Derive 100 receiving addresses of a UTXO wallet and record their transfers"),
    HttpApiEndpoint.post("utxoPrepare", "/utxo/:blockchain/:network/:extendedPublicKey/transactions/prepare", {
      params,
      query: { ...context, ...derivation, ...format },
      payload: body(NewUtxoTransaction),
      success: item(PreparedUtxoTransaction),
      error: [...recorded.error, Failures.conflict, ...bodyErrors]
    })
      .annotate(Price, "utxo-prepare")
      .annotate(LargestBody, preparationBodyBytes)
      .annotate(ExampleValues, {
        ...{ format: "P2WPKH", exactAmount: undefined, priority: "standard", prepareStrategy: "minimize-dust" },
        ...{
          "fee.amount": "0.00000212",
          "feePerByte.amount": "0.000000015",
          replaceable: true,
          "fee.address": undefined
        },
        ...{ vout: undefined, consensusBranchId: undefined, expiryHeight: undefined, versionGroupId: undefined }
      })
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Prepare a transaction of a UTXO wallet for signing, and reserve its coins"),
    HttpApiEndpoint.post("xrpDerive", "/:blockchain/:network/:extendedPublicKey/addresses/derive-and-sync", derive)
      .annotate(Price, "xrp-derive")
      .annotate(ExampleValues, { format: "CLASSIC" })
      .annotate(Listing, "whole")
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "Derive 100 receiving addresses of an XRP wallet and record their transfers"),
    HttpApiEndpoint.get("syncedWallets", manage, {
      params: chainParams,
      query: { ...context, ...offsetQuery(10) },
      success: offsetPage(SyncedWallet),
      error: [...chainErrors, ...pageErrors, Failures.unimplemented]
    })
      .annotate(Price, "subscription-list")
      .annotate(Listing, "offset")
      .annotate(DefaultLimit, 10)
      .annotate(OpenApi.Summary, "List the synced wallets of the account"),
    HttpApiEndpoint.post("syncWallet", `${manage}/:extendedPublicKey/sync`, {
      params,
      query: { ...context, ...derivation, ...format },
      payload: optionalBody({ birthHeight: BirthHeight }),
      success: item(SyncedWalletKey).pipe(HttpApiSchema.status(201)),
      error: [
        ...chainErrors,
        ...bodyErrors,
        Failures.invalidXpub,
        Failures.xpubsLimitReached,
        Failures.xpubNotSynced,
        Failures.alreadyExists,
        Failures.unimplemented,
        Failures.nodeUnavailable
      ]
    })
      .annotate(Price, "subscription-create")
      .annotate(OpenApi.Summary, "Record the addresses of a wallet from now on, and what they had before"),
    HttpApiEndpoint.delete("deactivateSyncedWallet", `${manage}/:extendedPublicKey`, {
      ...managed,
      success: item(SyncedWalletKey)
    }).annotate(OpenApi.Summary, "Deactivate a synced wallet"),
    HttpApiEndpoint.post("activateSyncedWallet", `${manage}/:extendedPublicKey/activate`, {
      ...managed,
      payload: emptyBody,
      success: item(SyncedWalletState),
      error: [...managed.error, ...bodyErrors, Failures.xpubAlreadyActive]
    })
      .annotate(Price, "subscription-activate")
      .annotate(OpenApi.Summary, "Activate a synced wallet again")
  )
  .middleware(RequestedChain)
  .prefix("/hd-wallets")
  .annotateMerge(OpenApi.annotations({ title: "HD wallets", description: "Wallets by extended public key" })) {}
