/** The contract for readers: the OpenAPI document and the docs page. */
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as HttpApiSwagger from "effect/http-api/HttpApiSwagger"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Layer from "effect/Layer"
import { Api } from "../contract/Api.ts"
import { openApiDocument } from "../contract/OpenApiDocument.ts"
import { docsPath, openApiPath } from "./AllowedMethods.ts"

/** The contract with the whole document, prices and examples too. */
const documented = Api.annotate(OpenApi.Transform, () => openApiDocument)

export const layer = Layer.merge(
  HttpRouter.add("GET", openApiPath, HttpServerResponse.jsonUnsafe(openApiDocument)),
  HttpApiSwagger.layer(documented, { path: docsPath })
)
