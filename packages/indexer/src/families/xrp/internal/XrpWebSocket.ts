/**
 * One XRP server over WebSocket: requests by id, and pushes of closed ledgers.
 *
 * The connection is opened when it is needed and again after it was lost; what was in flight then fails, and is worth a
 * retry. A request that is not answered in time closes it, since its other end may be gone.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import { WebSocket } from "undici"
import { authorization } from "../../node/NodeHttp.ts"
import * as XrpReply from "./XrpReply.ts"
import type { XrpServer } from "./XrpServer.ts"

export interface XrpWebSocketOptions {
  readonly url: URL
  readonly timeoutMillis: number
  /** Called for each closed ledger that the server announces: nothing but a hint. */
  readonly onLedgerClosed: () => void
}

/** Requests in flight at the same time. */
const maxInFlight = 32

interface Connection {
  readonly socket: WebSocket
  readonly waiting: Map<number, (reply: Effect.Effect<unknown, string>) => void>
  /** Why it is closed, once it is. */
  closed: string | undefined
}

const isResponse = Schema.is(Schema.Struct({ id: Schema.Int }))
const isLedgerClosed = Schema.is(Schema.Struct({ type: Schema.Literal("ledgerClosed") }))

export const make = Effect.fnUntraced(function* (
  options: XrpWebSocketOptions
): Effect.fn.Return<XrpServer, never, Scope.Scope> {
  const { timeoutMillis } = options
  const url = new URL(options.url)
  const basic = authorization(url)
  const headers = basic === undefined ? {} : { authorization: basic }
  url.username = ""
  url.password = ""
  const name = `${url.hostname}:${url.port || (url.protocol === "wss:" ? "443" : "80")}`
  const oneAtATime = yield* Semaphore.make(1)
  const inFlight = yield* Semaphore.make(maxInFlight)
  let current: Connection | undefined
  let failures = { count: 0, reason: "" }
  let lastId = 0

  const close = (connection: Connection, reason: string) => {
    if (connection.closed !== undefined) return
    connection.closed = reason
    if (current === connection) current = undefined
    connection.socket.close()
    for (const resume of connection.waiting.values()) resume(Effect.fail(reason))
    connection.waiting.clear()
  }

  const receive = (connection: Connection, data: unknown) => {
    const message = Result.try((): unknown => JSON.parse(String(data)))
    if (Result.isFailure(message)) return close(connection, "the server sent something that is not JSON")
    if (isResponse(message.success)) {
      const resume = connection.waiting.get(message.success.id)
      connection.waiting.delete(message.success.id)
      resume?.(Effect.succeed(message.success))
    } else if (isLedgerClosed(message.success)) {
      options.onLedgerClosed()
    }
  }

  const open = Effect.callback<Connection, string>((resume) => {
    const socket = new WebSocket(url, { headers })
    const connection: Connection = { socket, waiting: new Map(), closed: undefined }
    const lost = (reason: string) => {
      close(connection, reason)
      resume(Effect.fail(reason))
    }
    socket.onopen = () => {
      current = connection
      socket.send(JSON.stringify({ id: 0, command: "subscribe", streams: ["ledger"] }))
      resume(Effect.succeed(connection))
    }
    socket.onmessage = (event) => receive(connection, event.data)
    socket.onerror = () => lost("the connection failed")
    socket.onclose = ({ code }) => lost(`the connection was closed (${code})`)
    return Effect.sync(() => close(connection, "abandoned"))
  }).pipe(
    Effect.timeoutOrElse({
      duration: timeoutMillis,
      orElse: () => Effect.fail(`no connection within ${timeoutMillis} ms`)
    })
  )

  /** Whoever comes while the connection is being opened waits for it, and shares its failure. */
  const connected = Effect.suspend(() => {
    const seen = failures.count
    return oneAtATime.withPermit(
      Effect.suspend(() => {
        if (current !== undefined) return Effect.succeed(current)
        if (failures.count !== seen) return Effect.fail(failures.reason)
        return Effect.tapError(open, (reason) =>
          Effect.sync(() => {
            failures = { count: failures.count + 1, reason }
          })
        )
      })
    )
  })

  const send = (connection: Connection, command: string, params: XrpReply.Json) =>
    Effect.callback<unknown, string>((resume) => {
      if (connection.closed !== undefined) return resume(Effect.fail(connection.closed))
      const id = ++lastId
      connection.waiting.set(id, resume)
      connection.socket.send(JSON.stringify({ ...params, id, command }))
      return Effect.sync(() => connection.waiting.delete(id))
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => {
          close(connection, "the connection was given up")
          return Effect.fail(`no answer within ${timeoutMillis} ms`)
        }
      })
    )

  const request: XrpServer["request"] = (command, params) =>
    connected.pipe(
      Effect.flatMap((connection) => send(connection, command, params)),
      inFlight.withPermit,
      Effect.mapError((reason) => XrpReply.unreachable(name, command, reason)),
      Effect.flatMap((answer) => Effect.fromResult(XrpReply.read(name, command, answer)))
    )

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      if (current !== undefined) close(current, "closed")
    })
  )
  return { name, request }
})
