/** URLs in settings. */
import * as Schema from "effect/Schema"

/**
 * Whether a part of a user or password stands behind the host: one with `/`, `?` or `#` in it ends the host early, and
 * what is left of it would be taken for a host, in messages too.
 */
const isTorn = ({ hash, pathname, search }: URL): boolean => (pathname + search + hash).includes("@")

const torn = "must have / ? # and @ in its user or password percent-encoded (%2F %3F %23 %40)"

/** Whether the port alone keeps a text from being a URL. */
const hasBadPort = (value: string): boolean => {
  const portless = URL.parse(value.replace(/^(\w+:\/\/[^/?#]*):[^/?#:@\]]*/s, "$1"))
  return portless !== null && !isTorn(portless)
}

const problemOf = (schemes: ReadonlyArray<string>, value: string): string | undefined => {
  const url = URL.parse(value)
  if (url === null && hasBadPort(value)) return "must have a number up to 65535 as its port"
  const known = url === null ? undefined : schemes.includes(url.protocol.slice(0, -1))
  if (url === null ? /^\w+:\/\/.*@/s.test(value) : known && isTorn(url)) return torn
  return known === true
    ? undefined
    : `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`
}

/** Whether a text is a URL of one of these schemes, or all are that `each` makes of a text that stands for several. */
export const isOf = (
  schemes: ReadonlyArray<string>,
  each: (value: string) => ReadonlyArray<string> = (value) => [value]
) =>
  Schema.makeFilter((value: string) => {
    const problems = each(value).map((one) => problemOf(schemes, one))
    return problems.find((problem) => problem !== undefined)
  })

/** The text of a URL of one of these schemes (`http`), without its value in the error. */
export const ofSchemes = (schemes: ReadonlyArray<string>) => Schema.String.check(isOf(schemes))
