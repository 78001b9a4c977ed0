/** The contract for readers: the OpenAPI document and the docs page. */
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import { publishedDocument } from "../contract/PublishedDocument.ts"
import { docsPath, openApiPath } from "./AllowedMethods.ts"
import * as ReferencePage from "./ReferencePage.ts"
import { pagePolicy } from "./SecurityHeaders.ts"

export const layer = Layer.merge(
  HttpRouter.add("GET", openApiPath, HttpServerResponse.jsonUnsafe(publishedDocument)),
  HttpRouter.add(
    "GET",
    docsPath,
    HttpServerResponse.text(ReferencePage.make(), {
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": pagePolicy }
    })
  )
)
