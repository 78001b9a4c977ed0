/**
 * The headers that prove the sender of a callback: the `x-signature` of existing clients and the three headers of Standard
 * Webhooks (standardwebhooks.com), both over the very bytes that are sent.
 */
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"
import { base64 } from "@scure/base"
import * as Result from "effect/Result"

/** A secret's bytes: base64 after `whsec_` where it is valid, else the text as UTF-8. */
const keyOf = (secret: string): Uint8Array =>
  secret.startsWith("whsec_")
    ? Result.getOrElse(
        Result.try(() => base64.decode(secret.slice(6))),
        () => utf8ToBytes(secret)
      )
    : utf8ToBytes(secret)

/** HMAC-SHA256 of UTF-8 text under a key, written as lower-case hex or as base64. */
export type Mac = (key: Uint8Array) => (text: string, encoding: "hex" | "base64") => string

const pureMac: Mac = (key) => (text, encoding) => {
  const bytes = hmac(sha256, key, utf8ToBytes(text))
  return encoding === "hex" ? bytesToHex(bytes) : base64.encode(bytes)
}

export interface Signed {
  readonly id: string
  /** Of the attempt, in seconds since the Unix epoch. */
  readonly timestamp: number
  /** The bytes that are sent, as text. */
  readonly body: string
}

export type Headers = Readonly<Record<"x-signature" | "webhook-id" | "webhook-timestamp" | "webhook-signature", string>>

/**
 * Makes the signature headers of attempts under the same secrets: first the subscription's secret, then, while a rotation
 * lasts, the secret before. `x-signature` uses the first. A program may bring the HMAC of its platform as `mac`, which
 * may be much faster.
 *
 * @example
 * ```ts
 * import * as Signature from "@headwater/core/events/Signature"
 *
 * const sign = Signature.signer(["the new secret", "the old secret"])
 * const headers = sign({ id: "4b6f", timestamp: 1764158400, body: "{}" })
 * headers["webhook-signature"].split(" ").length // => 2
 * ```
 */
export const signer = (
  secrets: readonly [string, ...ReadonlyArray<string>],
  mac: Mac = pureMac
): ((signed: Signed) => Headers) => {
  const ofBody = mac(utf8ToBytes(secrets[0]))
  const ofAttempt = secrets.map((secret) => mac(keyOf(secret)))
  return ({ body, id, timestamp }) => {
    const text = `${id}.${timestamp}.${body}`
    return {
      "x-signature": ofBody(body, "hex"),
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": ofAttempt.map((sign) => `v1,${sign(text, "base64")}`).join(" ")
    }
  }
}

/**
 * The signature headers of one attempt.
 *
 * @example
 * ```ts
 * import * as Signature from "@headwater/core/events/Signature"
 *
 * const headers = Signature.headers({ secrets: ["a secret"], id: "4b6f", timestamp: 1764158400, body: "{}" })
 * headers["x-signature"] // => "c424c6f590d0d71e73c149cf3babaacf68709276ebdf98c4426975d5e07f9397"
 * headers["webhook-signature"] // => "v1,iBvfDRLoLAGKcIq2OlqbGx682HVQBLZEE/behf7G5Ag="
 * ```
 */
export const headers = (options: Signed & { readonly secrets: readonly [string, ...ReadonlyArray<string>] }): Headers =>
  signer(options.secrets)(options)
