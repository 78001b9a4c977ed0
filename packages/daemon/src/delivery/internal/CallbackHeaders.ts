/** The headers that a callback is posted with, its signatures among them. */
import { createHmac, createSecretKey } from "node:crypto"
import * as Signature from "@headwater/core/events/Signature"
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import * as Arr from "effect/Array"

const nodeMac: Signature.Mac = (bytes) => {
  const key = createSecretKey(bytes)
  return (text, encoding) => createHmac("sha256", key).update(text).digest(encoding)
}

/** Those of each callback of the lease, posted at `now`, in milliseconds since the Unix epoch. */
export const ofLease = ({ secrets }: Lease) => {
  const sign = Arr.isReadonlyArrayNonEmpty(secrets) ? Signature.signer(secrets, nodeMac) : undefined
  return ({ body, idempotencyKey: id, sequence }: OutboxMessage, now: number): Record<string, string> => ({
    "content-type": "application/json",
    "user-agent": "Headwater",
    "x-callback-sequence": String(sequence),
    ...sign?.({ id, timestamp: Math.floor(now / 1000), body })
  })
}
