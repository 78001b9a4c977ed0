/** Readers of the account's feed that stay connected, by server-sent events and over WebSocket, and that can be cut off. */
import { randomBytes } from "node:crypto"
import { type ClientRequest, type IncomingMessage, request } from "node:http"
import type { Socket } from "node:net"
import * as Effect from "effect/Effect"

export interface Told {
  readonly type: "callback" | "missed" | "heartbeat"
  /** From where to read on; undefined where nothing has been read by it. */
  readonly position: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: what came over the wire
  readonly data: any
}

export interface Reader {
  readonly url: string
  readonly key: string
  /** Position of the last callback that was read; the beginning if not given. */
  readonly after: string | undefined
  /** Takes what the feed tells; `cut` ends the connection without a word. */
  readonly take: (told: Told, cut: () => void) => void
  /** Has the connection before anything is read. */
  readonly connected?: (stream: { pause(): unknown; resume(): unknown }) => void
}

/** How the connection ended: the status of a refusal with its body, or `closed`. */
export type End = { readonly status: number; readonly text: string } | "closed"

const pathOf = ({ after }: Reader, byQuery: boolean) =>
  `/callbacks${byQuery && after !== undefined ? `?startingAfter=${after}` : ""}`

const run = (
  reader: Reader,
  ask: () => ClientRequest,
  accept: (answer: IncomingMessage, take: Reader["take"]) => boolean
): Effect.Effect<End> =>
  Effect.callback((resume) => {
    const asked = ask()
    let over = false
    const leave = () => {
      over = true
      // An upgraded connection outlives its request.
      asked.socket?.destroy()
      asked.destroy()
    }
    const end = (how: End) => {
      leave()
      resume(Effect.succeed(how))
    }
    const cut = () => end("closed")
    const take: Reader["take"] = (told) => {
      if (!over) reader.take(told, cut)
    }
    const refused = (answer: IncomingMessage) => {
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (chunk: string) => {
        text += chunk
      })
      answer.on("close", () => end({ status: answer.statusCode!, text }))
    }
    asked.on("error", () => end("closed"))
    asked.on("response", (answer) => {
      if (answer.statusCode !== 200 || !accept(answer, take)) return refused(answer)
      answer.on("close", () => end("closed"))
      reader.connected?.(answer)
    })
    asked.on("upgrade", (_: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on("error", () => end("closed"))
      socket.on("close", () => end("closed"))
      frames(socket, head, take)
      reader.connected?.(socket)
    })
    asked.end()
    return Effect.sync(leave)
  })

/** Frames of a server, which are not masked: text is told, a close is answered by the end of the connection. */
const frames = (socket: Socket, head: Buffer, take: Reader["take"]) => {
  let rest = head
  const read = () => {
    while (rest.length >= 2) {
      const short = rest[1]! & 0x7f
      const start = short === 126 ? 4 : short === 127 ? 10 : 2
      if (rest.length < start) return
      const length = short === 126 ? rest.readUInt16BE(2) : short === 127 ? Number(rest.readBigUInt64BE(2)) : short
      if (rest.length < start + length) return
      const kind = rest[0]! & 0x0f
      const payload = rest.subarray(start, start + length)
      rest = rest.subarray(start + length)
      if (kind === 8) socket.destroy()
      if (kind !== 1) continue
      const { callback, missed, position, type } = JSON.parse(payload.toString("utf8"))
      take({ type, position, data: callback ?? { missed } }, () => socket.destroy())
    }
  }
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    read()
  })
  read()
}

/** Reads over WebSocket until the connection ends. */
export const overSocket = (reader: Reader): Effect.Effect<End> =>
  run(
    reader,
    () =>
      request(`${reader.url}${pathOf(reader, true)}`, {
        agent: false,
        headers: {
          ...{ "x-api-key": reader.key, connection: "Upgrade", upgrade: "websocket" },
          ...{ "sec-websocket-version": "13", "sec-websocket-key": randomBytes(16).toString("base64") }
        }
      }),
    () => false
  )

/** Reads server-sent events until the connection ends. */
export const byEvents = (reader: Reader): Effect.Effect<End> =>
  run(
    reader,
    () =>
      request(`${reader.url}${pathOf(reader, false)}`, {
        agent: false,
        headers: {
          ...{ "x-api-key": reader.key, accept: "text/event-stream" },
          ...(reader.after === undefined ? {} : { "last-event-id": reader.after })
        }
      }),
    (answer, take) => {
      let text = ""
      answer.setEncoding("utf8")
      answer.on("data", (chunk: string) => {
        text += chunk
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          const lines = text.slice(0, end).split("\n")
          text = text.slice(end + 2)
          const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
          const data = field("data")
          if (data !== undefined) {
            take({ type: field("event") as Told["type"], position: field("id"), data: JSON.parse(data) }, () => {})
          } else if (lines[0]!.startsWith(":")) {
            take({ type: "heartbeat", position: undefined, data: {} }, () => {})
          }
        }
      })
      return true
    }
  )
