/** CashAddr, the address text of Bitcoin Cash (spec: bitcoincashorg, `cashaddr.md`, with the token-aware types of CashTokens). */
import { bech32 } from "@scure/base"
import * as Result from "effect/Result"
import type { Template } from "../LockingScript.ts"

const alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
const valueOf = new Map([...alphabet].map((letter, value) => [letter, value]))

/** Size bits of the version byte → bytes of hash that a script can ask for. */
const sizes: Readonly<Record<number, number>> = { 0: 20, 3: 32 }

const generators = [0x98f2bc8e61n, 0x79b76d99e2n, 0xf33e5fb3c4n, 0xae2eabe2a8n, 0x1e4f43e470n]
// 40 bits do not fit a 32-bit operation: the state is kept as its upper 8 and lower 32 bits.
const generatorHigh = generators.map((generator) => Number(generator >> 32n))
const generatorLow = generators.map((generator) => Number(generator & 0xffffffffn) | 0)

/** The BCH code of 5-bit words over the prefix; eight words of checksum make it zero. */
const polymod = (prefix: string, words: ReadonlyArray<number>): readonly [high: number, low: number] => {
  let high = 0
  let low = 1
  const step = (word: number) => {
    const top = high >>> 3
    high = ((high & 0x07) << 5) | (low >>> 27)
    low = (low << 5) ^ word
    for (let bit = 0; bit < 5; bit++) {
      if ((top >>> bit) & 1) {
        high ^= generatorHigh[bit]!
        low ^= generatorLow[bit]!
      }
    }
  }
  for (let index = 0; index < prefix.length; index++) step(prefix.charCodeAt(index) & 0x1f)
  step(0)
  for (const word of words) step(word)
  low ^= 1
  return [high, low]
}

const checksumOf = (prefix: string, words: ReadonlyArray<number>): ReadonlyArray<number> => {
  const [high, low] = polymod(prefix, [...words, 0, 0, 0, 0, 0, 0, 0, 0])
  const code = (BigInt(high) << 32n) | BigInt(low >>> 0)
  return Array.from({ length: 8 }, (_, index) => Number((code >> BigInt(5 * (7 - index))) & 0x1fn))
}

/** Text, with or without `prefix:` → template of the locking script; the failure is the rule that the text breaks. */
export const decode = (prefix: string, text: string): Result.Result<Template, string> => {
  if (text.length > 128) return Result.fail("must have at most 128 characters")
  const lower = text.toLowerCase()
  if (text !== lower && text !== text.toUpperCase()) return Result.fail("must not mix upper and lower case")
  const colon = lower.indexOf(":")
  if (colon >= 0 && lower.slice(0, colon) !== prefix) return Result.fail(`must have the prefix ${prefix} or none`)
  const words = Array.from(lower.slice(colon + 1), (letter) => valueOf.get(letter) ?? -1)
  if (words.includes(-1)) return Result.fail("must have CashAddr characters only")
  const [high, low] = polymod(prefix, words)
  if (words.length < 9 || high !== 0 || low !== 0) {
    return Result.fail(`must have a correct CashAddr checksum for the prefix ${prefix}`)
  }
  const payload = bech32.fromWordsUnsafe(words.slice(0, -8))
  if (!payload) return Result.fail("must have zero padding of less than five bits")
  const [version = 0] = payload
  const hash = payload.subarray(1)
  const type = version >> 3
  if (sizes[version & 7] !== hash.length) {
    return Result.fail("must carry a hash of the 20 or 32 bytes that its version byte says")
  }
  // Types 2 and 3 say that the wallet understands CashTokens; the script is that of types 0 and 1.
  if ((type === 0 || type === 2) && hash.length === 20) return Result.succeed({ kind: "pubKeyHash", hash })
  if (type === 1 || type === 3) return Result.succeed({ kind: "scriptHash", hash })
  return Result.fail("must be of a CashAddr type in use: a key hash of 20 bytes or a script hash")
}

/** Template of a locking script → text with the prefix. */
export const encode = (prefix: string, template: Exclude<Template, { kind: "witness" }>): string => {
  const payload = new Uint8Array(template.hash.length + 1)
  payload[0] = (template.kind === "scriptHash" ? 1 << 3 : 0) | (template.hash.length === 32 ? 3 : 0)
  payload.set(template.hash, 1)
  const words = bech32.toWords(payload)
  return `${prefix}:${[...words, ...checksumOf(prefix, words)].map((word) => alphabet[word]).join("")}`
}
