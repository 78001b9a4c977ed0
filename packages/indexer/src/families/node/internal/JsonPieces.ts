/**
 * JSON parsed piece by piece. `JSON.parse` holds up everything else until the end of a document: here it gets runs of
 * members and elements, some ten thousand bytes at a time, whose values are then put together.
 *
 * The scan finds strings, brackets and commas, and no more: whether JSON stands between two commas is for `JSON.parse`
 * to say.
 */
import * as Result from "effect/Result"
import { endOfString } from "../DecimalText.ts"

const quote = 0x22
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
 * document is no JSON.
 */
export function* read(
  json: Buffer,
  parse: Parse,
  pieceBytes = 32_768
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

  /** Takes a child that has not ended, and the children before it. */
  const takeUnended = (level: Level, child: Level) => {
    if (level.afterChild) refuse(child.start)
    // An empty array stands for the child: nothing before the child can take that in, as a number would take in a digit.
    const children = childrenOf(level, child.start, `[]${endOf(level)}`)
    putAll(level, children)
    if (level.isArray) (level.value as Array<unknown>)[(level.value as Array<unknown>).length - 1] = child.value
    else put(level, parse(json.subarray(level.name, endOfString(json, level.name))) as string, child.value)
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

  /** Takes all children before the comma at `at`, of all levels. */
  const takeAll = (at: number) => {
    for (; made < depth; made++) {
      const level = levels[made]!
      level.value = level.isArray ? [] : {}
      if (made > 0) takeUnended(levels[made - 1]!, level)
    }
    take(levels[depth - 1]!, at)
    parsedTo = at
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
  /** Goes on until a piece has been parsed, or to the end of the first level. */
  const goOn = () => {
    while (at < json.length) {
      const byte = json[at]!
      if (byte === quote) {
        levels[depth - 1]!.name = at
        at = endOfString(json, at)
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
  if (json[at] !== openBrace && json[at] !== openBracket) return whole()
  do {
    const gone = attempt(goOn)
    if (Result.isFailure(gone)) return gone
    yield
  } while (depth > 0)
  if (!isBlank(at, json.length)) return attempt(() => refuse(at))
  return parsedTo < 0 ? whole() : Result.succeed(levels[0]!.value)
}
