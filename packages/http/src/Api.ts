/** The whole contract: every endpoint of the interface, from which server, client and OpenAPI document are made. */
import { apiVersion } from "@headwater/core/Callback"
import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { AddressesGroup } from "./contract/Addresses.ts"
import { Authentication } from "./contract/Authentication.ts"
import { BlocksGroup } from "./contract/Blocks.ts"
import { CallbacksGroup } from "./contract/Callbacks.ts"
import { CreditsGroup } from "./contract/Credits.ts"
import { DomainsGroup } from "./contract/Domains.ts"
import { HdWalletsGroup } from "./contract/HdWallets.ts"
import { MarketDataGroup } from "./contract/MarketData.ts"
import { Charging } from "./contract/Price.ts"
import { SubscriptionsGroup } from "./contract/Subscriptions.ts"
import { TransactionsGroup } from "./contract/Transactions.ts"
import { Validation } from "./contract/Validation.ts"

export class Api extends HttpApi.make("headwater")
  .add(SubscriptionsGroup)
  .add(CallbacksGroup)
  .add(DomainsGroup)
  .add(BlocksGroup)
  .add(TransactionsGroup)
  .add(AddressesGroup)
  .add(HdWalletsGroup)
  .add(MarketDataGroup)
  .add(CreditsGroup)
  .middleware(Validation)
  .middleware(Charging)
  .middleware(Authentication)
  .annotate(HttpApi.ParseOptions, { errors: "all" })
  .annotateMerge(
    OpenApi.annotations({
      title: "Headwater",
      version: apiVersion,
      description: "Event subscriptions, blocks, addresses, HD wallets and transaction preparation on 16 blockchains",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" }
    })
  ) {}
