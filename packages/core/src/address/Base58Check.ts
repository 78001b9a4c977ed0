/** Bitcoin's base58 with a four-byte checksum, by double SHA-256, of which Tron has the same. */
import { sha256 } from "@noble/hashes/sha2.js"
import { createBase58check } from "@scure/base"
import * as Result from "effect/Result"

const codec = createBase58check(sha256)

/** Text → version and payload bytes; the failure is the rule that the text breaks. */
export const decode = (text: string): Result.Result<Uint8Array, string> =>
  Result.try({
    try: () => codec.decode(text),
    catch: () => "must have base58 characters only, with a correct base58check checksum"
  })

/** Version and payload bytes → text. */
export const encode = (payload: Uint8Array): string => codec.encode(payload)
