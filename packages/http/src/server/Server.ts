/**
 * The HTTP server: routes on a socket, with limits on the size and duration of every request. Schemas that a process with a
 * server begins to use are compiled at their first use: what is asked and answered goes through some of them every time.
 */
import "effect/schema/SchemaJITCompiler/enable"

import { createServer, type Server } from "node:http"
import { Server as SocketServer } from "node:net"
import type { Duplex } from "node:stream"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import { maxParamLength } from "./AllowedMethods.ts"
import * as IdleConnections from "./IdleConnections.ts"
import * as MalformedRequest from "./MalformedRequest.ts"
import * as NodeResponse from "./NodeResponse.ts"
import * as RequestTrace from "./RequestTrace.ts"
import * as Routes from "./Routes.ts"
import { Stopping } from "./Stopping.ts"

export interface Options {
  readonly host: string
  /** 0 for any that is free; the service `HttpServer` says which. */
  readonly port: number
  /** Largest body, in bytes; 64 KiB if not given. */
  readonly maxBodyBytes?: number | undefined
  /** Largest request line and headers together, in bytes; 16 KiB if not given. */
  readonly maxHeaderBytes?: number | undefined
  /** Milliseconds in which a request must have arrived; 15,000 if not given. */
  readonly requestTimeoutMillis?: number | undefined
  /** Connections over which nothing is asked, half-sent requests among them; 1,024 if not given. */
  readonly idleConnections?: number | undefined
  /** Origins of web pages whose scripts may call the server; none if not given. */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined
  /** Milliseconds that requests in flight have to end when the server stops; 10,000 if not given. */
  readonly stopTimeoutMillis?: number | undefined
}

const makeServer = (options: Options): Server => {
  const requestTimeout = options.requestTimeoutMillis ?? 15_000
  const server: Server = createServer({
    ServerResponse: NodeResponse.make(() => !server.listening),
    maxHeaderSize: options.maxHeaderBytes ?? 16_384,
    requestTimeout,
    headersTimeout: Math.min(requestTimeout, 10_000),
    connectionsCheckingInterval: Math.min(requestTimeout, 1_000),
    keepAliveTimeout: 65_000,
    // Java's client asks for HTTP/2 with each first request: that is answered as any other. WebSocket begins with a GET (RFC
    // 6455, 4.1), and of an upgraded connection Node reads no body.
    shouldUpgradeCallback: ({ headers, method }) => method === "GET" && headers.upgrade?.toLowerCase() === "websocket"
  })
  server.maxHeadersCount = 100
  server.on("clientError", MalformedRequest.answer)
  // An expectation that is not known may be passed over (RFC 9110, 10.1.1): Node would answer 417, and no envelope.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  IdleConnections.bound(server, options.idleConnections ?? 1_024)
  return server
}

/** Turns of the event loop that a stop waits for a quiet one, and how short that is. */
const mostTurns = 1_000
const quietMillis = 0.2

/** How long a stopping server keeps connections over which nothing is asked: a request may be on its way. */
const restMillis = 250

/**
 * Stops listening in a short turn of the event loop in which nobody has connected: connections that have been made, and that
 * the loop has not come to, would be cut off by the system. What is asked over those that are open is answered, and is the
 * last question there. `closed` runs when the last connection has ended.
 */
const stopListening = (server: Server, closed: () => void) => {
  let isNew = true
  server.on("connection", () => (isNew = true))
  const next = (turns: number, since: number) => {
    const now = performance.now()
    if (turns > 0 && (isNew || now - since > quietMillis)) {
      isNew = false
      setImmediate(next, turns - 1, now)
      return
    }
    const rest = setInterval(() => server.closeIdleConnections(), restMillis)
    // An HTTP server's own `close` cuts off kept connections at once.
    SocketServer.prototype.close.call(server, () => {
      clearInterval(rest)
      closed()
    })
  }
  // The turn that has begun knows nobody who has come since.
  setImmediate(next, mostTurns, 0)
}

