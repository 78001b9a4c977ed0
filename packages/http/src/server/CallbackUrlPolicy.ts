/**
 * Which callback URLs a subscription may have.
 *
 * The rules here are those of the text alone: https, a DNS name as host, nothing that smells of the inside of a
 * network. What a name resolves to is for the policy of the daemon, and for the delivery, which checks it again.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/** The URL may not be called; the message says by which rule. */
export class CallbackUrlRefused extends Schema.TaggedError<CallbackUrlRefused>()("CallbackUrlRefused", {
  message: Schema.String
}) {}

export interface CallbackUrlPolicy {
  readonly check: (url: string) => Effect.Effect<void, CallbackUrlRefused>
}

/** Names that mean the machine or the network that the server is in (RFC 6761, RFC 6762, RFC 8375, ICANN `.internal`). */
const insideNames = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|localdomain|home\.arpa)$/

const dnsName = /^(?=.{1,253}$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The rule that a host breaks. The URL parser has already written every notation of an IPv4 address as four numbers. */
const brokenByHost = (host: string): string | undefined => {
  if (host.startsWith("[") || /^[\d.]+$/.test(host)) return "must have a DNS name as host, not an IP address"
  if (insideNames.test(host)) return "must have a public host"
  return dnsName.test(host) ? undefined : "must have a DNS name as host"
}

/** The rule that a URL breaks, or undefined. Hosts in `allowed` may be any. */
export const brokenRule = (url: string, allowed: ReadonlySet<string>): string | undefined => {
  if (url.length > 2048) return "must be at most 2048 characters"
  // The URL parser drops or turns these silently; a URL that has them is not the one that it seems to be.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(url)) return "must have no spaces, control characters or backslashes"
  if (!/^https:\/\/[^/]/i.test(url)) return "must begin with https://"
  const parsed = Result.try(() => new URL(url))
  if (Result.isFailure(parsed)) return "must be a valid URL"
  const { hostname, password, username } = parsed.success
  if (username !== "" || password !== "") return "must have no user name and password"
  if (url.includes("#")) return "must have no fragment"
  const host = hostname.replace(/\.$/, "")
  return allowed.has(host) || allowed.has(hostname) ? undefined : brokenByHost(host)
}

/** The rules of the text, and hosts that the operator allows in spite of them. */
export const strict = (allowedHosts: ReadonlySet<string> = new Set()): CallbackUrlPolicy => ({
  check: (url) => {
    const message = brokenRule(url, allowedHosts)
    return message === undefined ? Effect.void : Effect.fail(new CallbackUrlRefused({ message }))
  }
})

export const CallbackUrlPolicy = Context.Reference<CallbackUrlPolicy>("@headwater/http/server/CallbackUrlPolicy", {
  defaultValue: () => strict()
})
