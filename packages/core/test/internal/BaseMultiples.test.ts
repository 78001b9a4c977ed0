import { assert, describe, it } from "@effect/vitest"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import fc from "fast-check"
// Not in the package's exports; tsc refuses a path that ends in .ts across projects.
import * as BaseMultiples from "../../src/internal/BaseMultiples.js"

const { Point } = secp256k1
const order = Point.Fn.ORDER
const scalarBytes = (scalar: bigint): Uint8Array => hexToBytes(scalar.toString(16).padStart(64, "0"))

/** What the library says: the oracle of every test here. */
const expected = (parent: bigint, scalar: bigint): string => {
  const sum = Point.BASE.multiply(parent).add(scalar === 0n ? Point.ZERO : Point.BASE.multiply(scalar))
  return sum.is0() ? "infinity" : bytesToHex(sum.toBytes(true))
}

const actual = (cases: ReadonlyArray<readonly [parent: bigint, scalar: bigint]>): ReadonlyArray<string> =>
  BaseMultiples.addBaseMultiples(
    cases.map(([parent]) => BaseMultiples.decompress(Point.BASE.multiply(parent).toBytes(true))),
    cases.map(([, scalar]) => scalarBytes(scalar))
  ).map((point) => (point === undefined ? "infinity" : bytesToHex(BaseMultiples.compress(point))))

const check = (cases: ReadonlyArray<readonly [bigint, bigint]>) =>
  assert.deepStrictEqual(
    actual(cases),
    cases.map(([parent, scalar]) => expected(parent, scalar))
  )

describe("addBaseMultiples", () => {
  it("agrees with the library on random batches", () => {
    const scalar = fc.bigInt({ min: 1n, max: order - 1n })
    fc.assert(fc.property(fc.array(fc.tuple(scalar, scalar), { minLength: 0, maxLength: 20 }), check), { numRuns: 10 })
  })

  it("agrees where the batch meets equal or opposite points half way, alone and among others", () => {
    const ordinary = [123456789n, 987654321n] as const
    for (const edge of [
      [1n, 1n], // a doubling in the first window
      [5n, 0x105n], // a doubling, then one more window
      [257n, 0x0201n],
      [256n, 0x0100n], // a doubling in the second window
      [1n, order - 1n], // infinity
      [order - 1n, 1n],
      [order - 5n, 0x105n], // infinity half way, 256 G in the end
      [7n, 0n],
      [7n, order - 8n]
    ] as const) {
      check([edge])
      check([ordinary, edge, ordinary, edge])
    }
  })

  it("has a right table entry for every byte at every position", () => {
    const cases: Array<readonly [bigint, bigint]> = []
    for (let position = 0n; position < 32n; position++) {
      for (const byte of [1n, 2n, 3n, 127n, 128n, 129n, 254n, 255n]) {
        const scalar = byte << (8n * position)
        if (scalar < order) cases.push([0x1234567890abcdefn, scalar])
      }
    }
    check(cases)
  })
})

it("isScalar is below the order of the group", () => {
  assert.isTrue(BaseMultiples.isScalar(scalarBytes(0n)))
  assert.isTrue(BaseMultiples.isScalar(scalarBytes(order - 1n)))
  assert.isFalse(BaseMultiples.isScalar(scalarBytes(order)))
  assert.isFalse(BaseMultiples.isScalar(scalarBytes(2n ** 256n - 1n)))
})
