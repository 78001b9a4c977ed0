/** Where the daemon of these settings answers on this machine. */

/** The URL of an address to listen on; one of all interfaces is asked at the loopback address. */
export const of = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const named = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host
  return `http://${named.includes(":") ? `[${named}]` : named}:${port}`
}
