import * as TextHash from "../../src/evm/internal/TextHash.ts"
import { keccak_256 } from "@noble/hashes/sha3.js"
import { afterEach, describe, expect, it, vi } from "vitest"

const texts = Array.from({ length: TextHash.maxLength + 1 }, (_, length) =>
  Array.from({ length }, (_, index) => String.fromCharCode(0x21 + ((index * 7 + length) % 0x5e))).join("")
)

const expected = texts.map((text) => keccak_256(new TextEncoder().encode(text)))

describe("the hash of a text", () => {
  afterEach(() => void vi.unstubAllGlobals())

  it("is Keccak-256 by the kernel, whatever was hashed before", () => {
    const hash = TextHash.make()
    expect(hash).not.toBe(TextHash.plain)
    for (const [index, text] of [...texts.entries(), ...[...texts.entries()].reverse()]) {
      expect(hash(text)).toEqual(expected[index])
    }
  })

  it("is the same where WebAssembly is not allowed", () => {
    vi.stubGlobal("WebAssembly", {
      Module: class {
        constructor() {
          throw new Error("refused by the page's policy")
        }
      }
    })
    const hash = TextHash.make()
    expect(hash).toBe(TextHash.plain)
    for (const [index, text] of texts.entries()) expect(hash(text)).toEqual(expected[index])
  })
})
