/** Where a request of the console comes from: the peer, and whom a proxy in front of the console names. */

import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { isPublic } from "../delivery/CallbackTarget.ts"
import type { Request } from "./Access.ts"

const peerOf = (request: Request) => Option.getOrElse(request.remoteAddress, () => "unknown")

/** The last address is the one that the nearest proxy saw, if there is a proxy: anybody may send the header. */
const namedOf = (request: Request) => {
  const named = request.headers["x-forwarded-for"]?.split(",").at(-1)?.trim().slice(0, 64)
  return named === "" ? undefined : named
}

/** The peer, and whom a proxy names, whose word that is; for the audit log. */
export const describe = (request: Request): string => {
  const [peer, named] = [peerOf(request), namedOf(request)]
  return named === undefined ? peer : `${named} by way of ${peer}`
}

/** Without the zone of a link; an IPv4 address as such, also where the socket writes it as one of IPv6. */
const read = (text: string) =>
  Result.getOrUndefined(
    Result.map(NetAddress.ipFromString(text.replace(/%.*$/, "")), (address) => NetAddress.toCanonical(address))
  )

/** Whose guesses at a password are one count: those of one address, which is of IPv6 the network of 64 bits that a line has. */
const lineOf = (address: NetAddress.IpAddress) =>
  NetAddress.isIpv4Address(address)
    ? NetAddress.formatIp(address)
    : IpNetwork.format(Result.getOrThrow(IpNetwork.fromAddress(address, 64)))

/**
 * The address of who asks, by which guesses are counted. A proxy's word is taken where the peer is this machine or on a private
 * network, as a proxy in front of the console is: a stranger on the Internet could name any address.
 */
export const lineBehind = (request: Request): string => {
  const peer = read(peerOf(request))
  const named = read(namedOf(request) ?? "")
  const own = peer === undefined || !isPublic(peer) ? (named ?? peer) : peer
  return own === undefined ? "unknown" : lineOf(own)
}
