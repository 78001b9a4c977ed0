/**
 * Adding multiples of the base point of secp256k1 to many public points at once.
 *
 * A kernel adds points of one batch (`packages/core/kernel/keys.ts`); multiples of the base point come from a table of every
 * signed digit of ten bits at every position. Both take time that depends on the numbers: for public keys only, never for a
 * secret.
 */

import { normalizeZ } from "@noble/curves/abstract/curve.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import * as Kernel from "../Kernel.ts"
import compiled from "./internal/compiledKernel.ts"

const { Point } = secp256k1
const prime = Point.Fp.ORDER

/** A point that is not infinity, both coordinates from 0 to the field's prime. */
export interface Affine {
  readonly x: bigint
  readonly y: bigint
}

/** Bits of a digit. With signs, a table of half as many entries serves all of its values. */
const width = 10
const windows = Math.ceil(257 / width)
const entries = 1 << (width - 1)

interface Exports extends Kernel.Exports {
  /** Reads `count` coordinates of 32 bytes, and puts each to `to` as the kernel adds them: 36 bytes. */
  readonly read: (from: number, count: number, to: number) => void
  /** Writes `count` coordinates that the kernel has added: 32 bytes each. */
  readonly write: (from: number, count: number, to: number) => void
  /**
   * Adds to each of `count` points the one that its number of 32 bits at `others` names: where that stands, one more where its
   * negative is meant; 0 for none. `room`: 72 bytes a point. 0 where two of them have the same x, for which the formula does
   * not hold.
   */
  readonly add: (points: number, others: number, count: number, room: number) => number
}

const kernel = Kernel.make<Exports>(compiled)

/** Of both coordinates, as they are outside and in the kernel. */
const pointBytes = 64
const kernelPointBytes = 72
/** Points that are added at a time, by one inversion. */
const most = entries

/** An instance with the table at the beginning of its memory, and behind that room for a batch. */
interface Table extends Exports {
  readonly view: DataView
  /** Where the entry of a digit, 1 … entries, stands: digit × 2^(width × window) × G. */
  readonly placeOf: (window: number, digit: number) => number
  readonly points: number
  readonly others: number
  readonly room: number
}

const readCoordinate = (view: DataView, offset: number): bigint =>
  (view.getBigUint64(offset) << 192n) |
  (view.getBigUint64(offset + 8) << 128n) |
  (view.getBigUint64(offset + 16) << 64n) |
  view.getBigUint64(offset + 24)

const writeCoordinate = (view: DataView, offset: number, value: bigint): void => {
  view.setBigUint64(offset, value >> 192n)
  view.setBigUint64(offset + 8, (value >> 128n) & 0xffffffffffffffffn)
  view.setBigUint64(offset + 16, (value >> 64n) & 0xffffffffffffffffn)
  view.setBigUint64(offset + 24, value & 0xffffffffffffffffn)
}

const writeAll = (view: DataView, offset: number, points: ReadonlyArray<Affine>): void => {
  for (const [index, { x, y }] of points.entries()) {
    writeCoordinate(view, offset + index * pointBytes, x)
    writeCoordinate(view, offset + index * pointBytes + 32, y)
  }
}

const makeTable = (): Table => {
  const instance = kernel.take()
  const begin = instance.begin()
  const placeOf = (window: number, digit: number) => begin + (window * entries + digit - 1) * kernelPointBytes
  const points = placeOf(windows, 1)
  const others = points + most * kernelPointBytes
  const room = others + most * 4
  instance.reach(room + most * kernelPointBytes)
  const view = new DataView(instance.memory.buffer)
  const memory = new Uint8Array(instance.memory.buffer)
  const powers = [Point.BASE]
  for (let power = 1; power < windows * width; power++) powers.push(powers[power - 1]!.double())
  writeAll(view, room, normalizeZ(Point, powers))
  for (let power = 0; power < powers.length; power++) {
    const place = placeOf(Math.floor(power / width), 1 << (power % width))
    instance.read(room + power * pointBytes, 2, place)
  }
  for (let window = 0; window < windows; window++) {
    for (let stride = 2; stride < entries; stride *= 2) {
      // Entries stride + 1 … 2 × stride − 1 are entries 1 … stride − 1 plus entry `stride`.
      const sums = placeOf(window, stride + 1)
      memory.copyWithin(sums, placeOf(window, 1), placeOf(window, stride))
      for (let index = 0; index < stride - 1; index++) view.setUint32(others + index * 4, placeOf(window, stride), true)
      instance.add(sums, others, stride - 1, room)
    }
  }
  return { ...instance, view, placeOf, points, others, room }
}

