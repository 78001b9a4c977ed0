/** Where the daemon of these settings answers on this machine. */

/** Host and port in one word: an IPv6 address stands in brackets. */
export const place = ({ host, port }: { readonly host: string; readonly port: number }): string =>
  `${host.includes(":") ? `[${host}]` : host}:${port}`

/** The URL of an address to listen on; one of all interfaces is asked at the loopback address. */
export const of = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const named = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${place({ host: named, port })}`
}
