/** The headers that a callback is posted with, its signatures among them. */
import * as Signature from "@headwater/core/events/Signature"
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import * as Arr from "effect/Array"
import * as HmacSha256 from "./HmacSha256.ts"

/** Signers that are kept: to make one costs more than to sign a callback, and many subscriptions have the same secret. */
const kept = 8_192

/** The function that makes the headers of each callback of a lease, posted at `now`, in milliseconds since the Unix epoch. */
export const make = () => {
  const signers = new Map<string, ReturnType<typeof Signature.signer>>()

  const signerOf = (secrets: Arr.NonEmptyReadonlyArray<string>) => {
    const key = JSON.stringify(secrets)
    const known = signers.get(key)
    if (known !== undefined) return known
    const made = Signature.signer(secrets, HmacSha256.ofKey)
    if (signers.size >= kept) signers.delete(signers.keys().next().value!)
    signers.set(key, made)
    return made
  }

  return ({ secrets }: Lease) => {
    const sign = Arr.isReadonlyArrayNonEmpty(secrets) ? signerOf(secrets) : undefined
    return ({ body, idempotencyKey: id, sequence }: OutboxMessage, now: number): Record<string, string> => ({
      "content-type": "application/json",
      "user-agent": "Headwater",
      "x-callback-sequence": String(sequence),
      ...sign?.({ id, timestamp: Math.floor(now / 1000), body })
    })
  }
}
