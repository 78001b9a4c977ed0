/** Lists of an HD wallet: addresses, transactions, unspent outputs; and new addresses (wider interface, *HD wallets*). */
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import {
  AddressText,
  BlocksLeft,
  bodyErrors,
  chainErrors,
  chainParams,
  context,
  DecimalText,
  flag,
  HashText,
  MinedInBlock,
  nodeErrors,
  optionalBody,
  pageErrors,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { DerivedAddress, SyncedWalletState } from "./HdWallets.ts"
import { ExampleValues } from "./internal/Example.ts"
import * as FamilyExample from "./internal/FamilyExample.ts"
import { answeredList, DefaultLimit, Listing, offsetPage, offsetQuery, recordedList } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"
import { UnspentOutput } from "./UtxoAddresses.ts"
import { derivation, extendedPublicKeyParam, Format, FormatWord, format, formatOfWord } from "./WalletParams.ts"

export const HdAddress = Schema.Struct({
  address: AddressText,
  index: Schema.Int.annotate({ description: "Derivation index" })
}).annotate({ identifier: "HdAddress" })

const AmountOnly = Schema.Struct({ amount: DecimalText }).annotate({ identifier: "AmountOnly" })

const Member = Schema.Struct({
  address: AddressText,
  isMember: Schema.Boolean.annotate({ description: "Whether it is an address of the wallet", examples: [true] }),
  value: AmountOnly
}).annotate({ identifier: "HdWalletMember" })

const placed = {
  hash: HashText,
  positionInBlock: Schema.Int.annotate({ examples: [7] }),
  timestamp: Timestamp,
  fee: AmountOnly,
  minedInBlock: MinedInBlock
}

export const UtxoWalletTransaction = Schema.Struct({
  ...placed,
  id: HashText,
  recipients: Schema.Array(Member),
  senders: Schema.Array(Member)
}).annotate({ identifier: "UtxoHdWalletTransaction" })

export const XrpWalletTransaction = Schema.Struct({
  ...placed,
  recipient: Schema.Array(Member),
  sender: Schema.Array(Member)
}).annotate({ identifier: "XrpHdWalletTransaction" })

const EvmMember = Schema.Struct({
  address: AddressText,
  amount: DecimalText,
  isMember: Member.fields.isMember
}).annotate({ identifier: "EvmHdWalletMember" })

export const EvmWalletTransaction = Schema.Struct({
  ...placed,
  recipient: Schema.Array(EvmMember),
  sender: Schema.Array(EvmMember)
}).annotate({ identifier: "EvmHdWalletTransaction" })

export const WalletOutput = Schema.Struct({
  address: AddressText,
  addressPath: Schema.String.annotate({ description: "Of the address, from the account's key on", examples: ["0/7"] }),
  derivation: Schema.String.annotate({ examples: ["account"] }),
  index: UnspentOutput.fields.index,
  isAvailable: UnspentOutput.fields.isAvailable,
  isConfirmed: UnspentOutput.fields.isConfirmed,
  transactionId: HashText,
  value: AmountOnly
}).annotate({ identifier: "HdWalletOutput" })

/** Examples of the parties of a transaction, whose fields are texts elsewhere. */
const parties = (family: "evm" | "xrp") => {
  const { recipient, sender } = FamilyExample.values(family)
  const member = (address: unknown, isMember: boolean) => [
    { address, isMember, ...(family === "evm" ? { amount: "1.5" } : { value: { amount: "1.5" } }) }
  ]
  return { recipient: member(recipient, true), sender: member(sender, false) }
}

const addressFormat = Schema.optionalKey(
  FormatWord.annotate({
    description: "Form of the wallet's addresses, one that the chain has; as `format` elsewhere"
  }).pipe(
    Schema.decodeTo(
      Format,
      SchemaTransformation.transform({ decode: formatOfWord, encode: (format) => format.toLowerCase() })
    )
  )
)

/** The size of a page, where a request does not say. */
const ten = 10
const params = { ...chainParams, ...extendedPublicKeyParam }
const errors = [...chainErrors, Failures.invalidXpub, Failures.xpubNotSynced, ...nodeErrors] as const
const addressesOf = (byDefault: string) => ({
  params,
  query: {
    ...context,
    ...derivation,
    addressFormat,
    isChangeAddress: flag(`Whether addresses for change are listed, or receiving ones; ${byDefault} if not given`),
    ...offsetQuery(ten)
  },
  success: offsetPage(HdAddress),
  error: [...errors, ...pageErrors]
})
const listOf = {
  params,
  query: { ...context, ...derivation, ...format, ...offsetQuery(ten) },
  error: [...errors, ...pageErrors, Failures.xpubSyncInProgress, Failures.conflict]
} as const
const derive = {
  params,
  query: { ...context, ...derivation, ...format },
  payload: optionalBody(format),
  success: recordedList(DerivedAddress).pipe(HttpApiSchema.status(201)),
  error: [...errors, Failures.xpubsLimitReached, Failures.xpubSyncInProgress, Failures.conflict, ...bodyErrors]
} as const

export class HdWalletListsGroup extends HttpApiGroup.make("hdWalletLists")
  .add(
    HttpApiEndpoint.get(
      "evmWalletAddresses",
      "/evm/:blockchain/:network/:extendedPublicKey/addresses",
      addressesOf("true")
    )
      .annotate(Price, "subscription-list")
      .annotate(Listing, "offset")
      .annotate(ExampleValues, { addressFormat: "STANDARD", isChangeAddress: false })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "List the recorded addresses of a synced EVM wallet"),
    HttpApiEndpoint.get(
      "utxoWalletAddresses",
      "/utxo/:blockchain/:network/:extendedPublicKey/addresses",
      addressesOf("true")
    )
      .annotate(Price, "subscription-list")
      .annotate(Listing, "offset")
      .annotate(ExampleValues, { addressFormat: "P2WPKH", isChangeAddress: false })
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "List the recorded addresses of a UTXO wallet"),
    HttpApiEndpoint.get(
      "xrpWalletAddresses",
      "/:blockchain/:network/:extendedPublicKey/addresses",
      addressesOf("false")
    )
      .annotate(Price, "subscription-list")
      .annotate(Listing, "offset")
      .annotate(ExampleValues, { addressFormat: "CLASSIC", isChangeAddress: false })
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "List the recorded addresses of an XRP wallet"),
    HttpApiEndpoint.get("evmWalletTransactions", "/evm/:blockchain/:network/:extendedPublicKey/transactions", {
      ...listOf,
      success: answeredList(EvmWalletTransaction)
    })
      .annotate(Price, "evm-assets")
      .annotate(Listing, "offset")
      .annotate(ExampleValues, { format: "STANDARD", "fee.amount": "0.00063", ...parties("evm") })
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "List the transactions of a synced EVM wallet, newest first"),
    HttpApiEndpoint.get("utxoWalletTransactions", "/utxo/:blockchain/:network/:extendedPublicKey/transactions", {
      ...listOf,
      success: answeredList(UtxoWalletTransaction)
    })
      .annotate(Price, "utxo-assets")
      .annotate(Listing, "offset")
      .annotate(ExampleValues, { "fee.amount": "0.00000282" })
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "List the transactions of a UTXO wallet, newest first"),
    HttpApiEndpoint.get("xrpWalletTransactions", "/:blockchain/:network/:extendedPublicKey/transactions", {
      ...listOf,
      success: answeredList(XrpWalletTransaction)
    })
      .annotate(Price, "xrp-assets")
      .annotate(Listing, "offset")
      .annotate(ExampleValues, {
        ...{ format: "CLASSIC", "fee.amount": "0.000012", answeredFrom: "node" },
        ...parties("xrp")
      })
      .annotate(Families, ["xrp"])
      .annotate(OpenApi.Summary, "List the transactions of an XRP wallet, newest first"),
    HttpApiEndpoint.get("utxoWalletOutputs", "/utxo/:blockchain/:network/:extendedPublicKey/unspent-outputs", {
      ...listOf,
      success: answeredList(WalletOutput)
    })
      .annotate(Price, "utxo-assets")
      .annotate(Listing, "offset")
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "List the unspent outputs of a UTXO wallet, the oldest first"),
    HttpApiEndpoint.post(
      "utxoDeriveChange",
      "/utxo/:blockchain/:network/:extendedPublicKey/addresses/derive-and-sync-change",
      derive
    )
      .annotate(Price, "utxo-derive")
      .annotate(ExampleValues, { format: "P2WPKH", type: "change" })
      .annotate(Listing, "whole")
      .annotate(Families, ["utxo"])
      .annotate(OpenApi.Summary, "Derive 100 addresses for change of a UTXO wallet and record their transfers"),
    HttpApiEndpoint.post("evmDerive", "/evm/:blockchain/:network/:extendedPublicKey/addresses/derive-and-sync", derive)
      .annotate(Price, "evm-derive")
      .annotate(ExampleValues, { format: "STANDARD" })
      .annotate(Listing, "whole")
      .annotate(Families, ["evm", "tron"])
      .annotate(OpenApi.Summary, "Derive 100 receiving addresses of an EVM wallet and record their transfers"),
    HttpApiEndpoint.get("walletStatus", "/manage/:blockchain/:network/:extendedPublicKey/status", {
      params,
      query: { ...context, ...derivation, ...format },
      success: item(
        Schema.Struct({ ...SyncedWalletState.fields, blocksLeft: BlocksLeft }).annotate({
          identifier: "SyncedWalletStatus"
        })
      ),
      error: [...chainErrors, Failures.invalidXpub, Failures.resourceNotFound, Failures.unimplemented]
    })
      .annotate(Price, "subscription-get")
      .annotate(OpenApi.Summary, "Read whether a wallet is synced")
  )
  .middleware(RequestedChain)
  .annotateEndpoints(DefaultLimit, ten)
  .prefix("/hd-wallets")
  .annotateMerge(
    OpenApi.annotations({ title: "HD wallet lists", description: "Addresses, transactions and coins of HD wallets" })
  ) {}
