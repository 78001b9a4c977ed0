/**
 * What an API key may call: operations by their names in the OpenAPI document, `group.endpoint`, or all operations of a
 * group, `group.*`. A key that only reads may call what is asked by GET.
 */
import * as HttpApi from "effect/http-api/HttpApi"
import { Api } from "./Api.ts"

const names: Array<string> = []
const groups = new Set<string>()

HttpApi.reflect(Api, {
  onGroup: () => {},
  onEndpoint: ({ endpoint, group }) => {
    names.push(`${group.identifier}.${endpoint.identifier}`)
    groups.add(group.identifier)
  }
})

/** Every operation as `group.endpoint`. */
export const operations: ReadonlyArray<string> = names

/** Everything that may stand in an allow-list. */
export const patterns: ReadonlyArray<string> = [...operations, ...[...groups].map((group) => `${group}.*`)]

/** Whether a list, undefined for everything, has the operation. */
export const allows = (list: ReadonlySet<string> | undefined, group: string, endpoint: string): boolean =>
  list === undefined || list.has(`${group}.${endpoint}`) || list.has(`${group}.*`)

/** Whether an operation changes nothing. */
export const readsOnly = ({ method }: { readonly method: string }): boolean => method === "GET"
