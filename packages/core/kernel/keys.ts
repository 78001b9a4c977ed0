/** The kernel of extended public keys: additions of many points of secp256k1 at once, which are public. */
import * as field from "./field"
import { begin, reach } from "./memory"

export { begin, reach }

/** Reads `count` numbers of 32 bytes, the highest first, and puts each to `to`, in the form of `field`. */
export function read(from: usize, count: u32, to: usize): void {
  for (; count > 0; count--, from += 32, to += field.size) field.read(from, to)
}

/** Writes `count` numbers that are in the form of `field`: 32 bytes each. */
export function write(from: usize, count: u32, to: usize): void {
  for (; count > 0; count--, from += field.size, to += 32) field.write(from, to)
}

const zero = memory.data(36)
const product = memory.data(36)
const inverse = memory.data(36)
const slope = memory.data(36)
const x = memory.data(36)
const y = memory.data(36)

/**
 * Adds to each of `count` points, x and then y, the point that its number of 32 bits at `others` names: where that stands, one
 * more where its negative is meant; 0 for none. `room` is for 72 bytes a point. False where the two points of an addition have
 * the same x, for which the formula does not hold: the points are as they were then.
 *
 * Points are affine, and one inversion serves all of them (Montgomery's trick).
 */
export function add(points: usize, others: usize, count: usize, room: usize): bool {
  const products = room + count * field.size
  let any = false
  for (let index: usize = 0; index < count; index++) {
    const other: usize = load<u32>(others + (index << 2)) & ~1
    if (other === 0) continue
    const difference = room + index * field.size
    field.sub(difference, other, points + index * 2 * field.size)
    const before = products + index * field.size
    if (any) {
      field.copy(before, product)
      field.mul(product, product, difference)
    } else {
      store<u32>(before, 1)
      memory.fill(before + 4, 0, field.size - 4)
      field.copy(product, difference)
      any = true
    }
  }
  if (!any) return true
  if (field.isZero(product)) return false
  field.invert(inverse, product)
  for (let index = count; index > 0; ) {
    index--
    const place: usize = load<u32>(others + (index << 2))
    const other = place & ~1
    if (other === 0) continue
    const point = points + index * 2 * field.size
    const pointY = point + field.size
    field.mul(slope, inverse, products + index * field.size)
    field.mul(inverse, inverse, room + index * field.size)
    if (place === other) field.sub(y, other + field.size, pointY)
    else {
      field.sub(y, zero, other + field.size)
      field.sub(y, y, pointY)
    }
    field.mul(slope, slope, y)
    field.mul(x, slope, slope)
    field.sub(x, x, point)
    field.sub(x, x, other)
    field.sub(y, point, x)
    field.mul(y, y, slope)
    field.sub(pointY, y, pointY)
    field.copy(point, x)
  }
  return true
}
