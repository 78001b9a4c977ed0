/**
 * Reads answers of HTTP/1.1 (RFC 9112) from the bytes of a connection, one after another. Of the headers those alone are read that
 * say where an answer ends, whether the connection goes on, and how long the receiver asks to be left alone.
 */

/** The beginning of an answer that is no interim one. */
export interface Head {
  readonly status: number
  /** As the receiver has written it. */
  readonly retryAfter: string | undefined
  /** How long the connection may be kept without a request, in milliseconds; 0 where it ends with the answer. */
  readonly keptMillis: number
}

/** What is told as it comes. */
export interface Listener {
  readonly head: (head: Head) => void
  readonly body: (bytes: Buffer) => void
}

/**
 * How far an answer has come: `overrun` is one that more has come behind, `broken` one that is not HTTP, `too long` one whose
 * head is, and `switched` one that goes on in another protocol.
 */
export type Progress = "unfinished" | "finished" | "overrun" | "broken" | "too long" | "switched"

/** Where the body ends: behind so many bytes, behind its last chunk, or with the connection. */
type Framing = number | "chunks" | "connection"

/** Bytes of the line that begins a chunk. */
const maxChunkLine = 4096
/** Bytes of a head that is remembered, while its connection is kept. */
const repeatedBytes = 1024
/** How long a connection is kept of which the receiver doesn't say how long. */
export const assumedMillis = 4000
/** How much sooner than the receiver says, so that it is not closed as it is used; and how long at most. */
const [soonerMillis, mostMillis] = [2000, 600_000]

