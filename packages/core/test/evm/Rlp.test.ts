import { existsSync, readFileSync } from "node:fs"
import { assert, it } from "@effect/vitest"
import * as Rlp from "@headwater/core/evm/Rlp"
import { bytesToHex } from "@noble/hashes/utils.js"
import { decodeRlp, encodeRlp } from "ethers"
import fc from "fast-check"

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

// ethereum.org, "Recursive-length prefix serialization": examples.
it.each([
  ["dog", text("dog"), "83646f67"],
  ["a list", [text("cat"), text("dog")], "c88363617483646f67"],
  ["the empty string", text(""), "80"],
  ["the empty list", [], "c0"],
  ["0", Rlp.integer(0n), "80"],
  ["the byte 0", Uint8Array.of(0), "00"],
  ["15", Rlp.integer(15n), "0f"],
  ["127", Rlp.integer(127n), "7f"],
  ["128", Rlp.integer(128n), "8180"],
  ["1024", Rlp.integer(1024n), "820400"],
  ["three of the set theory", [[], [[]], [[], [[]]]], "c7c0c1c0c3c0c1c0"],
  [
    "56 bytes",
    text("Lorem ipsum dolor sit amet, consectetur adipisicing elit"),
    `b838${bytesToHex(text("Lorem ipsum dolor sit amet, consectetur adipisicing elit"))}`
  ]
] as ReadonlyArray<readonly [string, Rlp.Item, string]>)("%s", (_, item, expected) => {
  assert.strictEqual(bytesToHex(Rlp.encode(item)), expected)
})

it("agrees with ethers on nested items and on lengths around every border", () => {
  const hex = (item: Rlp.Item): string | Array<unknown> =>
    item instanceof Uint8Array ? `0x${bytesToHex(item)}` : item.map(hex)
  const item = fc.letrec<{ item: Rlp.Item }>((tie) => ({
    item: fc.oneof({ maxDepth: 4 }, fc.uint8Array({ maxLength: 80 }), fc.array(tie("item"), { maxLength: 6 }))
  })).item
  fc.assert(
    fc.property(item, (value) => {
      const encoded = `0x${bytesToHex(Rlp.encode(value))}`
      assert.strictEqual(encoded, encodeRlp(hex(value) as never))
      assert.deepStrictEqual(decodeRlp(encoded), hex(value) as never)
    })
  )
  for (const length of [0, 1, 55, 56, 255, 256, 65_535, 65_536]) {
    const bytes = new Uint8Array(length).fill(0x80)
    assert.strictEqual(`0x${bytesToHex(Rlp.encode(bytes))}`, encodeRlp(bytes))
  }
})

const vectors = new URL(
  "../../../../../shared/fixtures/evm-sighash/ethereum-tests/RLPTests/rlptest.json",
  import.meta.url
)
it.skipIf(!existsSync(vectors))("shared fixtures: ethereum/tests", () => {
  type In = string | number | ReadonlyArray<In>
  const toItem = (value: In): Rlp.Item =>
    typeof value === "number"
      ? Rlp.integer(BigInt(value))
      : typeof value === "string"
        ? value.startsWith("#")
          ? Rlp.integer(BigInt(value.slice(1)))
          : text(value)
        : value.map(toItem)
  const cases: Record<string, { in: In; out: string }> = JSON.parse(readFileSync(vectors, "utf8"))
  assert.isAbove(Object.keys(cases).length, 20)
  for (const [name, { in: given, out }] of Object.entries(cases)) {
    assert.strictEqual(`0x${bytesToHex(Rlp.encode(toItem(given)))}`, out, name)
  }
})
