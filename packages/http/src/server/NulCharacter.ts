/**
 * The NUL character in what is asked: PostgreSQL keeps and compares no text that has one, and nothing that exists is called by
 * one. What has one is refused before the store is asked.
 */

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
