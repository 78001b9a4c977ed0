/**
 * How a receiver can tell that a callback is ours: the `x-signature` of existing clients and the three headers of
 * Standard Webhooks (standardwebhooks.com), both over the very bytes that are sent.
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

/**
 * The signature headers of one attempt.
 *
 * `secrets`: the subscription's secret, while a rotation lasts also the one before; `x-signature` uses the first.
 * `timestamp`: of the attempt, in seconds. `body`: what is sent, unchanged.
 */
export const headers = (options: {
  readonly secrets: readonly [string, ...ReadonlyArray<string>]
  readonly id: string
  readonly timestamp: number
  readonly body: string
}): Readonly<Record<"x-signature" | "webhook-id" | "webhook-timestamp" | "webhook-signature", string>> => {
  const body = utf8ToBytes(options.body)
  const signed = utf8ToBytes(`${options.id}.${options.timestamp}.${options.body}`)
  return {
    "x-signature": bytesToHex(hmac(sha256, utf8ToBytes(options.secrets[0]), body)),
    "webhook-id": options.id,
    "webhook-timestamp": String(options.timestamp),
    "webhook-signature": options.secrets
      .map((secret) => `v1,${base64.encode(hmac(sha256, keyOf(secret), signed))}`)
      .join(" ")
  }
}
