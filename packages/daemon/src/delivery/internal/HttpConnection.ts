/** A connection to a receiver, with one request at a time. */
import type { Socket } from "node:net"
import * as HttpAnswer from "./HttpAnswer.ts"

/** What is told of a request, as it comes: `ended` or `failed` is the last. */
export interface Exchange extends HttpAnswer.Listener {
  /** The answer goes on behind the bytes that its head came with. */
  readonly continues: () => void
  readonly ended: () => void
  /** `isFirst`: whether the connection had no request before. */
  readonly failed: (error: Error, isFirst: boolean) => void
}

/** Who has a connection. */
export interface Owner {
  /** The answer has ended, and the connection is kept for so long. */
  readonly released: (keptMillis: number) => void
  readonly closed: () => void
}

export interface HttpConnection {
  /** Sends a request, its bytes as text of UTF-8. What is returned closes the connection if the request has not ended. */
  readonly send: (text: string, exchange: Exchange) => () => void
  /** Closes the connection, with what is on its way. */
  readonly close: () => void
}

/** The code of the error where the other side has closed a connection. */
export const closedCode = "ERR_CLOSED"
/** The code of the error where what came is no answer of HTTP. */
export const notHttpCode = "ERR_NOT_HTTP"

const closed = () => Object.assign(new Error("the connection was closed before the answer"), { code: closedCode })

/** Why an answer is none that can be read. */
const faults: Partial<Record<HttpAnswer.Progress, readonly [code: string, message: string]>> = {
  broken: [notHttpCode, "the answer is not HTTP"],
  "too long": ["ERR_HEAD_TOO_LONG", "the headers of the answer are too long"],
  switched: ["ERR_SWITCHED", "the answer is 101, to go on in another protocol"]
}

/** `maxHeadBytes`: of an answer. */
export const make = (socket: Socket, { closed: isClosed, released }: Owner, maxHeadBytes: number): HttpConnection => {
  let exchange: Exchange | undefined
  let head: HttpAnswer.Head | undefined
  let hasContinued = false
  let isFirst = true
  let isOpen = true

  const reader = HttpAnswer.reader(
    {
      head: (found) => {
        head = found
        exchange?.head(found)
      },
      body: (bytes) => exchange?.body(bytes)
    },
    maxHeadBytes
  )

  const close = (error: Error) => {
    if (!isOpen) return
    isOpen = false
    socket.destroy()
    const failed = exchange
    exchange = undefined
    failed?.failed(error, isFirst)
    isClosed()
  }

  const finish = (isKept: boolean) => {
    const ended = exchange
    exchange = undefined
    isFirst = false
    ended?.ended()
    if (isKept && head!.keptMillis > 0) released(head!.keptMillis)
    else close(closed())
  }

  socket
    .on("data", (bytes) => {
      // Nobody has asked for anything.
      if (exchange === undefined) return close(closed())
      const progress = reader.read(bytes)
      if (!isOpen) return
      const [code, message] = faults[progress] ?? []
      if (code !== undefined) close(Object.assign(new Error(message), { code }))
      else if (progress !== "unfinished") finish(progress === "finished")
      else if (head !== undefined && !hasContinued) {
        hasContinued = true
        exchange?.continues()
      }
    })
    .on("end", () => (reader.endsWithConnection() ? finish(false) : close(closed())))
    .on("error", close)
    .on("close", () => close(closed()))

  return {
    send: (text, next) => {
      exchange = next
      head = undefined
      hasContinued = false
      socket.write(text)
      return () => {
        if (exchange === next) close(closed())
      }
    },
    close: () => close(closed())
  }
}
