/**
 * One XRP server over WebSocket.
 *
 * The connection is opened when it is needed and again after it was lost; requests in flight then fail, and are worth a
 * retry.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as BytesInFlight from "../../node/BytesInFlight.ts"
import { authorization, redacting } from "../../node/NodeHttp.ts"
import * as XrpReply from "./XrpReply.ts"
import type { XrpServer } from "./XrpServer.ts"
import * as XrpSocket from "./XrpSocket.ts"

export interface XrpWebSocketOptions {
  readonly url: URL
  readonly timeoutMillis: number
  /** Called for each closed ledger that the server announces: nothing but a hint. */
  readonly onLedgerClosed: () => void
}

/**
 * The largest message: some times the largest ledgers. A message comes as one text, in one turn of the event loop, which
 * is 14 to 43 ms for one of this size, and 100 ms for one of 60 MB.
 */
const largestMessage = 16 * 2 ** 20

/** Requests in flight at the same time. */
const maxInFlight = 32

export const make = Effect.fnUntraced(function* (
  options: XrpWebSocketOptions
): Effect.fn.Return<XrpServer, never, Scope.Scope> {
  const redact = redacting(options.url)
  const url = new URL(options.url)
  const basic = authorization(url)
  const headers = basic === undefined ? {} : { authorization: basic }
  url.username = ""
  url.password = ""
  const name = `${url.hostname}:${url.port || (url.protocol === "wss:" ? "443" : "80")}`
  const oneAtATime = yield* Semaphore.make(1)
  const inFlight = yield* Semaphore.make(maxInFlight)
  let current: XrpSocket.XrpSocket | undefined
  let failures = { count: 0, reason: "" }

  const bytesInFlight = yield* BytesInFlight.Current
  const most = Math.min(bytesInFlight.limit, largestMessage)
  const open = XrpSocket.open({ ...options, url, headers, largestMessage: most }, (socket) => {
    current = socket
  })

  /** Requests that come while the connection is being opened wait for it, and share its failure. */
  const connected = Effect.suspend(() => {
    const seen = failures.count
    return oneAtATime.withPermit(
      Effect.suspend(() => {
        if (current !== undefined && current.closed() === undefined) return Effect.succeed(current)
        if (failures.count !== seen) return Effect.fail(failures.reason)
        return Effect.tapError(open, (reason) =>
          Effect.sync(() => {
            failures = { count: failures.count + 1, reason }
          })
        )
      })
    )
  })

  yield* Effect.addFinalizer(() => Effect.sync(() => current?.close("closed")))

  const request: XrpServer["request"] = Effect.fnUntraced(function* (command, params) {
    const { json, length } = yield* connected.pipe(
      Effect.flatMap((socket) => socket.send(command, params)),
      inFlight.withPermit,
      Effect.mapError((reason) => XrpReply.unreachable(name, command, reason))
    )
    const receiver = (yield* BytesInFlight.CurrentReceiver)!
    const room = receiver.room()
    // An answer comes as one message, and is counted once all of it is there.
    switch (receiver.take(length)) {
      case "tooLarge":
        return yield* Effect.fail(
          XrpReply.tooLarge(name, command, `answer larger than ${room} bytes, by bytesInFlight`)
        )
      case "gaveWay":
        return yield* Effect.never
    }
    return yield* Effect.fromResult(XrpReply.read(name, command, json, redact))
  })

  return { name, request: (command, params) => bytesInFlight.request(request(command, params)) }
})
