/** The headers that a callback is posted with, its signatures among them. */
import * as Signature from "@headwater/core/events/Signature"
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import * as Arr from "effect/Array"
import * as HmacSha256 from "./HmacSha256.ts"

/** Those of each callback of the lease, posted at `now`, in milliseconds since the Unix epoch. */
export const ofLease = ({ secrets }: Lease) => {
  const sign = Arr.isReadonlyArrayNonEmpty(secrets) ? Signature.signer(secrets, HmacSha256.ofKey) : undefined
  return ({ body, idempotencyKey: id, sequence }: OutboxMessage, now: number): Record<string, string> => ({
    "content-type": "application/json",
    "user-agent": "Headwater",
    "x-callback-sequence": String(sequence),
    ...sign?.({ id, timestamp: Math.floor(now / 1000), body })
  })
}
