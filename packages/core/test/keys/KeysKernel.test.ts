import { assert, it } from "@effect/vitest"
import * as KeysKernel from "@headwater/core/keys/KeysKernel"
import { invert } from "@noble/curves/abstract/modular.js"
import { secp256k1 } from "@noble/curves/secp256k1.js"
import { bytesToNumberBE, numberToBytesBE } from "@noble/curves/utils.js"
import fc from "fast-check"

const prime = secp256k1.Point.Fp.ORDER

const mod = (value: bigint) => ((value % prime) + prime) % prime

type Pair = readonly [x: bigint, y: bigint]

/** The formula of affine points that have not the same x. */
const sum = ([x, y]: Pair, [otherX, otherY]: Pair): Pair => {
  const slope = mod((otherY - y) * invert(mod(otherX - x), prime))
  const sumX = mod(slope * slope - x - otherX)
  return [sumX, mod(slope * (x - sumX) - y)]
}

/** Any numbers of the field, those at its ends and at the ends of the kernel's limbs often. */
const number = fc.oneof(
  fc.bigInt({ min: 0n, max: prime - 1n }),
  fc.constantFrom(0n, 1n, 976n, 977n, 978n, 2n ** 32n + 977n, prime - 1n, prime - 2n, prime - 977n),
  fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: -2, max: 2 }))
    .map(([bit, more]) => mod((1n << BigInt(bit)) + BigInt(more)))
)
const pair: fc.Arbitrary<Pair> = fc.tuple(number, number)

it("adds as the formula does, twice in a row, also negatives and nothing; and refuses the same x", () => {
  const instance = KeysKernel.kernel.take()
  const [points, others, numbers] = [0, 2048, 4096].map((offset) => instance.begin() + offset) as [
    number,
    number,
    number
  ]
  const room = numbers + 2048
  instance.reach(room + 4096)
  const memory = new Uint8Array(instance.memory.buffer)
  const view = new DataView(instance.memory.buffer)
  const put = (at: number, pairs: ReadonlyArray<Pair>) => {
    for (const [index, value] of pairs.flat().entries()) memory.set(numberToBytesBE(value, 32), room + index * 32)
    instance.read(room, pairs.length * 2, at)
  }
  const added = fc.record({ point: pair, other: pair, sign: fc.constantFrom(-1n, 0n, 1n) })
  fc.assert(
    fc.property(fc.array(added, { minLength: 1, maxLength: 8 }), (all) => {
      put(
        points,
        all.map(({ point }) => point)
      )
      put(
        numbers,
        all.map(({ other }) => other)
      )
      for (const [index, { sign }] of all.entries()) {
        const place = numbers + index * 72
        view.setUint32(others + index * 4, sign === 0n ? 0 : sign < 0n ? place + 1 : place, true)
      }
      let expected: ReadonlyArray<Pair> = all.map(({ point }) => point)
      for (let round = 0; round < 2; round++) {
        const isSame = all.some(({ other, sign }, index) => sign !== 0n && other[0] === expected[index]![0])
        assert.strictEqual(instance.add(points, others, all.length, room), isSame ? 0 : 1)
        if (isSame) break
        expected = all.map(({ other: [x, y], sign }, index) =>
          sign === 0n ? expected[index]! : sum(expected[index]!, [x, mod(sign * y)])
        )
      }
      instance.write(points, all.length * 2, room)
      const actual = all.map((_, index) => [0, 32].map((offset) => room + index * 64 + offset))
      assert.deepStrictEqual(
        actual.map((places) => places.map((at) => bytesToNumberBE(memory.slice(at, at + 32)))),
        expected.map(([...coordinates]) => coordinates)
      )
    }),
    { numRuns: 2_000 }
  )
})
