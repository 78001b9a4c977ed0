/**
 * Answers of the Node server. What every answer has is put beside its own headers as those are written: headers that are set
 * one by one beforehand cost several times as much.
 */
import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from "node:http"
import * as MalformedRequest from "./MalformedRequest.ts"
import { securityHeaders } from "./SecurityHeaders.ts"

/** The answers of a server; those of one that stops are the last ones over their connections. */
export const make = (stops: () => boolean): typeof ServerResponse =>
  class<Request extends IncomingMessage> extends ServerResponse<Request> {
    override writeHead(statusCode: number, reason?: unknown, own?: unknown): this {
      // A stopping server waits for its connections.
      if (stops()) this.shouldKeepAlive = false
      const message = typeof reason === "string" ? reason : undefined
      const given = message === undefined ? (own ?? reason) : own
      // Node's own answer to a request without a host gives names and values in turns, and has no body.
      if (Array.isArray(given)) {
        const { body, headers } = MalformedRequest.hostless()
        super.writeHead(statusCode, headers)
        this.end(body)
        return this
      }
      // What an answer says itself stands in place of what every answer has.
      const headers = { ...securityHeaders, ...(given as OutgoingHttpHeaders | undefined) }
      return message === undefined
        ? super.writeHead(statusCode, headers)
        : super.writeHead(statusCode, message, headers)
    }
  }
