/** Scripts by their parts, as bitcoinjs-lib reads them. */
import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { decompile, toASM } from "bitcoinjs-lib/src/script"
import * as Script from "../../../src/operations/utxo/Script.ts"

const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, "hex"))

/** Bytes without order, mostly opcodes that push: most of such scripts end within a push. */
const random = Array.from({ length: 2_000 }, (_, seed) => {
  const bytes = createHash("sha512").update(String(seed)).digest()
  return Uint8Array.from(bytes.subarray(0, 1 + (seed % 40)), (byte) => (byte % 3 === 0 ? byte % 8 : byte))
})

const scripts = [
  ...["", "00", "4f", "50", "51", "60", "61", "ac", "ba", "fc", "ff", "baff"],
  // Pushes of a byte that has an opcode of its own, and of others; and pushes of nothing, of every form.
  ...["0101", "0110", "0111", "0181", "0180", "0100", "4c0105", "4c00", "4d0000", "4e00000000", "004c00"],
  // Pushes that end with the script, within it and behind it.
  ...["02abcd", "02ab", "4c02abcd", "4c02ab", "4c", "4d0100ab", "4d01", "4e01000000ab", "4e010000", "4effffffffab"],
  "76a914000102030405060708090a0b0c0d0e0f1011121388ac"
].map(bytesOf)

describe("Script", () => {
  it.each([
    ["of every form", scripts],
    ["of any bytes", random]
  ])("says the parts of scripts %s", (_, all) => {
    for (const script of all) {
      const parts = decompile(script)
      const pushes = (parts ?? []).map((part) => (typeof part === "number" ? undefined : Uint8Array.from(part)))
      const opcodes = (parts ?? []).filter((part) => typeof part === "number")
      const text = Buffer.from(script).toString("hex")
      assert.strictEqual(Script.isWhole(script), parts !== null, text)
      assert.strictEqual(Script.asm(script), parts === null ? "" : toASM(script), text)
      assert.deepStrictEqual(new Set(Script.opcodesOf(script)), new Set(opcodes), text)
      assert.deepStrictEqual(
        Script.endOf(script),
        { parts: pushes.length, last: pushes.at(-1), lastButOne: pushes.at(-2) },
        text
      )
    }
  })
})
