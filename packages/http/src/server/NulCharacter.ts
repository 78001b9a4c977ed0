/**
 * The NUL character in what is asked: PostgreSQL keeps and compares no text that has one, and nothing that exists is called by
 * one. What has one is refused before the store is asked.
 */
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

export const rule = "must have no NUL character"

/** The parameter of a path, as it was decoded, or of a query that has a NUL character; undefined where none has. */
export const parameterOf = (url: string, params: Readonly<Record<string, string | undefined>>): string | undefined => {
  if (!url.includes("%00")) return undefined
  const query = url.indexOf("?")
  const asked = query === -1 ? [] : [...new URLSearchParams(url.slice(query))]
  return [...Object.entries(params), ...asked].find(([, value]) => value?.includes("\0"))?.[0]
}

/** Whether a text of JSON has a NUL character. */
export const isIn = (json: string): boolean => /(?<!\\)(?:\\\\)*\\u0000/.test(json)

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))

/** The member of a JSON object whose text, or one of whose texts, has a NUL character; undefined where there is none. */
export const memberOf = (json: string): string | undefined => {
  // Not by recursion: who asks chooses the depth.
  const left: Array<readonly [name: string | undefined, value: unknown]> = [
    [undefined, Option.getOrUndefined(decode(json))]
  ]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const [name, value] = next
    if (typeof value === "string" && value.includes("\0")) return name
    if (typeof value !== "object" || value === null) continue
    for (const [own, inner] of Object.entries(value)) left.push([Array.isArray(value) ? name : own, inner])
  }
  return undefined
}