const [endOfHead, lineEnd] = ["\r\n\r\n", "\r\n"]
const statusLine = /HTTP\/(?:0\.9|1\.0|(1\.1)|2\.0) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?(?=\r\n|$)/y
const field = /\r\n([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)(?=\r\n|$)/y
const lengthText = /^[\t ]*(\d{1,15}) *$/
const chunkLine = /^([\da-f]{1,12})[\t ]*(?:;.*)?$/i
const nothing: Buffer = Buffer.alloc(0)

/** Of a header that comes again: both, as a list. */
const both = (known: string | undefined, value: string) => (known ? `${known},${value.trim()}` : value.trim())

const includes = (list: string, token: string) =>
  list !== "" &&
  list
    .toLowerCase()
    .split(",")
    .some((one) => one.trim() === token)

const keptMillisOf = (keepAlive: string) => {
  const seconds = /timeout=\s*(\d+)/.exec(keepAlive)?.[1]
  return seconds === undefined ? assumedMillis : Math.min(Number(seconds) * 1000 - soonerMillis, mostMillis)
}

/** A head's text without its last line end; undefined where it is none. */
const parse = (text: string): (Head & { readonly framing: Framing }) | undefined => {
  statusLine.lastIndex = 0
  const [first, isKept, status] = statusLine.exec(text) ?? []
  if (first === undefined) return undefined
  let length: string | undefined
  let encoding: string | undefined
  let connection = ""
  let keepAlive = ""
  let retryAfter: string | undefined
  for (let at = first.length; at < text.length; at = field.lastIndex) {
    field.lastIndex = at
    const [, name, value] = field.exec(text) ?? []
    if (name === undefined) return undefined
    switch (name.toLowerCase()) {
      case "content-length":
        // Two may contradict each other.
        if (length !== undefined) return undefined
        length = lengthText.exec(value!)?.[1]
        if (length === undefined) return undefined
        break
      case "transfer-encoding":
        encoding = both(encoding, value!)
        break
      case "connection":
        connection = both(connection, value!)
        break
      case "keep-alive":
        keepAlive = both(keepAlive, value!)
        break
      case "retry-after":
        retryAfter = both(retryAfter, value!)
    }
  }
  if (length !== undefined && encoding !== undefined) return undefined
  const code = Number(status)
  const hasNone = code < 200 || code === 204 || code === 304
  const framing = hasNone
    ? 0
    : encoding?.toLowerCase() === "chunked"
      ? "chunks"
      : length === undefined
        ? "connection"
        : Number(length)
  const ends =
    framing === "connection" ||
    includes(connection, "close") ||
    !(isKept !== undefined || includes(connection, "keep-alive")) ||
    // Content may follow that has no place there.
    (hasNone && (encoding !== undefined || Number(length ?? 0) > 0))
  return { status: code, framing, retryAfter, keptMillis: ends ? 0 : Math.max(keptMillisOf(keepAlive), 0) }
}

export interface Reader {
  /** Takes the bytes of a connection as they come. */
  readonly read: (bytes: Buffer) => Progress
  /** Whether the end of the connection is the answer's. */
  readonly endsWithConnection: () => boolean
}

/** `maxHeadBytes`: a longer head is none, with all that comes before it: interim answers alone would go on for ever. */
export const reader = (listener: Listener, maxHeadBytes: number): Reader => {
  /** What is read next, and how many bytes of it are left. */
  let part: "head" | "body" | "chunk line" | "chunk" | "chunk end" | "last end" | "all" = "head"
  let left = 0
  /** Bytes that the head of an answer may still have. */
  let headLeft = maxHeadBytes
  /** The beginning of what has not come wholly. */
  let held = nothing
  /** How much of it is known to have no end of what it begins: to look again at each byte that comes would take its square. */
  let searched = 0
  /** The last head, which the next one mostly is again, as long as its time has the same second. */
  let last: { readonly text: string; readonly head: NonNullable<ReturnType<typeof parse>> } | undefined

  /** Where something ends that has to come wholly. */
  const endOf = (bytes: Buffer, end: string, most: number): number | Progress => {
    const at = bytes.indexOf(end, searched)
    searched = 0
    if (at >= 0 && at <= most) return at
    if (at > most || bytes.length >= most + end.length) return "broken"
    held = bytes
    searched = Math.max(bytes.length - end.length + 1, 0)
    return "unfinished"
  }

  const finished = (rest: Buffer): Progress => {
    part = "head"
    return rest.length === 0 ? "finished" : "overrun"
  }

  const read = (bytes: Buffer): Progress => {
    let rest = held.length === 0 ? bytes : Buffer.concat([held, bytes])
    held = nothing
    while (true) {
      switch (part) {
        case "head": {
          // Some receivers send a line end too many behind an answer, which comes before the next one.
          let blank = 0
          while (rest[blank] === 0x0d || rest[blank] === 0x0a) blank++
          if (blank > 0) rest = rest.subarray(blank)
          headLeft -= blank
          const end = endOf(rest, endOfHead, headLeft)
          if (end === "broken" && rest.toString("latin1", 0, 5) === "HTTP/") return "too long"
          if (typeof end === "string") return end
          const text = rest.toString("latin1", 0, end)
          const head = text === last?.text ? last.head : parse(text)
          if (head === undefined) return "broken"
          if (end <= repeatedBytes) last = { text, head }
          if (head.status === 101) return "switched"
          rest = rest.subarray(end + endOfHead.length)
          headLeft -= end + endOfHead.length
          if (head.status < 200) break
          headLeft = maxHeadBytes
          listener.head(head)
          part = head.framing === "chunks" ? "chunk line" : head.framing === "connection" ? "all" : "body"
          if (part === "body") left = head.framing as number
          break
        }
        case "chunk line": {
          const end = endOf(rest, lineEnd, maxChunkLine)
          if (typeof end === "string") return end
          const size = chunkLine.exec(rest.toString("latin1", 0, end))?.[1]
          if (size === undefined) return "broken"
          rest = rest.subarray(end + lineEnd.length)
          left = Number.parseInt(size, 16)
          part = left === 0 ? "last end" : "chunk"
          break
        }
        case "chunk end":
        case "last end": {
          // Headers behind the last chunk, which hardly any receiver sends, end the connection.
          const end = endOf(rest, lineEnd, 0)
          if (typeof end === "string") return end
          rest = rest.subarray(lineEnd.length)
          if (part === "last end") return finished(rest)
          part = "chunk line"
          break
        }
        default: {
          const some = part === "all" ? rest : rest.subarray(0, left)
          if (some.length > 0) listener.body(some)
          if (part === "all") return "unfinished"
          left -= some.length
          rest = rest.subarray(some.length)
          if (left > 0) return "unfinished"
          if (part === "body") return finished(rest)
          part = "chunk end"
        }
      }
    }
  }
  return { read, endsWithConnection: () => part === "all" }
}
