/** Base58 with a four-byte double-SHA-256 checksum, in the alphabet of Bitcoin or of XRP. */
import { sha256 } from "@noble/hashes/sha2.js"
import { base58, base58xrp } from "@scure/base"
import * as Result from "effect/Result"

const alphabets = { bitcoin: base58, xrp: base58xrp }
export type Alphabet = keyof typeof alphabets

const checksum = (payload: Uint8Array): Uint8Array => sha256(sha256(payload)).subarray(0, 4)

/** Text → version and payload bytes; the failure is the rule that the text breaks. */
export const decode = (alphabet: Alphabet, text: string): Result.Result<Uint8Array, string> =>
  Result.gen(function* () {
    const bytes = yield* Result.try({
      try: () => alphabets[alphabet].decode(text),
      catch: () => "must have base58 characters only"
    })
    const payload = bytes.subarray(0, -4)
    const sum = bytes.subarray(-4)
    return bytes.length > 4 && checksum(payload).every((byte, index) => byte === sum[index])
      ? payload
      : yield* Result.fail("must have a correct base58check checksum")
  })

/** Version and payload bytes → text. */
export const encode = (alphabet: Alphabet, payload: Uint8Array): string => {
  const bytes = new Uint8Array(payload.length + 4)
  bytes.set(payload)
  bytes.set(checksum(payload), payload.length)
  return alphabets[alphabet].encode(bytes)
}
