import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Watched from "@headwater/core/events/Watched"
import * as fc from "fast-check"

const key = [0x12345678, 0x9abcdef0] as const

const address = (number: number, length = 20) => {
  const bytes = new Uint8Array(length)
  new DataView(bytes.buffer).setUint32(length - 4, number)
  return bytes
}

describe("Watched", () => {
  it("agrees with a plain set through any mix of additions and removals", () => {
    const operation = fc.tuple(fc.boolean(), fc.nat(60))
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 400 }), (operations) => {
        const watched = Watched.make(key, 4)
        const plain = new Set<number>()
        for (const [add, number] of operations) {
          if (add) {
            watched.add(address(number))
            plain.add(number)
          } else {
            watched.remove(address(number))
            plain.delete(number)
          }
        }
        assert.strictEqual(watched.size(), plain.size)
        for (let number = 0; number <= 60; number++) {
          assert.strictEqual(watched.has(address(number)), plain.has(number), `address ${number}`)
        }
      })
    )
  })

  it("finds addresses of any length among other bytes", () => {
    const watched = Watched.make(key)
    const bytes = Uint8Array.from({ length: 64 }, (_, index) => index * 37 + 1)
    for (let length = 0; length <= 35; length++) {
      const at = 20 - (length % 7)
      const span = { bytes, at, length }
      assert.isFalse(watched.hasAt(span))
      watched.add(bytes.slice(at, at + length))
      assert.isTrue(watched.hasAt(span))
      assert.isTrue(watched.has(bytes.slice(at, at + length)))
      assert.isFalse(watched.hasAt({ ...span, at: at + 1, length: Math.max(1, length) }))
    }
  })

  it("says whom a transfer pays, by where the address stands if that is known", () => {
    const watched = Watched.make(key)
    const [ours, other] = [Address.fromBytes(address(1)), Address.fromBytes(address(2))]
    watched.add(ours)
    const coin = { kind: "coin", transaction: 0, position: 0, from: undefined, amount: 1n } as const
    const span = { bytes: Uint8Array.of(7, ...ours, 7), at: 1, length: ours.length }
    assert.isTrue(Watched.isPaid(watched, { ...coin, to: ours }))
    assert.isFalse(Watched.isPaid(watched, { ...coin, to: other }))
    assert.isTrue(Watched.isPaid(watched, { ...coin, to: ours, toSpan: span }))
    assert.isFalse(Watched.isPaid(watched, { ...coin, to: other, toSpan: { ...span, at: 0 } }))
    assert.isFalse(Watched.isPaid(watched, { ...coin, from: ours, to: undefined }))
  })

  it("grows past its first capacity, and finds nothing that was not added", () => {
    const watched = Watched.make(key)
    // Compared once: an assertion of each would take most of the time.
    const wrongAmong = (wanted: (i: number) => boolean, count: number) => {
      const wrong: Array<number> = []
      for (let i = 0; i < count; i++) if (watched.has(address(i)) !== wanted(i)) wrong.push(i)
      return wrong
    }
    for (let i = 0; i < 100_000; i++) watched.add(address(i))
    assert.strictEqual(watched.size(), 100_000)
    assert.deepStrictEqual(
      wrongAmong((i) => i < 100_000, 300_000),
      []
    )
    for (let i = 0; i < 100_000; i += 2) watched.remove(address(i))
    assert.deepStrictEqual(
      wrongAmong((i) => i % 2 === 1, 100_000),
      []
    )
  })

  it("grows a small part at a time, so that no addition takes long", () => {
    const sizes: Array<number> = []
    const plain = globalThis.Uint32Array
    globalThis.Uint32Array = new Proxy(plain, {
      construct: (target, [length]) => {
        sizes.push(length)
        return new target(length)
      }
    })
    try {
      const watched = Watched.make(key)
      for (let i = 0; i < 200_000; i++) watched.add(address(i))
    } finally {
      globalThis.Uint32Array = plain
    }
    assert.isAbove(sizes.length, 0)
    assert.isAtMost(Math.max(...sizes), 8_192)
  })

  it("tells scripts of every length apart", () => {
    const watched = Watched.make(key)
    for (const length of [20, 22, 23, 25, 34, 35, 67]) {
      watched.add(address(1, length))
      assert.isFalse(watched.has(address(2, length)))
    }
    assert.isFalse(watched.has(address(1, 21)))
  })
})
