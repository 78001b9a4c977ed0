/**
 * The headers that prove the sender of a callback, made and verified: the `x-signature` of existing clients and the three
 * headers of Standard Webhooks (standardwebhooks.com), both over the very bytes that are sent.
 */
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"
import { base64 } from "@scure/base"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Bytes from "../Bytes.ts"

const isEncoded = (secret: string) => secret.startsWith("whsec_")

const decodedKey = (secret: string) => Result.try(() => base64.decode(secret.slice(6)))

/** A secret's bytes: base64 after `whsec_` where it is valid, else the text as UTF-8. */
const keyOf = (secret: string): Uint8Array =>
  isEncoded(secret) ? Result.getOrElse(decodedKey(secret), () => utf8ToBytes(secret)) : utf8ToBytes(secret)

/**
 * Whether every receiver reads the same key in a secret: what follows `whsec_` is padded base64, and something. By no key at
 * all anybody could sign.
 *
 * @example
 * ```ts
 * import * as Signature from "@headwater/core/events/Signature"
 *
 * Signature.isSecret("whsec_c2VjcmV0") // => true
 * Signature.isSecret("whsec_") // => false
 * ```
 */
export const isSecret = (secret: string): boolean =>
  secret !== "" && (!isEncoded(secret) || Result.getOrElse(decodedKey(secret), () => "").length > 0)

/** HMAC-SHA256 of UTF-8 text under a key, written as lower-case hex or as base64. */
export type Mac = (key: Uint8Array) => (text: string, encoding: "hex" | "base64") => string

const pureMac: Mac = (key) => (text, encoding) => {
  const bytes = hmac(sha256, key, utf8ToBytes(text))
  return encoding === "hex" ? Bytes.hex(bytes) : base64.encode(bytes)
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
  const [first, ...before] = secrets
  const ofBody = mac(utf8ToBytes(first))
  const ofAttempt = [isEncoded(first) ? mac(keyOf(first)) : ofBody, ...before.map((secret) => mac(keyOf(secret)))]
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

/** Headers as a platform has them: `Headers` of fetch, or a record whose names are in lower case, as in Node. */
export type ReceivedHeaders =
  | { readonly get: (name: string) => string | null }
  | Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The callback may not be acted on: who sent it is not proved. */
export class InvalidSignature extends Schema.TaggedError<InvalidSignature>()("InvalidSignature", {
  /** The header that is wrong. */
  header: Schema.String,
  /** The rule that it breaks. */
  rule: Schema.String
}) {
  override get message() {
    return `${this.header} ${this.rule}`
  }
}

/** How far from the receiver's clock the time of an attempt may be, in seconds. */
export const toleranceSeconds = 300

const headerOf = (headers: ReceivedHeaders, name: string): Result.Result<string, InvalidSignature> => {
  const value =
    typeof headers.get === "function"
      ? headers.get(name)
      : (headers as Readonly<Record<string, string | ReadonlyArray<string> | undefined>>)[name]
  return typeof value === "string"
    ? Result.succeed(value)
    : Result.fail(new InvalidSignature({ header: name, rule: "must be there, once" }))
}

/** Takes the same time wherever the bytes differ. */
const equals = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!
  return difference === 0
}

/** Whether any of the secrets gives any of the digests. A secret without bytes proves nothing: anybody knows it. */
const isSigned = (keys: ReadonlyArray<Uint8Array>, signed: Uint8Array, digests: ReadonlyArray<Uint8Array>): boolean => {
  let found = false
  for (const key of keys) {
    if (key.length === 0) continue
    const expected = hmac(sha256, key, signed)
    for (const digest of digests) found = equals(digest, expected) || found
  }
  return found
}

/** A body that something has parsed is no longer the one that was signed. */
const bytesOf = (header: string, body: Uint8Array | string): Result.Result<Uint8Array, InvalidSignature> => {
  if (typeof body === "string") return Result.succeed(utf8ToBytes(body))
  return body instanceof Uint8Array
    ? Result.succeed(body)
    : Result.fail(
        new InvalidSignature({ header, rule: "is of the body as it was received: give its bytes or its text" })
      )
}