/**
 * Ends the connections when the scope closes: the server listens no more, and closes those that are still open some time
 * after, since a half-sent request never ends by itself.
 */
const end = (server: Server, millis: number) =>
  Layer.effectDiscard(
    Effect.suspend(() => {
      /** Connections that the server no longer counts as its own. */
      const upgraded = new Set<Duplex>()
      server.on("upgrade", (_, socket) => {
        upgraded.add(socket)
        socket.once("close", () => upgraded.delete(socket))
      })
      const close = () => {
        server.closeAllConnections()
        for (const socket of upgraded) socket.destroy()
      }
      return Effect.addFinalizer(() =>
        Effect.callback<void>((resume) => {
          setTimeout(close, millis).unref()
          stopListening(server, () => resume(Effect.void))
        })
      )
    })
  )

/** The largest message of a client over WebSocket, in bytes: nobody has anything to say there. */
const maxMessageBytes = 4_096

const cors = (allowedOrigins: ReadonlyArray<string>) =>
  HttpRouter.cors({
    // Beside others it would be compared with what browsers send, as if it were an origin.
    allowedOrigins: allowedOrigins.includes("*") ? ["*"] : allowedOrigins,
    allowedMethods: ["GET", "POST", "DELETE"],
    allowedHeaders: ["content-type", "last-event-id", "x-api-key", "x-api-version"],
    exposedHeaders: [
      ...["retry-after", "x-credits-available", "x-credits-consumed", "x-request-id", "x-response-time"],
      ...["ratelimit", "ratelimit-policy", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]
    ],
    maxAge: 600
  })

/** A server on a socket, and what ends its connections once it stops. */
const onSocket = (options: Options) => {
  const { host, port, stopTimeoutMillis = 10_000 } = options
  const server = makeServer(options)
  return {
    listening: NodeHttpServer.layerServer(() => server, {
      ...{ host, port, gracefulShutdownTimeout: stopTimeoutMillis },
      websocket: { maxPayload: maxMessageBytes }
    }),
    ending: end(server, stopTimeoutMillis)
  }
}

/** How requests come; in a simulation without a socket. */
export const Listener = Context.Reference("@headwater/http/server/Server/Listener", { defaultValue: () => onSocket })

/** Serves `routes` until the scope closes; requests in flight are answered first. */
export const serve = <A, E, R>(routes: Layer.Layer<A, E, R>, options: Options) =>
  Layer.unwrap(
    Effect.map(Listener, (listen) => {
      const { allowedOrigins = [] } = options
      const { ending, listening } = listen(options)
      const stopping = Latch.makeUnsafe(false)
      // Built behind `ending`, so that it comes before: what waits is answered while the server still answers.
      const announced = Layer.effectDiscard(Effect.addFinalizer(() => stopping.open))
      // Who connects before there are routes would never be answered.
      // What says who may read an answer is built before the routes, so that it stands around what answers for them.
      return HttpRouter.toHttpEffect(
        Layer.provide(
          allowedOrigins.length === 0 ? routes : Layer.provideMerge(routes, cors(allowedOrigins)),
          Layer.succeed(Stopping, stopping.await)
        )
      ).pipe(
        Effect.map((app) =>
          announced.pipe(
            Layer.provideMerge(ending),
            Layer.provideMerge(HttpServer.serve(app)),
            Layer.provideMerge(listening)
          )
        ),
        Layer.unwrap,
        Layer.provideMerge(NodeHttpServer.layerHttpServices),
        Layer.provide(Layer.succeed(HttpRouter.RouterConfig, { maxParamLength })),
        Layer.provide(RequestTrace.layer),
        Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(options.maxBodyBytes ?? 65_536)))
      )
    })
  )

/** Serves the routes of this package. */
export const layer = (options: Options) => serve(Routes.layer, options)
