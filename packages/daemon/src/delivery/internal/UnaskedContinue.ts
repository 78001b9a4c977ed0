/**
 * Takes `100 Continue` out of what a receiver sends. Some servers send it unasked before each answer, which clients are to
 * expect (RFC 9110, section 15.2); undici closes the connection instead, and the answer is lost.
 */
import type { Socket } from "node:net"

const start = Buffer.from("HTTP/1.1 100 ")
const head = /^HTTP\/1\.1 100 [^\n]*\n(?:[^\r\n][^\n]*\n)*\r?\n/
/** A head that is longer is left to undici. */
const maxBytes = 4096
const nothing = new Uint8Array()

const begins = (bytes: Buffer) =>
  bytes.length >= start.length && bytes.compare(start, 0, start.length, 0, start.length) === 0

/** What such a socket reads is in undici's hands as it comes: an answer begins with a chunk. */
export const skip = <S extends Socket>(socket: S): S => {
  const read = socket.read.bind(socket)
  /** The beginning of one whose end has not come yet. */
  let held: Uint8Array = nothing
  socket.read = (size) => {
    const chunk: Buffer | null = read(size)
    if (chunk === null) return null
    let bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    held = nothing
    while (begins(bytes)) {
      const found = head.exec(bytes.toString("latin1", 0, maxBytes))
      if (found === null && bytes.length < maxBytes) {
        held = bytes
        return nothing
      }
      if (found === null) return bytes
      bytes = bytes.subarray(found[0].length)
    }
    return bytes
  }
  return socket
}
