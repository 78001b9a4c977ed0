/** Ids of subscriptions as clients send them. */
import { ResourceNotFound } from "../contract/Errors.ts"

/** Whether the text has the form of a subscription's id. Other text may hold characters that a database refuses. */
export const isReferenceId = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text)

export const subscriptionNotFound = new ResourceNotFound({
  message: "The account has no such subscription on this chain"
})