const decoded = (decode: (text: string) => Uint8Array, texts: ReadonlyArray<string>): ReadonlyArray<Uint8Array> =>
  texts.flatMap((text) =>
    Result.match(
      Result.try(() => decode(text)),
      { onSuccess: (bytes) => [bytes], onFailure: () => [] }
    )
  )

/** The key and time that {@link verify} has proved. */
export interface Verified {
  /** The callback's idempotency key. */
  readonly id: string
  /** Of the attempt, in seconds since the Unix epoch. */
  readonly timestamp: number
}

/**
 * Verifies a callback as it was received, by the headers of Standard Webhooks: `body` is the raw body, before anything
 * parses it; `secrets` are the subscription's secret and, while a rotation lasts, the one before; `now` is the receiver's
 * clock, in seconds since the Unix epoch. An attempt that is more than {@link toleranceSeconds} from `now` is refused, so
 * that what somebody has seen once cannot be sent again later. `x-signature`, which covers no time, is not asked: see
 * {@link verifyBody}. Compares in constant time.
 *
 * @example
 * ```ts
 * import * as Signature from "@headwater/core/events/Signature"
 * import * as Result from "effect/Result"
 *
 * const headers = Signature.headers({ secrets: ["new", "old"], id: "4b6f", timestamp: 1764158400, body: "{}" })
 * Result.isSuccess(Signature.verify(headers, "{}", ["old"], 1764158410)) // => true
 * Result.isSuccess(Signature.verify(headers, "{} ", ["old"], 1764158410)) // => false
 * Result.isSuccess(Signature.verify(headers, "{}", ["old"], 1764159000)) // => false
 * ```
 */
export const verify = (
  headers: ReceivedHeaders,
  body: Uint8Array | string,
  secrets: ReadonlyArray<string>,
  now: number
): Result.Result<Verified, InvalidSignature> =>
  Result.gen(function* () {
    const id = yield* headerOf(headers, "webhook-id")
    const time = yield* headerOf(headers, "webhook-timestamp")
    const signatures = yield* headerOf(headers, "webhook-signature")
    const fail = (header: string, rule: string) => Result.fail(new InvalidSignature({ header, rule }))
    if (!/^\d{1,15}$/.test(time)) return yield* fail("webhook-timestamp", "must be whole seconds since the Unix epoch")
    const timestamp = Number(time)
    if (!(Math.abs(now - timestamp) <= toleranceSeconds)) {
      return yield* fail("webhook-timestamp", `must be at most ${toleranceSeconds} seconds from the receiver's clock`)
    }
    const given = signatures.split(" ").flatMap((signature) => (signature.startsWith("v1,") ? signature.slice(3) : []))
    const signed = concatBytes(utf8ToBytes(`${id}.${time}.`), yield* bytesOf("webhook-signature", body))
    if (!isSigned(secrets.map(keyOf), signed, decoded(base64.decode, given))) {
      return yield* fail("webhook-signature", "must hold a signature of the body by the secret")
    }
    return { id, timestamp }
  })

/**
 * As {@link verify}, by `x-signature` alone, for receivers that have nothing else: that signature covers no time, so that
 * a body that was seen once can be sent again at any time. Remember idempotency keys.
 *
 * @example
 * ```ts
 * import * as Signature from "@headwater/core/events/Signature"
 * import * as Result from "effect/Result"
 *
 * const headers = { "x-signature": "c424c6f590d0d71e73c149cf3babaacf68709276ebdf98c4426975d5e07f9397" }
 * Result.isSuccess(Signature.verifyBody(headers, "{}", ["a secret"])) // => true
 * ```
 */
export const verifyBody = (
  headers: ReceivedHeaders,
  body: Uint8Array | string,
  secrets: ReadonlyArray<string>
): Result.Result<void, InvalidSignature> =>
  Result.gen(function* () {
    const signature = yield* headerOf(headers, "x-signature")
    if (isSigned(secrets.map(utf8ToBytes), yield* bytesOf("x-signature", body), decoded(hexToBytes, [signature])))
      return
    const rule = "must be a signature of the body by the secret"
    return yield* Result.fail(new InvalidSignature({ header: "x-signature", rule }))
  })
