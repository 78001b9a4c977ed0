/** Connections to receivers that nothing is sent over: whether a host is there, and whether its certificate is valid now. */
import { isIP, type Socket, type TcpSocketConnectOpts } from "node:net"
import { connect as connectTls, type SecureContext } from "node:tls"
import * as Effect from "effect/Effect"

/** How long a host may take to be heard of. */
export const reachMillis = 2000

/** Opens a socket to a host by its name or address, and a port. */
export type Open = (to: Pick<TcpSocketConnectOpts, "host" | "port" | "autoSelectFamilyAttemptTimeout">) => Socket

/** An allowed host may be an IPv6 address, which a URL has in brackets. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, "")

const opened = (open: Open, url: URL) =>
  open({
    ...{ host: hostOf(url), port: url.port === "" ? 443 : Number(url.port) },
    autoSelectFamilyAttemptTimeout: reachMillis / 2
  })

/** Whether a socket comes so far in time, or fails so that it is as good. */
const comesTo = (event: "connect" | "secureConnect", open: () => Socket, isGood: (error: Error) => boolean) =>
  Effect.callback<boolean>((resume) => {
    const end = (is: boolean) => {
      socket.destroy()
      resume(Effect.succeed(is))
    }
    const socket = open()
    socket.once(event, () => end(true))
    socket.on("error", (error) => end(isGood(error)))
    return Effect.sync(() => socket.destroy())
  }).pipe(Effect.timeoutOrElse({ duration: reachMillis, orElse: () => Effect.succeed(false) }))

/** Whether the host and port of a URL are heard of, be it by an error that tells so. */
export const reaches = (open: Open, url: URL, isHeard: (error: Error) => boolean) =>
  comesTo("connect", () => opened(open, url), isHeard)

/**
 * Whether a URL's host shows a certificate that is valid at this moment, by this machine's clock. A kept connection, or a
 * session that is taken up again, was judged by an earlier time.
 */
export const isCertified = (open: Open, url: URL, secureContext: SecureContext) => {
  const host = hostOf(url)
  const openTls = () =>
    connectTls({ socket: opened(open, url), host, servername: isIP(host) === 0 ? host : "", secureContext })
  return comesTo("secureConnect", openTls, () => false)
}
