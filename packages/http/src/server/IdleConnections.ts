/**
 * Bounds the connections over which nothing is asked: new ones, kept ones, those whose request has not arrived, and those
 * whose answer waits for its reader. They belong to no account, and anybody may open thousands: beyond the bound the one
 * that has been silent for longest is closed, so that who has something to ask always finds a place.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"

/**
 * Keeps the idle connections of a server to `most`. One over which nothing of a finished answer goes out is closed after the
 * time for which the server keeps a connection.
 */
export const bound = (server: Server, most: number): void => {
  /** In the order in which they became idle. */
  const idle = new Set<Socket>()
  const becomesIdle = (socket: Socket) => {
    if (socket.destroyed) return
    idle.add(socket)
    if (idle.size <= most) return
    const [oldest] = idle
    idle.delete(oldest!)
    oldest!.destroy()
  }
  server.on("connection", (socket) => {
    becomesIdle(socket)
    socket.once("close", () => idle.delete(socket))
  })
  server.on("upgrade", ({ socket }) => idle.delete(socket))
  server.on("request", ({ socket }, response) => {
    // Who asks on without reading the answer before is as idle as before.
    if (socket.writableLength === 0) idle.delete(socket)
    // The answer is whole, and the rest is the client's: one that never reads would have the answer kept for good.
    response.once("prefinish", () => {
      becomesIdle(socket)
      socket.setTimeout(server.keepAliveTimeout)
    })
  })
}
