import * as Signature from "@headwater/core/events/Signature"
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { expect, it } from "vitest"
import * as CallbackHeaders from "../../src/delivery/internal/CallbackHeaders.ts"

const now = 1_764_158_400_000
const callback = { idempotencyKey: "4b6f", body: "{}", sequence: 7 } as OutboxMessage

it("signs by the secrets of the lease, whatever was signed before", () => {
  const headersOf = CallbackHeaders.make()
  // A rotation, its end, and secrets that put together are the same text.
  const leases: ReadonlyArray<ReadonlyArray<string>> = [["a", "b"], ["a"], ["b"], ["a,b"], ['a","b'], ["b", "a"]]
  for (const secrets of [...leases, ...leases.toReversed()]) {
    const { "x-callback-sequence": sequence, ...headers } = headersOf({ secrets } as unknown as Lease)(callback, now)
    expect(sequence).toBe("7")
    const [first, ...before] = secrets
    expect(headers).toMatchObject(
      Signature.headers({ secrets: [first!, ...before], id: "4b6f", timestamp: now / 1000, body: "{}" })
    )
  }
  expect(headersOf({ secrets: [] as ReadonlyArray<string> } as Lease)(callback, now)).not.toHaveProperty("x-signature")
})
