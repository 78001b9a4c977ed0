/**
 * One event of a contract's ABI (Solidity ABI specification, *Events*): which logs are of the event, and what they say.
 *
 * An account gives the ABI and anybody may emit the log, so both are hostile: arguments are values and lists of values, no
 * tuples and no lists of lists, and what is decoded of a log is never more than the log's data.
 */
import { keccak_256 } from "@noble/hashes/sha3.js"
import { hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Bytes from "../Bytes.ts"
import * as Address from "../address/Address.ts"
import type { Chain } from "../chains/Chain.ts"
import type { DecodedEvent } from "../events/CallbackItem.ts"

/** The text or object is no event that can be decoded. */
export class InvalidEventAbi extends Schema.TaggedError<InvalidEventAbi>()("InvalidEventAbi", {
  message: Schema.String
}) {}

interface Argument {
  /** `uint256`, `bytes32[]`. */
  readonly type: string
  readonly indexed: boolean
  readonly name: string
}

interface Event {
  readonly name: string
  readonly arguments: ReadonlyArray<Argument>
}

/** Characters that the ABI of an event has at most, as text. */
const maxLength = 2_048
const maxArguments = 32

const identifier = /^[A-Za-z_$][A-Za-z0-9_$]*$/
const valueType = /^(?:address|bool|string|bytes(?:[1-9]|[12][0-9]|3[0-2])?|u?int(\d{1,3})?)$/

/** Whether values of the type stand behind the heads of all arguments; an indexed one is a hash. */
const isDynamic = (type: string) => type === "string" || type === "bytes" || type.endsWith("[]")

/** In full, as signatures have it; undefined for a type that is not decoded. */
const typeOf = (text: string): string | undefined => {
  const isList = text.endsWith("[]")
  const value = isList ? text.slice(0, -2) : text
  const found = valueType.exec(value)
  if (found === null || (isList && isDynamic(value))) return undefined
  const bits = found[1]
  if (bits !== undefined && (Number(bits) === 0 || Number(bits) > 256 || Number(bits) % 8 !== 0)) return undefined
  return `${value === "uint" || value === "int" ? `${value}256` : value}${isList ? "[]" : ""}`
}

const Json = Schema.Struct({
  type: Schema.Literal("event"),
  name: Schema.String,
  anonymous: Schema.optionalKey(Schema.Boolean),
  inputs: Schema.Array(
    Schema.Struct({ type: Schema.String, indexed: Schema.optionalKey(Schema.Boolean), name: Schema.String })
  )
})

const declaration = /^\s*(?:event\s+)?([A-Za-z0-9_$]+)\s*\(([^()]*)\)\s*(anonymous)?\s*;?\s*$/

const argumentOf = (text: string): Argument | undefined => {
  const [type = "", ...rest] = text.trim().split(/\s+/)
  const indexed = rest[0] === "indexed"
  const [name = "", ...more] = indexed ? rest.slice(1) : rest
  return more.length > 0 ? undefined : { type, indexed, name }
}

/** As Solidity declares it. */
const declared = (text: string) => {
  const found = declaration.exec(text)
  if (found === null) return undefined
  const [, name = "", inside = "", anonymous] = found
  const inputs = inside.trim() === "" ? [] : inside.split(",").map(argumentOf)
  return inputs.some((each) => each === undefined)
    ? undefined
    : { name, anonymous: anonymous !== undefined, arguments: inputs as ReadonlyArray<Argument> }
}

const ofJson = (abi: object) => {
  const decoded = Schema.decodeUnknownOption(Json)(abi)
  if (Option.isNone(decoded)) return undefined
  const { anonymous = false, inputs, name } = decoded.value
  return {
    name,
    anonymous,
    arguments: inputs.map(({ indexed = false, name, type }): Argument => ({ type, indexed, name }))
  }
}

const signatureOf = ({ arguments: all, name }: Event) => `${name}(${all.map(({ type }) => type).join(",")})`

const textOf = ({ arguments: all, name }: Event) =>
  `event ${name}(${all
    .map(({ indexed, name, type }) => [type, ...(indexed ? ["indexed"] : []), ...(name === "" ? [] : [name])].join(" "))
    .join(", ")})`

/** The event of an ABI, by the rules; the failure is the rule that is broken. */
const read = (abi: string | object): Result.Result<Event, string> => {
  const text = typeof abi === "string" ? abi : (JSON.stringify(abi) ?? "")
  if (text.length > maxLength) return Result.fail(`must have at most ${maxLength} characters`)
  const found = typeof abi === "string" ? declared(abi) : ofJson(abi)
  if (found === undefined) {
    return Result.fail("must be an event as Solidity declares it, or an event's object in a contract's ABI")
  }
  const { anonymous, arguments: all, name } = found
  if (anonymous) return Result.fail("must not be anonymous: nothing in a log tells such an event")
  if (!identifier.test(name) || all.some(({ name }) => name !== "" && (name === "indexed" || !identifier.test(name)))) {
    return Result.fail("must have names of letters, digits, _ and $")
  }
  if (all.length > maxArguments) return Result.fail(`must have at most ${maxArguments} arguments`)
  if (all.filter(({ indexed }) => indexed).length > 3) return Result.fail("must have at most 3 indexed arguments")
  const typed = all.map((one) => ({ ...one, type: typeOf(one.type) }))
  const other = typed.findIndex(({ type }) => type === undefined)
  if (other >= 0) {
    return Result.fail(
      "must have arguments of the types string, bytes, address, bool, bytes1 to bytes32, int and uint of 8 to 256 bits, and " +
        "lists of these but the first two (uint256[]); an event with others is subscribed to by topics"
    )
  }
  return Result.succeed({ name, arguments: typed as ReadonlyArray<Argument> })
}

/**
 * The event's ABI in one form, from how Solidity declares the event or from the ABI's JSON.
 *
 * @example
 * ```ts
 * import * as EventAbi from "@headwater/core/evm/EventAbi"
 * import * as Result from "effect/Result"
 *
 * const abi = EventAbi.parse("Transfer(address indexed from, address indexed to, uint value)")
 * Result.getOrThrow(abi) // => "event Transfer(address indexed from, address indexed to, uint256 value)"
 * ```
 */
export const parse = (abi: string | object): Result.Result<string, InvalidEventAbi> =>
  Result.mapBoth(read(abi), { onFailure: (message) => new InvalidEventAbi({ message }), onSuccess: textOf })

interface Known extends Event {
  readonly signature: string
  readonly topic: string
}

/** ABIs that are kept read. */
const kept = 1_000
const known = new Map<string, Known | undefined>()

/** `abi` as {@link parse} writes it; undefined for any other text. */
const knownOf = (abi: string): Known | undefined => {
  if (known.has(abi)) return known.get(abi)
  const event = Result.getOrUndefined(read(abi))
  const signature = event && signatureOf(event)
  const made =
    event && signature !== undefined
      ? { ...event, signature, topic: `0x${Bytes.hex(keccak_256(utf8ToBytes(signature)))}` }
      : undefined
  if (known.size >= kept) known.delete(known.keys().next().value!)
  known.set(abi, made)
  return made
}

/** The first topic of the event's logs, as 0x and hex digits; undefined for a text that {@link parse} has not written. */
export const topicOf = (abi: string): string | undefined => knownOf(abi)?.topic

/** Hex digits of a word. */
const wordSize = 64
const hexWord = /^[0-9a-fA-F]{64}$/

/** A value in a word; undefined where the word holds none of that type. */
const valueOf = (chain: Chain, type: string, word: string): Schema.Json | undefined => {
  if (!hexWord.test(word)) return undefined
  if (type === "address") {
    if (!word.startsWith("0".repeat(24))) return undefined
    return Address.encode(chain, Address.fromBytes(hexToBytes(word.slice(24))))
  }
  if (type.startsWith("bytes")) {
    const digits = 2 * Number(type.slice(5))
    return /^0*$/.test(word.slice(digits)) ? `0x${word.slice(0, digits).toLowerCase()}` : undefined
  }
  const number = BigInt(`0x${word}`)
  if (type === "bool") return number > 1n ? undefined : number === 1n
  const isSigned = type.startsWith("int")
  const bits = Number(type.slice(isSigned ? 3 : 4))
  const value = isSigned ? BigInt.asIntN(256, number) : number
  const fits = isSigned ? BigInt.asIntN(bits, value) === value : BigInt.asUintN(bits, value) === value
  return fits ? String(value) : undefined
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Reads the arguments that are not indexed, one after another; no more digits than the data has, also where tails are shared. */
const reader = (chain: Chain, digits: string) => {
  let left = digits.length
  const take = (start: number, length: number): string | undefined => {
    left -= length
    return left < 0 || start + length > digits.length ? undefined : digits.slice(start, start + length)
  }
  /** A number that is small enough for a place in the data. */
  const placeAt = (start: number): number | undefined => {
    const word = take(start, wordSize)
    if (word === undefined || !/^0{56}[0-9a-fA-F]{8}$/.test(word)) return undefined
    return Number.parseInt(word, 16)
  }
  const tail = (type: string, head: number): Schema.Json | undefined => {
    const offset = placeAt(head)
    const length = offset === undefined ? undefined : placeAt(2 * offset)
    if (offset === undefined || length === undefined) return undefined
    const start = 2 * offset + wordSize
    if (type.endsWith("[]")) {
      const of = type.slice(0, -2)
      if (length * wordSize > left) return undefined
      const values: Array<Schema.Json> = []
      for (let i = 0; i < length; i++) {
        const value = valueOf(chain, of, take(start + i * wordSize, wordSize) ?? "")
        if (value === undefined) return undefined
        values.push(value)
      }
      return values
    }
    const text = take(start, 2 * length)
    if (text === undefined) return undefined
    return type === "bytes"
      ? `0x${text.toLowerCase()}`
      : Result.getOrUndefined(Result.try(() => utf8.decode(hexToBytes(text))))
  }
  return (type: string, head: number) =>
    isDynamic(type) ? tail(type, head) : valueOf(chain, type, take(head, wordSize) ?? "")
}

/**
 * The arguments of a log by the event's ABI, as {@link parse} writes it; undefined where the log is of another event, or does not
 * fit: anybody can emit a log of any shape. Takes no longer than the log's data is.
 */
export const decode = (
  chain: Chain,
  abi: string,
  log: { readonly topics: ReadonlyArray<string>; readonly data: string }
): DecodedEvent | undefined => {
  const event = knownOf(abi)
  const { data, topics } = log
  if (event === undefined || topics[0] !== event.topic) return undefined
  if (topics.length !== 1 + event.arguments.filter(({ indexed }) => indexed).length) return undefined
  const argument = reader(chain, data.slice(2))
  const values: Array<DecodedEvent["arguments"][number]> = []
  let [topic, head] = [1, 0]
  for (const { indexed, name, type } of event.arguments) {
    let value: Schema.Json | undefined
    if (indexed) {
      const text = topics[topic++]!
      value = isDynamic(type) ? text : valueOf(chain, type, text.slice(2))
    } else {
      value = argument(type, head)
      head += wordSize
    }
    if (value === undefined) return undefined
    values.push({ name, type, value })
  }
  return { event: event.name, signature: event.signature, arguments: values }
}
