/**
 * Answers a socket that sent no valid HTTP request, or none in time: nothing can be routed, but the answer has the
 * envelope all the same.
 */
import { STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import { apiVersion } from "../contract/Envelope.ts"
import type { Code } from "../contract/Errors.ts"
import { securityHeaders } from "./SecurityHeaders.ts"

const answers: Readonly<Record<string, readonly [status: number, code: Code, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, "payload_too_large", "The URL and the headers are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "request_timeout", "The request did not arrive in time"]
}

const malformed = [400, "invalid_data", "The request is not valid HTTP"] as const

/** The headers and the body of an answer, after which the connection ends. */
const written = (code: Code, message: string) => {
  const requestId = crypto.randomUUID().replaceAll("-", "").slice(0, 24)
  const body = JSON.stringify({ apiVersion, requestId, error: { code, message } })
  const headers = {
    ...{ "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-request-id": requestId },
    ...securityHeaders,
    connection: "close"
  }
  return { headers, body }
}

/** What a request of HTTP/1.1 without a host is told. */
export const hostless = () => written("invalid_data", "The header host is missing")

/** Listens to `clientError` of a Node server. */
export const answer = (error: Error & { readonly code?: string }, socket: Duplex): void => {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy()
    return
  }
  const [status, code, message] = answers[error.code ?? ""] ?? malformed
  const { body, headers } = written(code, message)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`)
}
