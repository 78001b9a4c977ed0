/** Counts the calls of a chain's node that a request takes, which a stranger's wallet could make endless. */
import { LimitReached } from "@headwater/indexer/store/accounts/Limits"
import * as Effect from "effect/Effect"
import { Conflict } from "../contract/Errors.ts"

/** Takes calls from what a request has; fails where more would be needed than a request may take. */
export type NodeCalls = (calls: number) => Effect.Effect<void, Conflict>

/** For one request; `subject` is what cannot be answered without more calls. */
export const make = (maximum: number, subject: string): NodeCalls => {
  let left = maximum
  return (calls) =>
    Effect.suspend(() => {
      left -= calls
      if (left >= 0) return Effect.void
      const { message } = new LimitReached({ limit: "nodeCalls", maximum })
      return Effect.fail(new Conflict({ message: `${message}: ${subject} needs more` }))
    })
}
