/**
 * The body of a response, put together of what comes in. V8 looks for garbage the more often the more memory buffers take,
 * so most bodies are copied once, into a buffer of their size.
 */

/** Larger bodies are put together as they come: one copy at the end would hold up everything else. */
const largeBytes = 2 ** 20

/** So are those in more chunks: who sends a byte at a time would have a hundred times as many held. */
const mostChunks = 1_024

export class ResponseBody {
  /** Of a body that is neither large so far, nor in many chunks. */
  readonly #chunks: Array<Buffer> = []
  #large: Buffer | undefined
  #length = 0

  /** Makes room for a body of so many bytes at once. */
  expect(bytes: number): void {
    if (bytes > largeBytes) this.#large = Buffer.allocUnsafeSlow(bytes)
  }

  add(chunk: Buffer): void {
    const end = this.#length + chunk.length
    if (this.#large === undefined && end <= largeBytes && this.#chunks.length < mostChunks) this.#chunks.push(chunk)
    else chunk.copy(this.#roomFor(end), this.#length)
    this.#length = end
  }

  #roomFor(end: number): Buffer {
    const large = this.#large
    if (large !== undefined && end <= large.length) return large
    const room = Buffer.allocUnsafeSlow(Math.max(end, 2 * (large?.length ?? largeBytes)))
    let at = 0
    for (const part of large === undefined ? this.#chunks.splice(0) : [large.subarray(0, this.#length)]) {
      at += part.copy(room, at)
    }
    this.#large = room
    return room
  }

  /** All of it. */
  get bytes(): Buffer {
    if (this.#large !== undefined) return this.#large.subarray(0, this.#length)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }
}
