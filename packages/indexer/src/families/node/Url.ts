/** URLs in settings. */
import * as Schema from "effect/Schema"

/**
 * Whether a part of a user or password stands behind the host: one with `/`, `?` or `#` in it ends the host early, and
 * what is left of it would be taken for a host, in messages too.
 */
const isTorn = ({ hash, pathname, search }: URL): boolean => (pathname + search + hash).includes("@")

const torn = "must have / ? # and @ in its user or password percent-encoded (%2F %3F %23 %40)"

/** The text of a URL of one of these schemes (`http`), without its value in the error. */
export const ofSchemes = (schemes: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter((value) => {
      const url = URL.parse(value)
      const known = url === null ? undefined : schemes.includes(url.protocol.slice(0, -1))
      if (url === null ? /^\w+:\/\/.*@/s.test(value) : known && isTorn(url)) return torn
      return known === true || `must be a URL that begins with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`
    })
  )
