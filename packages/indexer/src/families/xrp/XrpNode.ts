/** The servers of an XRP chain — rippled or clio, over WebSocket or JSON-RPC — asked as if they were one. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as BytesInFlight from "../node/BytesInFlight.ts"
import * as Failover from "../node/Failover.ts"
import * as Hints from "../node/Hints.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as XrpHttp from "./internal/XrpHttp.ts"
import * as XrpReply from "./internal/XrpReply.ts"
import type { XrpServer } from "./internal/XrpServer.ts"
import * as XrpWebSocket from "./internal/XrpWebSocket.ts"

export interface XrpNodeOptions {
  /** In order of preference: ws, wss, http or https. */
  readonly urls: readonly [string, ...Array<string>]
  /** Of one attempt; 30 s. */
  readonly timeoutMillis?: number
  /** Attempts over all servers before a request fails. */
  readonly attempts?: number
}

/** A client of one server or several. */
export interface XrpClient {
  /** Host and port of the server that was asked last. */
  readonly name: string
  readonly request: (command: string, params: XrpReply.Json) => Effect.Effect<XrpReply.Json, NodeError>
  /** As `request`, for a ledger: one that a server lacks may be in another's history. */
  readonly requestLedger: (command: string, params: XrpReply.Json) => Effect.Effect<XrpReply.Json, NodeError>
}

export interface XrpNode extends XrpClient, Failover.Shared<XrpClient> {
  /** Waits until a server has announced a ledger since this was last waited for. */
  readonly announced: Effect.Effect<void>
}

/** Connections are closed with the scope. Dies where a URL has another scheme: settings are checked before. */
export const make = Effect.fnUntraced(function* (
  options: XrpNodeOptions
): Effect.fn.Return<XrpNode, never, Scope.Scope> {
  const timeoutMillis = options.timeoutMillis ?? 30_000
  const announcements = yield* Hints.make
  const servers = yield* Effect.forEach(options.urls, (text) => {
    const url = URL.parse(text)
    switch (url?.protocol) {
      case "ws:":
      case "wss:":
        return XrpWebSocket.make({
          url,
          timeoutMillis,
          onLedgerClosed: announcements.offer
        })
      case "http:":
      case "https:":
        return XrpHttp.make({ url, timeoutMillis })
      default:
        return Effect.die(new Error("XRP servers have URLs that begin with ws, wss, http or https"))
    }
  })
  const failover = Failover.make(servers, options.attempts)

  const bytesInFlight = yield* BytesInFlight.Current

  const clientOf = (failover: Failover.Failover<XrpServer>): XrpClient => {
    const request: XrpClient["request"] = (command, params) =>
      bytesInFlight.request(failover.ask((server) => server.request(command, params)))

    return {
      get name() {
        return failover.current().name
      },
      request,
      requestLedger: Effect.fnUntraced(function* (command, params) {
        return yield* Effect.catch(request(command, params), (error) => {
          const asked = failover.current()
          const elsewhere = failover.nodes.filter((server) => server !== asked)
          if (!XrpReply.isLedgerMissing(error) || elsewhere.length === 0) return Effect.fail(error)
          return Effect.mapError(
            Effect.firstSuccessOf(elsewhere.map((server) => server.request(command, params))),
            () => error
          )
        })
      })
    }
  }

  return Object.assign(clientOf(failover), Failover.share(failover, clientOf), { announced: announcements.wait })
})
