/** The contract as an OpenAPI 3.1 document. */
import * as OpenApi from "effect/http-api/OpenApi"
import { Api } from "./Api.ts"

export const openApiDocument = OpenApi.fromApi(Api)
