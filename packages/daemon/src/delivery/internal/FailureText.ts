/** What an account is told of a request without an answer. */

/** The code of a connection's error, or its name where there is no code. */
export const codeOf = (error: Error): string => {
  const { code } = error as { readonly code?: unknown }
  return typeof code === "string" ? code : error.name
}

/** The handshake of a receiver that speaks HTTP/2 alone. */
const noHttp1 = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL"

/** Node's advice on unknown authorities, which is of use to who starts the process alone: `callbacks.extraCa` is theirs. */
const nodeAdvice = /; if the root CA is installed locally.*$/

/** OpenSSL's own messages name a place in its source; its errors have the reason apart. */
const messageOf = (error: Error, code: string): string => {
  if (code === noHttp1) return "the receiver does not speak HTTP/1.1, over which callbacks are sent"
  const { reason } = error as { readonly reason?: unknown }
  if (code.startsWith("ERR_SSL_") && typeof reason === "string") return reason
  return error.message.replace(nodeAdvice, "")
}

/** Code and message for the receiver's account, in 300 characters at most. */
export const reasonOf = (error: Error): string => {
  const code = codeOf(error)
  const message = messageOf(error, code)
  const text = message === "" || message.includes(code) ? message || code : `${code}: ${message}`
  return text.slice(0, 300)
}
