/**
 * Bounds the connections that belong to no account and cost memory: anybody may open thousands. Two kinds are counted, each by
 * itself, so that those who ask nothing cut off nobody who reads an answer: connections over which nothing is asked (new
 * ones, kept ones, those whose request has not arrived), and those whose answer waits for its reader.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

/** Beyond `most` the one that has been there for longest is closed, so that who comes always finds a place. */
const bounded = (most: number) => {
  const sockets = new Set<Socket>()
  return {
    add: (socket: Socket) => {
      if (socket.destroyed) return
      sockets.add(socket)
      if (sockets.size <= most) return
      const [oldest] = sockets
      sockets.delete(oldest!)
      oldest!.destroy()
    },
    delete: (socket: Socket) => sockets.delete(socket)
  }
}

/** Requests over one connection that may wait for their answers: each takes some kilobytes, and two thousand may arrive together. */
const mostWaiting = 100

/**
 * Keeps the idle connections of a server to `most`, and as many whose finished answer is not read. Once in the time for which
 * the server keeps a connection something of a finished answer has to go out, or its connection is closed, as one is over
 * which too many requests wait.
 */
export const bound = (server: Server, most: number): void => {
  const idle = bounded(most)
  const unread = bounded(most)
  /** Requests of a connection without an answer. */
  const waiting = new WeakMap<Socket, number>()
  server.on("connection", (socket) => {
    idle.add(socket)
    socket.once("close", () => {
      idle.delete(socket)
      unread.delete(socket)
    })
  })
  server.on("upgrade", ({ socket }) => idle.delete(socket))
  server.on("request", ({ socket }, response) => {
    idle.delete(socket)
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    if (count > mostWaiting) socket.destroy()
    // The answer is whole, and the rest is the client's: one that never reads would have the answer kept for good.
    response.once("prefinish", () => {
      unread.add(socket)
      socket.setTimeout(server.keepAliveTimeout)
    })
    // Before Node begins with the next answer, of a client that asks on without reading.
    response.prependOnceListener("finish", () => unread.delete(socket))
    response.once("close", () => {
      const left = waiting.get(socket)! - 1
      waiting.set(socket, left)
      if (left === 0) idle.add(socket)
    })
  })
}
