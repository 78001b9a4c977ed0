/** The wire format of Protocol Buffers, as far as Tron's transactions use it: varints and bytes, field by field. */
import * as Result from "effect/Result"

/** One field as it stands in a message: its number, and a varint as an unsigned 64-bit number or bytes. */
export interface Field {
  readonly number: number
  readonly value: bigint | Uint8Array
}

const wireVarint = 0
const wireFixed64 = 1
const wireBytes = 2
const wireStartGroup = 3
const wireEndGroup = 4
const wireFixed32 = 5

const truncated = "must be a whole protobuf message"

/**
 * Message → its fields in the order of the bytes; groups and fields of fixed width, which no message of Tron has, are
 * left out. The failure is the rule that the bytes break.
 */
export const decode = (message: Uint8Array): Result.Result<ReadonlyArray<Field>, string> => {
  const fields: Array<Field> = []
  let at = 0
  let groups = 0
  const push = (number: number, value: bigint | Uint8Array) => {
    if (groups === 0) fields.push({ number, value })
  }

  /** A number where it is below 2^49, as most are: bigints take several times as long. */
  const varint = (): number | bigint | undefined => {
    let short = 0
    for (let scale = 1; scale < 2 ** 49; scale *= 128) {
      const byte = message[at++]
      if (byte === undefined) return undefined
      short += (byte & 0x7f) * scale
      if (byte < 0x80) return short
    }
    let value = BigInt(short)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = message[at++]
      if (byte === undefined) return undefined
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value < 2n ** 49n ? Number(value) : BigInt.asUintN(64, value)
    }
    return undefined
  }

  /** The lowest 32 bits, which are all that nodes read of a tag or a length (protobuf's `readRawVarint32`). */
  const varint32 = (): number | undefined => {
    const value = varint()
    if (value === undefined) return undefined
    return value < 2 ** 32 ? Number(value) : Number(BigInt.asUintN(32, BigInt(value)))
  }

  while (at < message.length) {
    const tag = varint32()
    if (tag === undefined || tag < 8) return Result.fail(truncated)
    const number = tag >>> 3
    const wire = tag & 7
    if (wire === wireVarint) {
      const value = varint()
      if (value === undefined) return Result.fail(truncated)
      push(number, BigInt(value))
    } else if (wire === wireBytes) {
      const length = varint32()
      if (length === undefined || length > message.length - at) return Result.fail(truncated)
      push(number, message.subarray(at, at + length))
      at += length
    } else if (wire === wireFixed64 || wire === wireFixed32) {
      at += wire === wireFixed64 ? 8 : 4
      if (at > message.length) return Result.fail(truncated)
    } else if (wire === wireStartGroup) {
      groups++
    } else if (wire === wireEndGroup && groups > 0) {
      groups--
    } else {
      return Result.fail("must have the wire types of protobuf only")
    }
  }
  return groups === 0 ? Result.succeed(fields) : Result.fail(truncated)
}

const pushVarint = (out: Array<number>, value: bigint): void => {
  let rest = BigInt.asUintN(64, value)
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  out.push(Number(rest))
}

/** Fields in the order given → message. As proto3 has it, a zero and empty bytes are not written. */
export const encode = (fields: ReadonlyArray<readonly [number: number, value: bigint | Uint8Array]>): Uint8Array => {
  const out: Array<number> = []
  for (const [number, value] of fields) {
    if (typeof value === "bigint") {
      if (value === 0n) continue
      pushVarint(out, BigInt(number * 8 + wireVarint))
      pushVarint(out, value)
    } else if (value.length > 0) {
      pushVarint(out, BigInt(number * 8 + wireBytes))
      pushVarint(out, BigInt(value.length))
      for (const byte of value) out.push(byte)
    }
  }
  return Uint8Array.from(out)
}

/**
 * The last bytes of field `number`, empty where there are none. As protobuf has it, the same number with another wire
 * type is an unknown field.
 */
export const bytesOf = (fields: ReadonlyArray<Field>, number: number): Uint8Array => {
  const found = fields.findLast((field) => field.number === number && field.value instanceof Uint8Array)?.value
  return found instanceof Uint8Array ? found : new Uint8Array(0)
}

/** The last varint of field `number` as a signed 64-bit number (`int64`, `int32`, `enum`), zero where there is none. */
export const integerOf = (fields: ReadonlyArray<Field>, number: number): bigint => {
  const found = fields.findLast((field) => field.number === number && typeof field.value === "bigint")?.value
  return typeof found === "bigint" ? BigInt.asIntN(64, found) : 0n
}
