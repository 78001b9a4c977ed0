/** Accounts of which as many callbacks wait as may, as operators are told of them. */
import * as WaitingCallbacks from "@headwater/indexer/store/subscriptions/WaitingCallbacks"
import * as Effect from "effect/Effect"
import * as Settings from "./settings/Settings.ts"

/** Accounts that are named. */
const shown = 20

/** The names of some of them, and how many callbacks of each may wait. */
export const read = Effect.gen(function* () {
  const { waitingCallbacks } = (yield* Settings.Settings).limits
  return { waitingCallbacks, names: yield* WaitingCallbacks.fullAccounts(waitingCallbacks, shown) }
})
