/**
 * The feed of an account for readers that stay connected: server-sent events, and the same over WebSocket. A page is read when
 * the one before has gone out, so that a slow reader costs a page of memory and holds up nobody.
 */
import type { Socket as NetSocket } from "node:net"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type { AccountCallback } from "../contract/Feed.ts"

/** A page as a reader gets it. */
export interface Page {
  readonly items: ReadonlyArray<typeof AccountCallback.Type>
  readonly missed: number
  readonly nextStartingAfter: string
}

/** How a reader that stays connected wants to be served; undefined for one that asks for a page. */
export const transportOf = ({ headers }: HttpServerRequest.HttpServerRequest): "events" | "socket" | undefined => {
  if (headers.upgrade?.toLowerCase() === "websocket") return "socket"
  return headers.accept?.includes("text/event-stream") ? "events" : undefined
}

/** How soon a client of server-sent events comes back when the connection has ended, in milliseconds. */
const retryMillis = 1_000

/** A number of missed callbacks comes before the page; its place is that of the page's end where nothing follows. */
const eventsOf = ({ items, missed, nextStartingAfter }: Page): string => {
  if (missed === 0 && items.length === 0) return ": nothing new\n\n"
  const place = items.length === 0 ? `id: ${nextStartingAfter}\n` : ""
  const gap = missed === 0 ? "" : `event: missed\n${place}data: ${JSON.stringify({ missed })}\n\n`
  return gap + items.map((item) => `event: callback\nid: ${item.position}\ndata: ${JSON.stringify(item)}\n\n`).join("")
}

/** The pages as server-sent events. */
export const asEvents = (pages: Stream.Stream<Page>) =>
  HttpServerResponse.stream(
    Stream.concat(Stream.succeed(`retry: ${retryMillis}\n\n`), Stream.map(pages, eventsOf)).pipe(Stream.encodeText),
    { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
  )

const messagesOf = ({ items, missed, nextStartingAfter }: Page): ReadonlyArray<string> =>
  [
    ...(missed === 0 && items.length === 0 ? [{ type: "heartbeat" }] : []),
    ...(missed === 0
      ? []
      : [{ type: "missed", missed, ...(items.length === 0 ? { position: nextStartingAfter } : {}) }]),
    ...items.map((callback) => ({ type: "callback", position: callback.position, callback }))
  ].map((message) => JSON.stringify(message))

/** Ends when what was written has gone out to the reader, as far as the connection's buffer goes. */
const drained = (socket: NetSocket) =>
  Effect.callback<void>((resume) => {
    if (socket.destroyed || !socket.writableNeedDrain) return resume(Effect.void)
    const go = () => {
      socket.off("drain", go)
      socket.off("close", go)
      resume(Effect.void)
    }
    socket.on("drain", go)
    socket.on("close", go)
    return Effect.sync(() => {
      socket.off("drain", go)
      socket.off("close", go)
    })
  })

/** Sends the pages over WebSocket until either side ends it; what the reader says is passed over. */
export const overSocket = Effect.fn("FeedStream.overSocket")(function* (pages: Stream.Stream<Page>) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const wire = NodeHttpServerRequest.toIncomingMessage(request).socket as NetSocket
  const socket = yield* Effect.orDie(request.upgrade)
  const conversation = Effect.gen(function* () {
    const { pull } = yield* socket.reader
    const { write } = yield* socket.writer
    const send = Stream.runForEach(pages, (page) =>
      Effect.forEach(messagesOf(page), (message) => Effect.andThen(write(message), drained(wire)), { discard: true })
    )
    return yield* Effect.raceFirst(send, Effect.forever(pull))
  }).pipe(Effect.scoped)
  // A reader that goes away is no failure.
  yield* Effect.ignore(conversation)
  return HttpServerResponse.empty()
})
