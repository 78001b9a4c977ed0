/** `0x` address text ⇄ 20 bytes, with the mixed-case checksum of EIP-55. */
import { keccak_256 } from "@noble/hashes/sha3.js"
import { hexToBytes } from "@noble/hashes/utils.js"
import * as Result from "effect/Result"
import * as Bytes from "../Bytes.ts"
import { coordinates } from "../keys/BaseMultiples.ts"
import { each, type KeyFormat } from "../keys/KeyFormat.ts"

const form = /^0x[0-9a-fA-F]{40}$/

/** The code of `a`, and how much less that of `A` is. */
const [firstLetter, toUpper] = [0x61, 0x20]

/** 20 bytes → EIP-55 text. */
export const encode = (account: Uint8Array): string => {
  const digits = Bytes.hex(account)
  const ascii = new Uint8Array(40)
  for (let index = 0; index < 40; index++) ascii[index] = digits.charCodeAt(index)
  const hash = keccak_256(ascii)
  for (let index = 0; index < 40; index++) {
    const isUpper = (hash[index >> 1]! >> (index % 2 === 0 ? 4 : 0)) & 8
    if (isUpper && ascii[index]! >= firstLetter) ascii[index]! -= toUpper
  }
  return `0x${Bytes.key(ascii)}`
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
