/** Ids of subscriptions as clients send them. */
import { ResourceNotFound } from "../contract/Errors.ts"

/** Whether the text can be an id of ours: anything else may hold what a database refuses to compare. */
export const isReferenceId = (text: string): boolean => /^[0-9a-f-]{36}$/.test(text)

export const subscriptionNotFound = new ResourceNotFound({
  message: "The account has no such subscription on this chain"
})
