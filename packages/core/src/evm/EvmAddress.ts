/** `0x` address text ⇄ 20 bytes, with the mixed-case checksum of EIP-55. */
import { keccak_256 } from "@noble/hashes/sha3.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import { coordinates } from "../keys/BaseMultiples.ts"
import { each, type KeyFormat } from "../keys/KeyFormat.ts"
import * as TextHash from "./internal/TextHash.ts"

const form = /^0x[0-9a-fA-F]{40}$/

/** Made at the first address: who writes none loads nothing for it. */
let hashOf: TextHash.TextHash | undefined

/** 20 bytes → EIP-55 text. */
export const encode = (account: Uint8Array): string => {
  hashOf ??= TextHash.make()
  const digits = bytesToHex(account)
  const hash = hashOf(digits)
  let text = "0x"
  for (let index = 0; index < 40; index++) {
    const code = digits.charCodeAt(index)
    const isUpper = code > 0x60 && ((hash[index >> 1]! >> (index % 2 === 0 ? 4 : 0)) & 8) !== 0
    text += String.fromCharCode(isUpper ? code - 0x20 : code)
  }
  return text
}

/** Text in one case or with a correct EIP-55 checksum → 20 bytes; the failure is the rule that the text breaks. */
export const decode = (text: string): Result.Result<Uint8Array, string> => {
  if (!form.test(text)) return Result.fail("must be 0x and 40 hexadecimal digits")
  const digits = text.slice(2)
  const account = hexToBytes(digits)
  return digits === digits.toLowerCase() || digits === digits.toUpperCase() || text === encode(account)
    ? Result.succeed(account)
    : Result.fail("upper and lower case together must be the EIP-55 checksum")
}

/** The account of a public key: the end of the hash of the key's coordinates. */
export const standard: KeyFormat<"STANDARD"> = {
  name: "STANDARD",
  addresses: each((point) => keccak_256(coordinates(point)).subarray(12))
}
