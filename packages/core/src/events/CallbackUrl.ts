/**
 * The rules that the text of a callback URL has to keep. The addresses that the host name resolves to are checked at each
 * connection, by the program that connects.
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The rule that a callback URL breaks. */
export class InvalidCallbackUrl extends Schema.TaggedError<InvalidCallbackUrl>()("InvalidCallbackUrl", {
  rule: Schema.String
}) {
  override get message() {
    return `callbackUrl ${this.rule}`
  }
}

const maxLength = 2048

/** Labels of letters, digits, hyphens and underscores, at least two of them, the last one no number (RFC 1123). */
const domainName = /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Names of the machine or the network that the server is in (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). */
const insideName = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|home\.arpa)$/

/**
 * A DNS name that may be a host on the Internet, in lower case: no address in any notation, no local name.
 *
 * @example
 * ```ts
 * import { isDomainName } from "@headwater/core/events/CallbackUrl"
 *
 * isDomainName("hooks.example.com") // => true
 * isDomainName("10.0.0.1") // => false
 * isDomainName("printer.local") // => false
 * ```
 */
export const isDomainName = (host: string): boolean => domainName.test(host) && !insideName.test(host)

/**
 * Reads a callback URL. Hosts in `allowedHosts`, the operator's exceptions, may be anything.
 *
 * @example
 * ```ts
 * import * as CallbackUrl from "@headwater/core/events/CallbackUrl"
 * import * as Result from "effect/Result"
 *
 * Result.getOrThrow(CallbackUrl.parse("https://example.com/hook")).hostname // => "example.com"
 * Result.isFailure(CallbackUrl.parse("https://127.0.0.1/hook")) // => true
 * Result.isFailure(CallbackUrl.parse("https://127.0.0.1/hook", new Set(["127.0.0.1"]))) // => false
 * ```
 */
export const parse = (
  text: string,
  allowedHosts: ReadonlySet<string> = new Set()
): Result.Result<URL, InvalidCallbackUrl> => {
  const broken = (rule: string) => Result.fail(new InvalidCallbackUrl({ rule }))
  if (text.length > maxLength) return broken(`must have at most ${maxLength} characters`)
  // A URL parser drops such characters silently; a person who reads the text does not.
  if (!/^[\x21-\x5b\x5d-\x7e]*$/.test(text))
    return broken("must have no spaces, control characters, backslashes or non-ASCII characters")
  return Result.flatMap(
    Result.mapError(
      Result.try(() => new URL(text)),
      () => new InvalidCallbackUrl({ rule: "must be a URL" })
    ),
    (url) => {
      if (url.protocol !== "https:" || !/^https:\/\//i.test(text)) return broken("must begin with https://")
      if (url.username !== "" || url.password !== "" || url.host === "" || /^https:\/\/[^/?]*@/i.test(text))
        return broken("must have no user name or password")
      if (text.includes("#")) return broken("must have no fragment")
      if (url.port === "0") return broken("must have another port than 0, which nobody listens on")
      if (!allowedHosts.has(url.hostname) && !isDomainName(url.hostname))
        return broken("must name its host by a public DNS name, not by an address or a local name")
      return Result.succeed(url)
    }
  )
}
