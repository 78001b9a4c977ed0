/**
 * JSON parsed piece by piece. `JSON.parse` holds up everything else until the end of a document: here it gets runs of
 * members and elements, some ten thousand bytes at a time, whose values are then put together.
 *
 * The scan finds strings, brackets and commas, and no more: whether JSON stands between two commas is for `JSON.parse`
 * to say. A string that is longer than a few million bytes is not parsed: it becomes a `LongText`.
 */
import * as Result from "effect/Result"
import { endOfString } from "../DecimalText.ts"
import { LongText } from "../LongText.ts"

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBracket = 0x5b
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** Deeper documents are refused; call traces have some thousand levels. */
const maxDepth = 10_000

/** An object or array that has not ended yet. */
interface Level {
  isArray: boolean
  start: number
  /** Its children, elements or members, are parsed up to here: up to a comma, or to the end of an object or array. */
  from: number
  afterChild: boolean
  /** The last string: where the child is an object or array, its name. */
  name: number
  /** Made when the first children are parsed before the level has ended. */
  value: Array<unknown> | Record<string, unknown>
}

const unmade: Array<unknown> = []

/** Bytes that are scanned in a step. */
const stepBytes = 2 ** 20
/** Strings with more bytes are not parsed. */
const longBytes = 4 * 2 ** 20

/** Index just past a string that is long; -1 where it has no end. */
function* endOfLong(json: Buffer, start: number): Generator<void, number> {
  for (let at = start + 1; at < json.length; ) {
    yield
    const to = Math.min(at + stepBytes, json.length)
    const window = json.subarray(at, to)
    const [end, escape] = [window.indexOf(quote), window.indexOf(backslash)]
    if (escape < 0 || (end >= 0 && end < escape)) {
      if (end >= 0) return at + end + 1
      at = to
      continue
    }
    for (at += escape; at < to; at += json[at] === backslash ? 2 : 1) if (json[at] === quote) return at + 1
  }
  return -1
}

const put = (level: Level, name: string, child: unknown) => {
  const value = level.value as Record<string, unknown>
  // An assignment of this name would set the prototype.
  if (name !== "__proto__") value[name] = child
  else Object.defineProperty(value, name, { value: child, enumerable: true, configurable: true, writable: true })
}

const putAll = (level: Level, children: object) => {
  if (level.isArray) for (const child of children as Array<unknown>) (level.value as Array<unknown>).push(child)
  else for (const [name, child] of Object.entries(children)) put(level, name, child)
}

const refuse = (at: number): never => {
  throw new SyntaxError(`no JSON at byte ${at}`)
}

const isBlankByte = (byte: number | undefined) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const attempt = <A>(parse: () => A): Result.Result<A, string> =>
  Result.try({ try: parse, catch: (error) => String(error) })

/** Parses a text between two others, none by default; throws where they are no JSON. */
export type Parse = (text: Buffer, before?: string, after?: string) => unknown

/**
 * Parses a document by `parse`, which is given a text of about `pieceBytes` at a time. Yields after each; fails where the
 * document is no JSON. A string of more than `limit` bytes becomes a `LongText`.
 */
