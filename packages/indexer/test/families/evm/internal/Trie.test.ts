import { assert, describe, it } from "@effect/vitest"
import { Malformed } from "@headwater/indexer/families/evm/internal/Hex"
import * as Rlp from "@headwater/indexer/families/evm/internal/Rlp"
import * as Trie from "@headwater/indexer/families/evm/internal/Trie"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import { encodeRlp, keccak256 } from "ethers"
import * as fc from "fast-check"
import { createKeccak } from "hash-wasm"

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
const keccakOf = (bytes: Uint8Array): Uint8Array => Buffer.from(keccak256(bytes).slice(2), "hex")

const items: fc.Arbitrary<Rlp.Item> = fc.letrec<{ item: Rlp.Item }>((tie) => ({
  item: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.uint8Array({ maxLength: 80 }),
    fc.uint8Array({ maxLength: 80 }).map(hex),
    fc.array(tie("item"), { maxLength: 6 })
  )
})).item

describe("Rlp", () => {
  it("writes what ethers writes", () => {
    const shape = (item: Rlp.Item): never =>
      (typeof item === "string" ? item : item instanceof Uint8Array ? hex(item) : item.map(shape)) as never
    fc.assert(
      fc.property(items, (item) => assert.strictEqual(hex(Rlp.encode(item)), encodeRlp(shape(item)))),
      { numRuns: 2000 }
    )
    for (const length of [55, 56, 255, 256, 65_535, 65_536]) {
      const bytes = new Uint8Array(length).fill(1)
      assert.strictEqual(hex(Rlp.encode(bytes)), encodeRlp(hex(bytes)))
      assert.strictEqual(hex(Rlp.encode([bytes])), encodeRlp([hex(bytes)]))
    }
  })

  it("refuses text that is not hex", () => {
    for (const text of ["0x0", "0xzz", "00", "0x00zz", "0x0ａ"]) assert.throws(() => Rlp.encode([text]), Malformed)
  })

  it("writes numbers without leading zeros", () => {
    assert.deepStrictEqual(
      [0n, 1n, 127n, 128n, 255n, 256n, 2n ** 64n].map((number) => hex(Rlp.encode(Rlp.integer(number)))),
      ["0x80", "0x01", "0x7f", "0x8180", "0x81ff", "0x820100", "0x89010000000000000000"]
    )
  })
})

/** A trie built one insertion at a time as the Yellow Paper tells it, on nested arrays: slow, and unlike the other. */
const slowRoot = (values: ReadonlyArray<Uint8Array>): string => {
  type Entry = readonly [string, string]
  const prefixed = (nibbles: string, leaf: boolean) => {
    const flag = (leaf ? 2 : 0) + (nibbles.length % 2)
    return `0x${flag.toString(16)}${nibbles.length % 2 === 0 ? "0" : ""}${nibbles}`
  }
  type Node = Array<string | Node>
  const node = (entries: ReadonlyArray<Entry>): Node => {
    const [key, value] = entries[0]!
    if (entries.length === 1) return [prefixed(key, true), value]
    let shared = key.length
    for (const [other] of entries) while (!other.startsWith(key.slice(0, shared))) shared--
    if (shared > 0) {
      return [
        prefixed(key.slice(0, shared), false),
        reference(entries.map(([other, content]): Entry => [other.slice(shared), content]))
      ]
    }
    const branch = [..."0123456789abcdef"].map((digit) => {
      const below = entries.filter(([other]) => other.startsWith(digit))
      return below.length === 0 ? "0x" : reference(below.map(([other, content]): Entry => [other.slice(1), content]))
    })
    return [...branch, "0x"]
  }
  const reference = (entries: ReadonlyArray<Entry>): string | Node => {
    const content = node(entries)
    const encoded = encodeRlp(content as never)
    return encoded.length < 66 ? content : keccak256(encoded)
  }
  if (values.length === 0) return keccak256("0x80")
  const entries = values.map((value, index): Entry => {
    const digits = index === 0 ? "" : index.toString(16)
    return [encodeRlp(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`).slice(2), hex(value)]
  })
  return keccak256(encodeRlp(node(entries) as never))
}

describe("Trie", () => {
  it("of nothing is the root that every empty block has", () => {
    assert.strictEqual(
      hex(TimeSlice.atOnce(Trie.rootOfList([], keccakOf))),
      "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421"
    )
  })

  it("equals a slow one for every length across the borders of RLP indices", () => {
    for (const length of [1, 2, 16, 17, 126, 127, 128, 129, 130, 255, 256, 257, 300]) {
      const values = Array.from({ length }, (_, index) => new Uint8Array(40 + (index % 7)).fill(index))
      assert.strictEqual(hex(TimeSlice.atOnce(Trie.rootOfList(values, keccakOf))), slowRoot(values), String(length))
    }
  })

  it("equals a slow one for values so short that nodes lie within their parents", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 200 }), (values) => {
        assert.strictEqual(hex(TimeSlice.atOnce(Trie.rootOfList(values, keccakOf))), slowRoot(values))
      }),
      { numRuns: 200 }
    )
  })
})

describe("hash-wasm's Keccak", () => {
  it.effect("is ethers' Keccak", () =>
    Effect.gen(function* () {
      const hasher = yield* Effect.promise(() => createKeccak(256))
      for (const length of [0, 1, 135, 136, 137, 272, 5000]) {
        const bytes = new Uint8Array(length).fill(7)
        assert.strictEqual(hex(hasher.init().update(bytes).digest("binary")), keccak256(bytes))
      }
    })
  )
})