let table: Table | undefined

const toBigInt = (bytes: Uint8Array): bigint =>
  readCoordinate(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0)

/** Whether 32 big-endian bytes are a number below the order of the group. */
export const isScalar = (bytes: Uint8Array): boolean => toBigInt(bytes) < Point.Fn.ORDER

/** The digits of 32 big-endian bytes, each from −entries + 1 to entries, the lowest first. */
const digitsOf = (scalar: Uint8Array): Int16Array => {
  const digits = new Int16Array(windows)
  let carry = 0
  for (let window = 0; window < windows; window++) {
    const bit = window * width
    const at = 31 - (bit >> 3)
    // Ten bits lie within three bytes.
    const bytes = (scalar[at] ?? 0) | ((scalar[at - 1] ?? 0) << 8) | ((scalar[at - 2] ?? 0) << 16)
    const digit = ((bytes >> (bit & 7)) & (2 * entries - 1)) + carry
    carry = digit > entries ? 1 : 0
    digits[window] = digit - carry * 2 * entries
  }
  return digits
}

/** One sum by the library. */
const sumOf = (parent: Affine, scalar: Uint8Array): Affine | undefined => {
  // A number that is no scalar has no child key: the caller drops its sum.
  const multiple = toBigInt(scalar) % Point.Fn.ORDER
  const sum = Point.fromAffine(parent).add(Point.BASE.multiplyUnsafe(multiple))
  return sum.is0() ? undefined : sum.toAffine()
}

/** Fewer sums than this take the library less time each than a share of the inversions takes here. */
const fewestAtOnce = 8

const sumsOf = (
  parents: ReadonlyArray<Affine>,
  scalars: ReadonlyArray<Uint8Array>
): ReadonlyArray<Affine | undefined> => {
  const { length } = parents
  table ??= makeTable()
  const { add, others, placeOf, points, read, room, view, write } = table
  writeAll(view, room, parents)
  read(room, 2 * length, points)
  const digits = scalars.map(digitsOf)
  for (let window = 0; window < windows; window++) {
    for (let index = 0; index < length; index++) {
      const digit = digits[index]![window]!
      const place = digit === 0 ? 0 : digit > 0 ? placeOf(window, digit) : placeOf(window, -digit) + 1
      view.setUint32(others + index * 4, place, true)
    }
    if (add(points, others, length, room) === 0) return parents.map((parent, index) => sumOf(parent, scalars[index]!))
  }
  write(points, 2 * length, room)
  return parents.map((_, index) => ({
    x: readCoordinate(view, room + index * pointBytes),
    y: readCoordinate(view, room + index * pointBytes + 32)
  }))
}

/**
 * `parents[i] + scalars[i] × G`, each scalar 32 big-endian bytes below the order of the group; undefined where the sum
 * is the point at infinity. The first call for several builds the table, about 30 ms and 1 MB.
 */
export const addBaseMultiples = (
  parents: ReadonlyArray<Affine>,
  scalars: ReadonlyArray<Uint8Array>
): ReadonlyArray<Affine | undefined> => {
  if (parents.length < fewestAtOnce) return parents.map((parent, index) => sumOf(parent, scalars[index]!))
  const sums: Array<Affine | undefined> = []
  for (let first = 0; first < parents.length; first += most)
    sums.push(...sumsOf(parents.slice(first, first + most), scalars.slice(first, first + most)))
  return sums
}

/** A compressed point, which must be one → its coordinates. */
export const decompress = (publicKey: Uint8Array): Affine => Point.fromBytes(publicKey).toAffine()

/** 32 bytes of x. */
export const xOnly = ({ x }: Affine): Uint8Array => {
  const bytes = new Uint8Array(32)
  writeCoordinate(new DataView(bytes.buffer), 0, x)
  return bytes
}

/** 33 bytes: 2 or 3 by the parity of y, then x. */
export const compress = ({ x, y }: Affine): Uint8Array => {
  const bytes = new Uint8Array(33)
  bytes[0] = y & 1n ? 3 : 2
  writeCoordinate(new DataView(bytes.buffer), 1, x)
  return bytes
}

/** 64 bytes: x, then y. */
export const coordinates = ({ x, y }: Affine): Uint8Array => {
  const bytes = new Uint8Array(64)
  const view = new DataView(bytes.buffer)
  writeCoordinate(view, 0, x)
  writeCoordinate(view, 32, y)
  return bytes
}

/** The point with the same x whose y is even (BIP-340 `lift_x`). */
export const withEvenY = ({ x, y }: Affine): Affine => (y & 1n ? { x, y: prime - y } : { x, y })
