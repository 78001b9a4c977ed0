/** All routes of this package: the contract with its handlers, the OpenAPI document and the docs page. */
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { AccountFeed } from "@headwater/indexer/store/subscriptions/AccountFeed"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Api } from "../contract/Api.ts"
import * as AddressForms from "../handlers/AddressForms.ts"
import * as AddressLists from "../handlers/AddressLists.ts"
import * as Bulk from "../handlers/Bulk.ts"
import * as Callbacks from "../handlers/Callbacks.ts"
import * as Chains from "../handlers/Chains.ts"
import * as CreditHandlers from "../handlers/Credits.ts"
import * as Domains from "../handlers/Domains.ts"
import * as ExtendedKeys from "../handlers/ExtendedKeys.ts"
import * as Feed from "../handlers/Feed.ts"
import * as Limits from "../handlers/Limits.ts"
import * as MarketData from "../handlers/MarketData.ts"
import * as Receivers from "../handlers/Receivers.ts"
import * as Subscriptions from "../handlers/Subscriptions.ts"
import { docsPath, openApiPath } from "./AllowedMethods.ts"
import * as Authentication from "./Authentication.ts"
import * as Charging from "./Charging.ts"
import * as RequestedChain from "./RequestedChain.ts"
import * as ResponseEnvelope from "./ResponseEnvelope.ts"
import { FeedStreams } from "./FeedStreams.ts"
import * as Validation from "./Validation.ts"

const handlers = Layer.mergeAll(
  Subscriptions.layer,
  AddressLists.layer,
  ExtendedKeys.layer,
  AddressForms.layer,
  Bulk.layer,
  Callbacks.layer,
  Feed.layer.pipe(Layer.provide(AccountFeed.layer)),
  Domains.layer,
  Chains.layer,
  MarketData.layer,
  CreditHandlers.layer,
  Limits.layer,
  Receivers.layer
).pipe(Layer.provide(FeedStreams.layer))

const middleware = Layer.mergeAll(Authentication.layer, Charging.layer, RequestedChain.layer, Validation.layer)

/** The documents are loaded and made at the first request for one: few servers get such a request, and all start faster. */
const documents = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const scope = yield* Effect.scope
    const handler = yield* Effect.cached(
      Effect.flatMap(
        Effect.promise(() => import("./Documents.ts")),
        ({ layer }) => Scope.provide(HttpRouter.toHttpEffect(layer), scope)
      )
    )
    for (const path of [openApiPath, docsPath] as const) yield* router.add("GET", path, Effect.flatten(handler))
  })
)

export const layer = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers), Layer.provide(middleware), Layer.provide(Credits.layer)),
  documents,
  ResponseEnvelope.layer
)
