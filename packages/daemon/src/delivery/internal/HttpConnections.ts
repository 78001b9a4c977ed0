/**
 * HTTP/1.1 over connections to receivers that are kept, with one request at a time on each. What a callback does not need is
 * left out, as pipelining, uploads and HTTP/2: undici's client, which has all of it, took a quarter of a callback's CPU time.
 */
import * as Result from "effect/Result"
import type { buildConnector } from "undici"
import * as HttpAnswer from "./HttpAnswer.ts"
import * as HttpConnection from "./HttpConnection.ts"

export interface Request {
  readonly method: "GET" | "POST"
  /** Scheme, host and port of HTTPS. */
  readonly origin: string
  /** With the query, as a URL has it. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface HttpConnections {
  /** Sends a request as soon as there is a connection. What is returned ends it, with the connection that it is on. */
  readonly send: (request: Request, exchange: HttpConnection.Exchange) => () => void
  /** Connections that were made to an origin since it last had neither any nor a request. */
  readonly made: (origin: string) => number
  readonly destroy: () => void
}

/** A request that waits for a connection, or is on one. */
interface Pending {
  readonly text: string
  readonly exchange: HttpConnection.Exchange
  /** Whether nobody wants it any more. */
  isCut: boolean
  /** Ends it, where it is on a connection. */
  cut: (() => void) | undefined
}

interface Origin {
  readonly name: string
  readonly to: buildConnector.Options
  readonly waiting: Array<Pending>
  /** Connections without a request, that of the last one last, and until when each is kept, by `performance.now`. */
  readonly free: Array<{ readonly connection: HttpConnection.HttpConnection; readonly until: number }>
  /** Connections, and those that are being made. */
  open: number
  made: number
}

/** How often connections are looked for that have been without a request for too long. */
const sweepMillis = 1000

const headerValue = /^[\t\x20-\x7e]*$/

const destroyed = () => new Error("no request is sent any more")

/** The bytes of a request, as text; undefined where a header's text would be more than a header. */
const textOf = ({ body, headers, method, path }: Request, host: string) => {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`
  for (const name in headers) {
    const value = headers[name]!
    if (!headerValue.test(value)) return undefined
    head += `${name}: ${value}\r\n`
  }
  return body === undefined ? `${head}\r\n` : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

export const make = (options: {
  readonly connect: buildConnector.connector
  /** Connections to an origin. */
  readonly connections: number
  /** Bytes of an answer's head. */
  readonly maxHeadBytes: number
}): HttpConnections => {
  const { connect, connections, maxHeadBytes } = options
  const origins = new Map<string, Origin>()
  const all = new Set<HttpConnection.HttpConnection>()
  let isDestroyed = false

  const originOf = (name: string): Origin => {
    let origin = origins.get(name)
    if (origin === undefined) {
      const { host, hostname, port } = new URL(name)
      const to = { host, hostname: hostname.replace(/^\[|\]$/g, ""), port, protocol: "https:" }
      origin = { name, to, waiting: [], free: [], open: 0, made: 0 }
      origins.set(name, origin)
    }
    return origin
  }

  const start = (pending: Pending, connection: HttpConnection.HttpConnection) => {
    pending.cut = connection.send(pending.text, pending.exchange)
  }

  /** Makes a connection for a request. */
  const open = (origin: Origin, first: Pending) => {
    origin.open++
    const failed = (error: Error) => {
      origin.open--
      wants(origin)
      if (!first.isCut) first.exchange.failed(error, true)
    }
    const opened: buildConnector.Callback = (error, socket) => {
      if (error !== null) return failed(error)
      if (isDestroyed) {
        socket.destroy()
        return failed(destroyed())
      }
      origin.made++
      const release = (keptMillis: number) => {
        origin.free.push({ connection, until: performance.now() + keptMillis })
        wants(origin)
      }
      const closed = () => {
        all.delete(connection)
        const at = origin.free.findIndex((free) => free.connection === connection)
        if (at >= 0) origin.free.splice(at, 1)
        origin.open--
        wants(origin)
      }
      const connection = HttpConnection.make(socket, { released: release, closed }, maxHeadBytes)
      all.add(connection)
      if (first.isCut) release(HttpAnswer.assumedMillis)
      else start(first, connection)
    }
    if (isDestroyed) return failed(destroyed())
    // What TLS throws about one receiver would end the process, and with it the callbacks to all others.
    const begun = Result.try(() => connect(origin.to, opened))
    if (Result.isFailure(begun)) failed(begun.failure as Error)
  }

  /** Origins that have requests for which there may be a connection, or nothing at all. */
  const wanting = new Set<Origin>()
  const assign = () => {
    const now = performance.now()
    const some = [...wanting]
    wanting.clear()
    for (const origin of some) {
      const { free, waiting } = origin
      while (waiting.length > 0 && (free.length > 0 || origin.open < connections)) {
        const kept = free.pop()
        if (kept === undefined) open(origin, waiting.shift()!)
        else if (kept.until < now) kept.connection.close()
        else start(waiting.shift()!, kept.connection)
      }
      if (origin.open + waiting.length === 0) origins.delete(origin.name)
    }
  }
  // A kept connection may have been closed, which has been read by then.
  const wants = (origin: Origin) => {
    if (wanting.size === 0) setImmediate(assign)
    wanting.add(origin)
  }

  const sweep = setInterval(() => {
    const now = performance.now()
    for (const { free } of origins.values()) {
      for (const { connection } of free.filter(({ until }) => until < now)) connection.close()
    }
  }, sweepMillis)
  sweep.unref()

  return {
    send: (request, exchange) => {
      const origin = originOf(request.origin)
      const text = textOf(request, origin.to.host!)
      if (text === undefined) {
        wants(origin)
        exchange.failed(
          Object.assign(new Error("a header's text is more than a header"), { code: "ERR_INVALID_CHAR" }),
          true
        )
        return () => {}
      }
      const pending: Pending = { text, exchange, isCut: false, cut: undefined }
      origin.waiting.push(pending)
      wants(origin)
      return () => {
        pending.isCut = true
        const at = origin.waiting.indexOf(pending)
        if (at >= 0) origin.waiting.splice(at, 1)
        pending.cut?.()
      }
    },
    made: (origin) => origins.get(origin)?.made ?? 0,
    destroy: () => {
      isDestroyed = true
      clearInterval(sweep)
      for (const connection of all) connection.close()
    }
  }
}
