/** All routes of this package: the contract with its handlers, the OpenAPI document and the docs page. */
import { Credits } from "@headwater/indexer/store/Credits"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiSwagger from "effect/http-api/HttpApiSwagger"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Layer from "effect/Layer"
import { Api } from "../Api.ts"
import * as Callbacks from "../handlers/Callbacks.ts"
import * as Chains from "../handlers/Chains.ts"
import * as CreditHandlers from "../handlers/Credits.ts"
import * as Domains from "../handlers/Domains.ts"
import * as MarketData from "../handlers/MarketData.ts"
import * as Subscriptions from "../handlers/Subscriptions.ts"
import { openApiDocument } from "../OpenApiDocument.ts"
import { docsPath, openApiPath } from "./AllowedMethods.ts"
import * as Authentication from "./Authentication.ts"
import * as Charging from "./Charging.ts"
import * as Enveloped from "./Enveloped.ts"
import * as RequestedChain from "./RequestedChain.ts"
import * as Validation from "./Validation.ts"

const handlers = Layer.mergeAll(
  Subscriptions.layer,
  Callbacks.layer,
  Domains.layer,
  Chains.layer,
  MarketData.layer,
  CreditHandlers.layer
)

const middleware = Layer.mergeAll(Authentication.layer, Charging.layer, RequestedChain.layer, Validation.layer)

/** The contract with the whole document, prices and examples too. */
const documented = Api.annotate(OpenApi.Transform, () => openApiDocument)

const document = HttpRouter.add("GET", openApiPath, HttpServerResponse.jsonUnsafe(openApiDocument))

export const layer = Layer.mergeAll(
  HttpApiBuilder.layer(Api).pipe(Layer.provide(handlers), Layer.provide(middleware), Layer.provide(Credits.layer)),
  HttpApiSwagger.layer(documented, { path: docsPath }),
  document,
  Enveloped.layer
)
