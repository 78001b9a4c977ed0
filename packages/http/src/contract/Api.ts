/** The whole contract: every endpoint of the interface, from which server, client and OpenAPI document are made. */
import { blockchains } from "@headwater/core/chains/blockchains"
import { apiVersion } from "@headwater/core/events/Callback"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AddressesGroup } from "./Addresses.ts"
import { AddressFormsGroup } from "./AddressForms.ts"
import { AddressHistoryGroup } from "./AddressHistory.ts"
import { AddressListsGroup } from "./AddressLists.ts"
import { Authentication } from "./Authentication.ts"
import { BalancesGroup } from "./Balances.ts"
import { BlocksGroup } from "./Blocks.ts"
import { BroadcastsGroup } from "./Broadcasts.ts"
import { BulkGroup } from "./Bulk.ts"
import { CallbacksGroup } from "./Callbacks.ts"
import { CreditsGroup } from "./Credits.ts"
import { DomainsGroup } from "./Domains.ts"
import { ExtendedKeysGroup } from "./ExtendedKeys.ts"
import { FeedGroup } from "./Feed.ts"
import { FeesGroup } from "./Fees.ts"
import { HdWalletDetailsGroup } from "./HdWalletDetails.ts"
import { HdWalletListsGroup } from "./HdWalletLists.ts"
import { HdWalletsGroup } from "./HdWallets.ts"
import { LimitsGroup } from "./Limits.ts"
import { MarketDataGroup } from "./MarketData.ts"
import { NextNonceGroup } from "./NextNonce.ts"
import { Charging } from "./Price.ts"
import { RawTransactionsGroup } from "./RawTransactions.ts"
import { ReceiversGroup } from "./Receivers.ts"
import { SimulationGroup } from "./Simulation.ts"
import { SubscriptionsGroup } from "./Subscriptions.ts"
import { TokenPreparationGroup } from "./TokenPreparation.ts"
import { TransactionsGroup } from "./Transactions.ts"
import { Validation } from "./Validation.ts"
import { XrpPreparationGroup } from "./XrpPreparation.ts"

export class Api extends HttpApi.make("headwater")
  .add(SubscriptionsGroup)
  .add(BulkGroup)
  .add(AddressListsGroup)
  .add(ExtendedKeysGroup)
  .add(CallbacksGroup)
  .add(FeedGroup)
  .add(DomainsGroup)
  .add(ReceiversGroup)
  .add(BlocksGroup)
  .add(TransactionsGroup)
  .add(TokenPreparationGroup)
  .add(XrpPreparationGroup)
  .add(SimulationGroup)
  .add(FeesGroup)
  .add(NextNonceGroup)
  .add(BalancesGroup)
  .add(BroadcastsGroup)
  .add(AddressesGroup)
  .add(AddressHistoryGroup)
  .add(HdWalletsGroup)
  .add(HdWalletDetailsGroup)
  .add(HdWalletListsGroup)
  .add(AddressFormsGroup)
  .add(RawTransactionsGroup)
  .add(MarketDataGroup)
  .add(CreditsGroup)
  .add(LimitsGroup)
  .middleware(Validation)
  .middleware(Charging)
  .middleware(Authentication)
  // Of a request every rule that it breaks is told; an answer that breaks one is not sent.
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotate(HttpApi.SuccessParseOptions, {})
  .annotate(HttpApi.ErrorParseOptions, {})
  .annotateMerge(
    OpenApi.annotations({
      title: "Headwater",
      version: apiVersion,
      description: `Event subscriptions, blocks, addresses, HD wallets and transaction preparation on ${blockchains.length} blockchains`,
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" }
    })
  ) {}
