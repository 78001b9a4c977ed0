/**
 * Adding multiples of the base point of secp256k1 to many public points at once.
 *
 * Points are affine, so that one addition is six multiplications in the field and one inversion serves a whole batch
 * (Montgomery's trick); multiples of the base point come from a table of every signed digit of ten bits at every position.
 * Both take time that depends on the numbers: for public keys only, never for a secret.
 */

import { normalizeZ } from "@noble/curves/abstract/curve.js"
import { invert } from "@noble/curves/abstract/modular.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"

const { Point } = secp256k1
const prime = Point.Fp.ORDER

/** A point that is not infinity, both coordinates from 0 to the field's prime. */
export interface Affine {
  readonly x: bigint
  readonly y: bigint
}

interface Points {
  readonly x: Array<bigint>
  readonly y: Array<bigint>
}

const positive = (value: bigint): bigint => (value < 0n ? value + prime : value)

/**
 * `points[i] += (x(i), y(i))`, where `x(i)` undefined means nothing to add. The formula does not hold where both points
 * have the same x: their indices go to `exceptions`, and the points stay as they were.
 */
const addAll = (
  points: Points,
  x: (index: number) => bigint | undefined,
  y: (index: number) => bigint,
  exceptions: Set<number>
): void => {
  const { length } = points.x
  const differences = new Array<bigint>(length)
  const products = new Array<bigint>(length)
  let product = 1n
  for (let index = 0; index < length; index++) {
    const other = x(index)
    const difference = other === undefined ? 0n : other - points.x[index]!
    if (other !== undefined && difference === 0n) exceptions.add(index)
    differences[index] = difference
    products[index] = product
    if (difference !== 0n) product = (product * difference) % prime
  }
  let inverse = invert(product, prime)
  for (let index = length - 1; index >= 0; index--) {
    const difference = differences[index]!
    if (difference === 0n) continue
    const fromX = points.x[index]!
    const fromY = points.y[index]!
    const slope = ((y(index) - fromY) * ((inverse * products[index]!) % prime)) % prime
    inverse = (inverse * difference) % prime
    const sumX = positive((slope * slope - fromX - (fromX + difference)) % prime)
    points.x[index] = sumX
    points.y[index] = positive((slope * (fromX - sumX) - fromY) % prime)
  }
}

/** Bits of a digit. With signs, a table of half as many entries serves all of its values. */
export const width = 10
export const windows = Math.ceil(257 / width)
export const entries = 1 << (width - 1)

/** Entry `window × entries + digit − 1` is digit × 2^(width × window) × G, for the digits 1 … entries. */
const makeTable = (): Points => {
  const table: Points = { x: new Array<bigint>(windows * entries), y: new Array<bigint>(windows * entries) }
  const powers = [Point.BASE]
  for (let power = 1; power < windows * width; power++) powers.push(powers[power - 1]!.double())
  const affinePowers = normalizeZ(Point, powers)
  const set = (window: number, digit: number, x: bigint, y: bigint) => {
    table.x[window * entries + digit - 1] = x
    table.y[window * entries + digit - 1] = y
  }
  // Entries stride + 1 … 2 × stride − 1 are entries 1 … stride − 1 plus entry `stride`, all windows at once.
  for (let bit = 0; bit < width; bit++) {
    const stride = 1 << bit
    const power = (window: number) => affinePowers[window * width + bit]!
    for (let window = 0; window < windows; window++) set(window, stride, power(window).x, power(window).y)
    const perWindow = stride === entries ? 0 : stride - 1
    const sums: Points = { x: [], y: [] }
    for (let window = 0; window < windows; window++) {
      for (let digit = 1; digit <= perWindow; digit++) {
        sums.x.push(table.x[window * entries + digit - 1]!)
        sums.y.push(table.y[window * entries + digit - 1]!)
      }
    }
    const windowOf = (index: number) => Math.floor(index / perWindow)
    addAll(
      sums,
      (index) => power(windowOf(index)).x,
      (index) => power(windowOf(index)).y,
      new Set()
    )
    sums.x.forEach((x, index) => {
      set(windowOf(index), stride + 1 + (index % perWindow), x, sums.y[index]!)
    })
  }
  return table
}

let table: Points | undefined

export const readCoordinate = (view: DataView, offset: number): bigint =>
  (view.getBigUint64(offset) << 192n) |
  (view.getBigUint64(offset + 8) << 128n) |
  (view.getBigUint64(offset + 16) << 64n) |
  view.getBigUint64(offset + 24)

const toBigInt = (bytes: Uint8Array): bigint =>
  readCoordinate(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), 0)

/** Whether 32 big-endian bytes are a number below the order of the group. */
export const isScalar = (bytes: Uint8Array): boolean => toBigInt(bytes) < Point.Fn.ORDER

/** The digits of 32 big-endian bytes, each from −entries + 1 to entries, the lowest first. */
export const digitsOf = (scalar: Uint8Array): Int16Array => {
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
export const sumOf = (parent: Affine, scalar: Uint8Array): Affine | undefined => {
  // A number that is no scalar has no child key: the caller drops its sum.
  const multiple = toBigInt(scalar) % Point.Fn.ORDER
  const sum = Point.fromAffine(parent).add(Point.BASE.multiplyUnsafe(multiple))
  return sum.is0() ? undefined : sum.toAffine()
}

/** Fewer sums than this take the library less time each than a share of the inversions takes here. */
export const fewestAtOnce = 8

/** As {@link addBaseMultiples}, by whichever means. */
export type AddBaseMultiples = (
  parents: ReadonlyArray<Affine>,
  scalars: ReadonlyArray<Uint8Array>
) => ReadonlyArray<Affine | undefined>

/**
 * `parents[i] + scalars[i] × G`, each scalar 32 big-endian bytes below the order of the group; undefined where the sum
 * is the point at infinity. The first call for several builds the table, about 50 ms and 2 MB.
 */
export const addBaseMultiples: AddBaseMultiples = (parents, scalars) => {
  if (parents.length < fewestAtOnce) return parents.map((parent, index) => sumOf(parent, scalars[index]!))
  table ??= makeTable()
  const { x, y } = table
  const sums: Points = { x: parents.map((parent) => parent.x), y: parents.map((parent) => parent.y) }
  const digits = scalars.map(digitsOf)
  const exceptions = new Set<number>()
  for (let window = 0; window < windows; window++) {
    const first = window * entries - 1
    addAll(
      sums,
      (index) => {
        const digit = digits[index]![window]!
        return digit === 0 ? undefined : x[first + Math.abs(digit)]
      },
      (index) => {
        const digit = digits[index]![window]!
        return digit < 0 ? -y[first - digit]! : y[first + digit]!
      },
      exceptions
    )
  }
  return parents.map((parent, index) => {
    return exceptions.has(index) ? sumOf(parent, scalars[index]!) : { x: sums.x[index]!, y: sums.y[index]! }
  })
}

/** A compressed point, which must be one → its coordinates. */
export const decompress = (publicKey: Uint8Array): Affine => Point.fromBytes(publicKey).toAffine()

export const writeCoordinate = (view: DataView, offset: number, value: bigint): void => {
  view.setBigUint64(offset, value >> 192n)
  view.setBigUint64(offset + 8, (value >> 128n) & 0xffffffffffffffffn)
  view.setBigUint64(offset + 16, (value >> 64n) & 0xffffffffffffffffn)
  view.setBigUint64(offset + 24, value & 0xffffffffffffffffn)
}

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
