/** Counts the calls of a chain's node that a request takes, which a stranger's wallet could make endless. */
import { LimitReached } from "@headwater/indexer/store/accounts/Limits"
import * as Effect from "effect/Effect"
import { Conflict } from "../contract/Errors.ts"

/** Takes calls from what a request has; fails where more would be needed than a request may take. */
export type NodeCalls = (calls: number) => Effect.Effect<void, Conflict>

/** The refusal of a request whose `subject` would need more calls. */
export const exceeded = (maximum: number, subject: string): Conflict =>
  new Conflict({ message: `${new LimitReached({ limit: "nodeCalls", maximum }).message}: ${subject} needs more` })

/** For one request; `subject` is what cannot be answered without more calls. */
export const make = (maximum: number, subject: string): NodeCalls => {
  let left = maximum
  return (calls) =>
    Effect.suspend(() => {
      left -= calls
      return left >= 0 ? Effect.void : Effect.fail(exceeded(maximum, subject))
    })
}
