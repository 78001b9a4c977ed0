/** The recorded transfers of an address (interface sections 4.6 and 4.7). */

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
  HashText,
  MinedInBlock,
  NameText,
  NumberText,
  pageErrors,
  SymbolText,
  Timestamp
} from "./Common.ts"
import { item } from "./Envelope.ts"
import { Failures } from "./Errors.ts"
import { ExampleValues } from "./internal/Example.ts"
import { cursorPage, cursorQuery, cursorQueryOf, DefaultLimit, Listing, recordedPage } from "./Paging.ts"
import { Price } from "./Price.ts"
import { Families, RequestedChain } from "./RequestedChain.ts"

export const InternalTransaction = Schema.Struct({
  transactionHash: HashText.annotate({ description: "The parent transaction" }),
  minedInBlock: MinedInBlock,
  operationId: Schema.String.annotate({ description: "Trace address", examples: ["call_0_1"] }),
  operationType: Schema.String.annotate({ examples: ["call"] }),
  recipient: AddressText,
  sender: AddressText,
  timestamp: Timestamp,
  value: Amount
}).annotate({ identifier: "InternalTransaction" })

export const TokenTransfer = Schema.Struct({
  recipient: AddressText,
  sender: AddressText,
  timestamp: Timestamp,
  tokenData: Schema.Struct({
    fungibleValues: Schema.Struct({ amount: DecimalText }),
    name: NameText,
    nonFungibleValues: Schema.optionalKey(Schema.Struct({ tokenId: Schema.optionalKey(NumberText) })),
    symbol: SymbolText,
    contractAddress: AddressText,
    standard: Schema.String.annotate({ examples: ["ERC-20"] })
  }),
  transactionHash: HashText,
  minedInBlock: MinedInBlock
}).annotate({ identifier: "TokenTransfer" })

const SyncStatus = Schema.Literals(["syncing", "synced"]).annotate({
  description: "`syncing` while the past of the address is being read; on UTXO chains while its coins are looked for"
})

const state = { isActive: Schema.Boolean, syncStatus: SyncStatus }

export const SyncedAddress = Schema.Struct({
  address: AddressText,
  blockchain: Schema.String,
  id: Schema.String.annotate({ description: "Grows with each address", examples: ["17"] }),
  network: Schema.String,
  blocksLeft: BlocksLeft,
  ...state
}).annotate({ identifier: "SyncedAddress" })

export const SyncedAddressState = Schema.Struct(state).annotate({ identifier: "SyncedAddressState" })

export const NewSyncedAddress = Schema.Struct({
  address: AddressText,
  blockchain: Schema.String,
  callcackUrl: Schema.optionalKey(
    Schema.String.annotate({
      description: "The `callbackUrl` of the request",
      examples: ["https://example.com/callbacks"]
    })
  ),
  network: Schema.String,
  ...state
}).annotate({ identifier: "NewSyncedAddress" })

const recorded = ["evm", "tron"] as const
const managed = ["evm", "tron", "utxo"] as const
const manage = "/addresses-historical/manage/:blockchain/:network"
const params = {
  ...chainParams,
  address: Schema.String.check(Schema.isBetweenLength(1, 200)).annotate({
    description: "Address, in any form that the blockchain knows"
  })
}
const errors = [...chainErrors, ...pageErrors, Failures.unimplemented, Failures.nodeUnavailable] as const

export class AddressesGroup extends HttpApiGroup.make("addresses")
  .add(
    HttpApiEndpoint.get(
      "internalTransactions",
      "/addresses-latest/evm/:blockchain/:network/:address/internal-transactions",
      {
        params,
        query: { ...context, ...cursorQuery },
        success: recordedPage(InternalTransaction),
        error: errors
      }
    )
      .annotate(Price, "internal-transactions")
      .annotate(Listing, "cursor")
      .annotate(Families, recorded)
      .annotate(OpenApi.Summary, "List the internal transactions of an address in the last 14 days"),
    HttpApiEndpoint.get("tokensTransfers", "/addresses-historical/evm/:blockchain/:network/:address/tokens-transfers", {
      params,
      query: { ...context, ...cursorQuery },
      success: recordedPage(TokenTransfer),
      error: [...errors, Failures.addressNotSynced, Failures.syncAddressNotActive]
    })
      .annotate(Price, "tokens-transfers")
      .annotate(ExampleValues, { nonFungibleValues: undefined })
      .annotate(Listing, "cursor")
      .annotate(Families, recorded)
      .annotate(OpenApi.Summary, "List the confirmed token transfers of an address"),
    HttpApiEndpoint.get("syncedAddresses", manage, {
      params: chainParams,
      query: { ...context, ...cursorQueryOf(10) },
      success: cursorPage(SyncedAddress),
      error: errors
    })
      .annotate(Price, "subscription-list")
      .annotate(Listing, "cursor")
      .annotate(DefaultLimit, 10)
      .annotate(Families, managed)
      .annotate(OpenApi.Summary, "List the synced addresses of the account"),
    HttpApiEndpoint.post("syncAddress", manage, {
      params: chainParams,
      query: context,
      payload: body({
        address: params.address,
        callbackUrl: Schema.optionalKey(
          Schema.String.check(Schema.isMaxLength(2_048, { message: "must be at most 2048 characters" })).annotate({
            description: "Kept and answered; nothing is sent there: `syncStatus` says when the past has been read",
            examples: ["https://example.com/callbacks"]
          })
        ),
        birthHeight: BirthHeight
      }),
      success: item(NewSyncedAddress).pipe(HttpApiSchema.status(201)),
      error: [
        ...chainErrors,
        ...bodyErrors,
        Failures.syncAddressesLimitReached,
        Failures.alreadyExists,
        Failures.unimplemented,
        Failures.nodeUnavailable
      ]
    })
      .annotate(Price, "subscription-create")
      .annotate(Families, managed)
      .annotate(OpenApi.Summary, "Record an address from now on, and read its past"),
    HttpApiEndpoint.delete("deactivateSyncedAddress", `${manage}/:address`, {
      params,
      query: context,
      success: item(SyncedAddressState),
      error: [...chainErrors, Failures.resourceNotFound, Failures.conflict, Failures.unimplemented]
    })
      .annotate(Families, managed)
      .annotate(ExampleValues, { isActive: false })
      .annotate(OpenApi.Summary, "Stop recording a synced address"),
    HttpApiEndpoint.post("activateSyncedAddress", `${manage}/:address/activate`, {
      params,
      query: context,
      payload: emptyBody,
      success: item(SyncedAddressState).pipe(HttpApiSchema.status(201)),
      error: [
        ...chainErrors,
        ...bodyErrors,
        Failures.resourceNotFound,
        Failures.syncAddressAlreadyActive,
        Failures.conflict,
        Failures.unimplemented
      ]
    })
      .annotate(Price, "subscription-activate")
      .annotate(Families, managed)
      .annotate(OpenApi.Summary, "Record a synced address again, and read its past again")
  )
  .middleware(RequestedChain)
  .annotateMerge(OpenApi.annotations({ title: "Addresses", description: "Recorded transfers of an address" })) {}
