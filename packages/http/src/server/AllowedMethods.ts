/** The methods of each path: by them a path that does not exist (404) differs from a method that a path lacks (405). */
import * as FindMyWay from "effect/http/FindMyWay"
import * as HttpApi from "effect/http-api/HttpApi"
import { Api } from "../contract/Api.ts"

/** Longest path parameter: an extended public key has 111 characters, and the router takes only 100 by itself. */
export const maxParamLength = 256

/** Paths of this package that the contract does not declare. */
export const openApiPath = "/openapi.json"
export const docsPath = "/docs"

const table = FindMyWay.make<true>({ maxParamLength })
const methods = new Set(["GET"])

for (const path of [openApiPath, docsPath] as const) table.on("GET", path, true)
HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint }) => {
    methods.add(endpoint.method)
    table.on(endpoint.method, endpoint.path as FindMyWay.PathInput, true)
  }
})

/** The methods that the path of `url` takes; none where there is no such path. */
export const allowedMethods = (url: string): ReadonlyArray<string> =>
  [...methods]
    .filter((method) => table.find(method, url) !== undefined)
    .flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method]))
