import { assert, describe, it } from "@effect/vitest"
import * as BaseMultiples from "@headwater/core/keys/BaseMultiples"
import * as KeysKernel from "@headwater/core/keys/KeysKernel"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import fc from "fast-check"

const { Point } = secp256k1
const order = Point.Fn.ORDER
const scalarBytes = (scalar: bigint): Uint8Array => hexToBytes(scalar.toString(16).padStart(64, "0"))

/** What the library says: the oracle of every test here. */
const expected = (parent: bigint, scalar: bigint): string => {
  const sum = Point.BASE.multiply(parent).add(scalar === 0n ? Point.ZERO : Point.BASE.multiply(scalar))
  return sum.is0() ? "infinity" : bytesToHex(sum.toBytes(true))
}

const actual = (
  addBaseMultiples: BaseMultiples.AddBaseMultiples,
  cases: ReadonlyArray<readonly [parent: bigint, scalar: bigint]>
): ReadonlyArray<string> =>
  addBaseMultiples(
    cases.map(([parent]) => BaseMultiples.decompress(Point.BASE.multiply(parent).toBytes(true))),
    cases.map(([, scalar]) => scalarBytes(scalar))
  ).map((point) => (point === undefined ? "infinity" : bytesToHex(BaseMultiples.compress(point))))

const check = (cases: ReadonlyArray<readonly [bigint, bigint]>) => {
  const sums = cases.map(([parent, scalar]) => expected(parent, scalar))
  for (const { addBaseMultiples } of [BaseMultiples, KeysKernel]) {
    assert.deepStrictEqual(actual(addBaseMultiples, cases), sums)
  }
}

describe("addBaseMultiples", () => {
  it("agrees with the library on random batches", () => {
    const scalar = fc.bigInt({ min: 1n, max: order - 1n })
    fc.assert(fc.property(fc.array(fc.tuple(scalar, scalar), { minLength: 0, maxLength: 24 }), check), { numRuns: 10 })
  })

  it("agrees where the batch meets equal or opposite points half way, alone and among others", () => {
    const ordinary = [123456789n, 987654321n] as const
    for (const edge of [
      [1n, 1n], // a doubling in the first window
      [5n, 1_024n + 5n], // a doubling, then one more window
      [1_025n, 2_049n],
      [1_024n, 1_024n], // a doubling in the second window
      [1n, order - 1n], // infinity
      [order - 1n, 1n],
      [order - 5n, 1_024n + 5n], // infinity half way, 1,024 G in the end
      [5n, 1_024n - 5n], // the same with a negative digit
      [order - 5n, 1_024n - 5n], // a doubling of −5 G
      [7n, 0n],
      [7n, order - 8n]
    ] as const) {
      check([edge])
      // Few sums are the library's own.
      check([...new Array(8).fill(ordinary), edge, ordinary, edge])
    }
  })

  it("leaves few sums of a batch to the library where the formula does not hold for one of them", () => {
    let byLibrary = 0
    /** Only the library takes the bytes as a number. */
    const counted = (bytes: Uint8Array) => {
      const { buffer } = bytes
      const get = () => {
        byLibrary++
        return buffer
      }
      return Object.defineProperty(bytes, "buffer", { get })
    }
    // 3 G and 3 G: who asks for many children of a key may choose a small one.
    const parent = Point.BASE.multiply(3n).toAffine()
    for (const { addBaseMultiples } of [BaseMultiples, KeysKernel]) {
      byLibrary = 0
      const scalars = Array.from({ length: 64 }, (_, index) => counted(scalarBytes(index === 40 ? 3n : 2_000n)))
      const sums = addBaseMultiples(new Array(scalars.length).fill(parent), scalars)
      assert.isAtMost(byLibrary, 8)
      assert.deepStrictEqual(
        [sums[39], sums[40]],
        [2_003n, 6n].map((multiple) => Point.BASE.multiply(multiple).toAffine())
      )
    }
  })

  it("has a right table entry for digits of either sign at every position", () => {
    const cases: Array<readonly [bigint, bigint]> = []
    for (let position = 0n; position < 26n; position++) {
      // Above 512 a digit is negative, and carries one.
      for (const digit of [1n, 2n, 3n, 255n, 256n, 257n, 511n, 512n, 513n, 768n, 1_022n, 1_023n]) {
        const scalar = digit << (10n * position)
        if (scalar < order) cases.push([0x1234567890abcdefn, scalar])
      }
    }
    check(cases)
  })

  it("carries over every position", () => {
    const ones = (1n << 255n) - 1n
    check([
      ...new Array(8).fill([3n, 1n]),
      [3n, ones],
      [3n, ones >> 1n],
      [3n, ones - 511n],
      [3n, order - 2n],
      [3n, order - (1n << 128n)]
    ])
  })
})

it("isScalar is below the order of the group", () => {
  assert.isTrue(BaseMultiples.isScalar(scalarBytes(0n)))
  assert.isTrue(BaseMultiples.isScalar(scalarBytes(order - 1n)))
  assert.isFalse(BaseMultiples.isScalar(scalarBytes(order)))
  assert.isFalse(BaseMultiples.isScalar(scalarBytes(2n ** 256n - 1n)))
})
