/** One WebSocket connection to an XRP server: requests by id, and pushes of closed ledgers. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Agent, buildConnector, WebSocket } from "undici"
import * as JsonAnswer from "../../node/JsonAnswer.ts"
import type * as XrpReply from "./XrpReply.ts"

export interface XrpSocketOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMillis: number
  /** In bytes; a connection over which a larger one comes ends. */
  readonly largestMessage: number
  /** Called for each closed ledger that the server announces: nothing but a hint. */
  readonly onLedgerClosed: () => void
}

/** A server's answer to a command, and the length of its text. */
export interface Answer {
  readonly json: unknown
  readonly length: number
}

export interface XrpSocket {
  /** Why the connection is closed, once it is. */
  readonly closed: () => string | undefined
  /** The server's answer to a command. No answer in time closes the connection, since its other end may be gone. */
  readonly send: (command: string, params: XrpReply.Json) => Effect.Effect<Answer, string>
  /** Closes the connection; requests in flight fail with the reason. */
  readonly close: (reason: string) => void
}

const isResponse = Schema.is(Schema.Struct({ id: Schema.Int }))
const isLedgerClosed = Schema.is(Schema.Struct({ type: Schema.Literal("ledgerClosed") }))

type Resume = (reply: Effect.Effect<Answer, string>) => void

/** Runs in the background: large messages are parsed there. */
type Run = (effect: Effect.Effect<void>) => unknown

/** A connection that is ended at once: an upgraded one does not end with its agent, and the other side need not answer that it is closed. */
const connect = ({ headers, largestMessage, url }: XrpSocketOptions) => {
  let isEnded = false
  let destroy = () => {}
  const connector = buildConnector({ allowH2: false })
  const agent = new Agent({
    webSocket: { maxPayloadSize: largestMessage },
    connect: (to, done) =>
      connector(to, (error, wire) => {
        if (error !== null) return done(error, null)
        destroy = () => wire.destroy()
        if (isEnded) destroy()
        done(null, wire)
      })
  })
  const socket = new WebSocket(url, { headers, dispatcher: agent })
  const end = () => {
    isEnded = true
    socket.close()
    destroy()
    void agent.destroy()
  }
  return { socket, end }
}

const make = (
  { end, socket }: ReturnType<typeof connect>,
  { onLedgerClosed, timeoutMillis }: XrpSocketOptions,
  run: Run
) => {
  const waiting = new Map<number, Resume>()
  let closed: string | undefined
  let lastId = 0

  const close = (reason: string) => {
    if (closed !== undefined) return
    closed = reason
    end()
    for (const resume of waiting.values()) resume(Effect.fail(reason))
    waiting.clear()
  }

  const take = (json: unknown, length: number) => {
    if (isResponse(json)) {
      const resume = waiting.get(json.id)
      waiting.delete(json.id)
      resume?.(Effect.succeed({ json, length }))
    } else if (isLedgerClosed(json)) {
      onLedgerClosed()
    }
  }

  const receive = (data: unknown) => {
    const text = String(data)
    run(
      Effect.match(JsonAnswer.parseWithoutNulls(Buffer.from(text), "plain"), {
        onFailure: () => close("the server sent something that is not JSON"),
        onSuccess: (json) => take(json, text.length)
      })
    )
  }

  const send: XrpSocket["send"] = (command, params) =>
    Effect.callback<Answer, string>((resume) => {
      if (closed !== undefined) return resume(Effect.fail(closed))
      const id = ++lastId
      waiting.set(id, resume)
      socket.send(JSON.stringify({ ...params, id, command }))
      return Effect.sync(() => waiting.delete(id))
    }).pipe(
      Effect.timeoutOrElse({
        duration: timeoutMillis,
        orElse: () => {
          close("the connection was given up")
          return Effect.fail(`no answer within ${timeoutMillis} ms`)
        }
      })
    )

  return { closed: () => closed, send, close, receive }
}

/**
 * Opens a connection, and subscribes to closed ledgers; `onOpen` is called with the connection before any
 * message comes.
 */
export const open = (
  options: XrpSocketOptions,
  onOpen: (socket: XrpSocket) => void
): Effect.Effect<XrpSocket, string> =>
  Effect.flatMap(Effect.context<never>(), (context) =>
    Effect.callback<XrpSocket, string>((resume) => {
      const connected = connect(options)
      const { socket } = connected
      const connection = make(connected, options, Effect.runForkWith(context))
      const lost = (reason: string) => {
        connection.close(reason)
        resume(Effect.fail(reason))
      }
      socket.onopen = () => {
        onOpen(connection)
        socket.send(JSON.stringify({ id: 0, command: "subscribe", streams: ["ledger"] }))
        resume(Effect.succeed(connection))
      }
      socket.onmessage = (event) => connection.receive(event.data)
      socket.onerror = () => lost("the connection failed")
      socket.onclose = ({ code }) => lost(`the connection was closed (${code})`)
      return Effect.sync(() => connection.close("abandoned"))
    })
  ).pipe(
    Effect.timeoutOrElse({
      duration: options.timeoutMillis,
      orElse: () => Effect.fail(`no connection within ${options.timeoutMillis} ms`)
    })
  )
