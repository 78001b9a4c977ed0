/** Ids of subscriptions as clients send them. */
import type { SubscriptionKey } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import { CurrentAccount } from "../contract/Authentication.ts"
import { ResourceNotFound } from "../contract/Errors.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"

/** Whether the text has the form of a subscription's id. Other text may hold characters that a database refuses. */
export const isReferenceId = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text)

export const subscriptionNotFound = new ResourceNotFound({
  message: "The account has no such subscription on this chain"
})

/** Failures of operations on one subscription, for `Effect.catchTags`. */
export const subscriptionFailures = { DatabaseError: Effect.die, SubscriptionNotFound: () => subscriptionNotFound }

/** The key of a subscription that the present request names, on its chain; fails for text that cannot be an id. */
export const subscriptionKey = Effect.fnUntraced(function* (referenceId: string) {
  const chain = yield* CurrentChain
  const { id: account } = yield* CurrentAccount
  if (!isReferenceId(referenceId)) return yield* subscriptionNotFound
  return { account, chain, referenceId } satisfies SubscriptionKey
})
