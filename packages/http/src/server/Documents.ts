/** The contract for readers: the OpenAPI document and the docs page. */
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { publishedDocument } from "../contract/PublishedDocument.ts"
import { docsPath, openApiPath } from "./AllowedMethods.ts"
import * as Packed from "./Packed.ts"
import * as ReferencePage from "./ReferencePage.ts"
import { pagePolicy } from "./SecurityHeaders.ts"

export const layer = Layer.merge(
  HttpRouter.add(
    "GET",
    openApiPath,
    Packed.answer(JSON.stringify(publishedDocument), { contentType: "application/json" })
  ),
  HttpRouter.add(
    "GET",
    docsPath,
    Packed.answer(ReferencePage.make(), {
      contentType: "text/html; charset=utf-8",
      headers: { "content-security-policy": pagePolicy }
    })
  )
)
