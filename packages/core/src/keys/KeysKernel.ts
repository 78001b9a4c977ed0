/**
 * As `BaseMultiples.addBaseMultiples`, by a kernel (`packages/core/kernel/keys.ts`): several times as fast, where there is
 * WebAssembly. For public keys only, as there.
 */

import { normalizeZ } from "@noble/curves/abstract/curve.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import * as Kernel from "../Kernel.ts"
import {
  type AddBaseMultiples,
  type Affine,
  digitsOf,
  entries,
  fewestAtOnce,
  readCoordinate,
  sumOf,
  width,
  windows,
  writeCoordinate
} from "./BaseMultiples.ts"
import compiled from "./internal/compiledKernel.ts"

const { Point } = secp256k1

export interface Exports extends Kernel.Exports {
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

export const kernel = Kernel.make<Exports>(compiled)

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
    // It is not told which of the sums the formula does not hold for: a key may be made to have such ones.
    if (add(points, others, length, room) === 0) {
      const half = length >> 1
      return [
        ...addBaseMultiples(parents.slice(0, half), scalars.slice(0, half)),
        ...addBaseMultiples(parents.slice(half), scalars.slice(half))
      ]
    }
  }
  write(points, 2 * length, room)
  return parents.map((_, index) => ({
    x: readCoordinate(view, room + index * pointBytes),
    y: readCoordinate(view, room + index * pointBytes + 32)
  }))
}

/** As `BaseMultiples.addBaseMultiples`. The first call for several builds the table, about 30 ms and 1 MB. */
export const addBaseMultiples: AddBaseMultiples = (parents, scalars) => {
  if (parents.length < fewestAtOnce) return parents.map((parent, index) => sumOf(parent, scalars[index]!))
  const sums: Array<Affine | undefined> = []
  for (let first = 0; first < parents.length; first += most)
    sums.push(...sumsOf(parents.slice(first, first + most), scalars.slice(first, first + most)))
  return sums
}