export function* read(
  json: Buffer,
  parse: Parse,
  pieceBytes = 32_768,
  limit = longBytes
): Generator<void, Result.Result<unknown, string>> {
  const whole = () => attempt(() => parse(json))
  if (json.length <= pieceBytes) return whole()
  const levels: Array<Level> = []
  let depth = 0
  /** Levels that have a value: the first so many. */
  let made = 0
  let parsedTo = -1

  const isBlank = (from: number, to: number): boolean => {
    let at = from
    while (at < to && isBlankByte(json[at])) at++
    return at === to
  }

  /** The children of a level between `from` and `to`, where `end` completes the text. */
  const childrenOf = ({ from, isArray }: Level, to: number, end: string): object =>
    parse(json.subarray(from, to), isArray ? "[" : "{", end) as object

  const endOf = ({ isArray }: Level) => (isArray ? "]" : "}")

  /** Takes the children that end at `to`. */
  const take = (level: Level, to: number) => {
    if (isBlank(level.from, to) !== level.afterChild) refuse(to)
    if (!level.afterChild) putAll(level, childrenOf(level, to, endOf(level)))
    level.from = to + 1
    level.afterChild = false
  }

  /** Takes a child that begins at `start` and is not parsed here, and the children before it. */
  const takeUnparsed = (level: Level, start: number, child: unknown) => {
    if (level.afterChild) refuse(start)
    // An empty array stands for the child: nothing before the child can take that in, as a number would take in a digit.
    const children = childrenOf(level, start, `[]${endOf(level)}`)
    putAll(level, children)
    if (level.isArray) (level.value as Array<unknown>)[(level.value as Array<unknown>).length - 1] = child
    else put(level, parse(json.subarray(level.name, endOfString(json, level.name))) as string, child)
    level.afterChild = true
  }

  const begin = (start: number) => {
    if (depth === maxDepth) refuse(start)
    levels[depth++] = {
      isArray: json[start] === openBracket,
      start,
      from: start + 1,
      afterChild: false,
      name: 0,
      value: unmade
    }
  }

  /** Makes the values of all levels, and takes the children before each. */
  const makeAll = () => {
    for (; made < depth; made++) {
      const level = levels[made]!
      level.value = level.isArray ? [] : {}
      if (made > 0) takeUnparsed(levels[made - 1]!, level.start, level.value)
    }
  }

  /** Takes all children before the comma at `at`, of all levels. */
  const takeAll = (at: number) => {
    makeAll()
    take(levels[depth - 1]!, at)
    parsedTo = at
  }

  /** Takes the long string between `start` and `end`, and all children before it. */
  const takeLong = (start: number, end: number) => {
    if (end < 0) refuse(json.length)
    makeAll()
    const level = levels[depth - 1]!
    takeUnparsed(level, start, new LongText(json.subarray(start + 1, end - 1)))
    level.from = end
    parsedTo = end
    at = end
  }

  const end = (at: number) => {
    const level = levels[depth - 1]!
    if (level.isArray !== (json[at] === closeBracket)) refuse(at)
    if (made === depth) {
      take(level, at)
      made--
      if (depth > 1) levels[depth - 2]!.from = at + 1
    }
    depth--
  }

  let at = 0
  /** Where a long string begins that the scan has come to. */
  let long = -1
  /** Goes on for a step, until a piece has been parsed, to a long string, or to the end of the first level. */
  const goOn = () => {
    const stop = at + stepBytes
    while (at < json.length) {
      if (at > stop) {
        if (at - parsedTo > 4 * limit) refuse(at)
        return
      }
      const byte = json[at]!
      if (byte === quote) {
        const end = endOfString(json, at, at + limit)
        if (end < 0) {
          long = at
          return
        }
        levels[depth - 1]!.name = at
        at = end
        continue
      }
      if (byte === openBrace || byte === openBracket) begin(at)
      else if (byte === closeBrace || byte === closeBracket) end(at)
      else if (byte === comma) {
        const level = levels[depth - 1]!
        if (at - parsedTo >= pieceBytes) takeAll(at)
        else if (level.afterChild) take(level, at)
      }
      at++
      if (depth === 0 || parsedTo === at - 1) return
    }
    refuse(at)
  }

  while (isBlankByte(json[at])) at++
  if (json[at] !== openBrace && json[at] !== openBracket) {
    return json.length > limit ? attempt(() => refuse(at)) : whole()
  }
  do {
    const gone = attempt(goOn)
    if (Result.isFailure(gone)) return gone
    yield
    if (long < 0) continue
    const end = yield* endOfLong(json, long)
    const taken = attempt(() => takeLong(long, end))
    if (Result.isFailure(taken)) return taken
    long = -1
  } while (depth > 0)
  if (!isBlank(at, json.length)) return attempt(() => refuse(at))
  return parsedTo < 0 ? whole() : Result.succeed(levels[0]!.value)
}
