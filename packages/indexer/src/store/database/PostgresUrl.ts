/**
 * The URL of a PostgreSQL store, which may name several servers as libpq's URLs do, a primary and its standbys:
 * `postgres://user@a:5432,b:5433/name`, or `?host=a,b&port=5432,5433`.
 */
import * as Schema from "effect/Schema"

const parts = /^(\w+:\/\/)((?:[^/?#]*@)?)([^/?#]*)([^?#]*)(?:\?([^#]*))?/s

/** The servers' names and ports, as they stand in the URL, and the URL of each. */
const divide = (text: string) => {
  const [, scheme = "", user = "", authority = "", path = "", query = ""] = parts.exec(text) ?? []
  const parameters = new URLSearchParams(query)
  const named = parameters.get("host")
  const hosts = (named ?? authority).split(",")
  const ports = parameters.get("port")?.split(",") ?? []
  const urlOf = (host: string, index: number) => {
    const own = new URLSearchParams(parameters)
    const port = ports[index] ?? ports[0]
    if (port !== undefined) own.set("port", port)
    // A folder with a socket stands in `host` alone, which counts more than what stands in its place.
    const isFolder = host.startsWith("/")
    if (isFolder) own.set("host", host)
    else own.delete("host")
    return `${scheme}${user}${isFolder ? "localhost" : host}${path}${own.size === 0 ? "" : `?${own}`}`
  }
  return { parameters, hosts, ports, urls: hosts.length < 2 ? [text] : hosts.map(urlOf) }
}

/** The URL of each server that the URL names, in their order; a URL that names one stays as it is. */
export const each = (text: string): ReadonlyArray<string> => divide(text).urls

const attributes = ["primary", "read-write"]

/** `pg` takes an unknown one for `verify-full`. */
const sslModes = ["disable", "no-verify", "prefer", "require", "verify-ca", "verify-full"]

const problemOf = (text: string): string | undefined => {
  if (text !== text.trim()) return "must not begin or end with white space"
  const { hosts, parameters, ports } = divide(text)
  if (parameters.getAll("host").length > 1 || parameters.getAll("port").length > 1) {
    return "must have host= and port= once, with commas between several"
  }
  if (hosts.length > 1 && hosts.includes("")) return "must have a host before and behind each comma"
  if (ports.length > 1 && ports.length !== hosts.length) return "must have one port=, or as many as hosts"
  if (ports.some((port) => port !== "" && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535))) {
    return "must have numbers up to 65535 as port="
  }
  if (!parameters.getAll("sslmode").every((value) => sslModes.includes(value))) {
    return `must have one of ${sslModes.join(", ")} as sslmode=`
  }
  return parameters.getAll("target_session_attrs").every((value) => attributes.includes(value))
    ? undefined
    : "must have target_session_attrs=read-write or =primary, if any: a store is written"
}

/** What holds for the hosts, and for what is asked of them; without the URL in the error, which may have a password. */
export const rules = Schema.makeFilter((text: string) => problemOf(text))

/** The server's name and port in messages, without user and password. */
export const nameOf = (url: string): string => {
  const { hosts, ports } = divide(url)
  const [host = ""] = hosts
  const [port] = ports
  const name = host === "" ? "localhost" : host
  return port === undefined || port === "" ? name : `${name}:${port}`
}
