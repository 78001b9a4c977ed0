/**
 * Retries whose time is further off than any pause could have put it: a clock that was ahead has set it, and was put right
 * since. They would wait until that time comes, while later callbacks of the same subscription go out at once.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import * as CallbackState from "../CallbackState.ts"
import { retried } from "./CallbackIndexes.ts"

/** Has them sent now; how many. `longest`: the longest pause after one attempt, after two, …, in milliseconds. */
export const hasten = Effect.fn("LateRetries.hasten")(function* (longest: ReadonlyArray<number>) {
  if (longest.length === 0) return 0
  const { transaction } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const cases = longest.map((millis, i) => `when ${i + 1} then ${millis}`).join(" ")
  const pause = sql.raw(`case attempts ${cases} else ${longest.at(-1)} end`)
  const which = sql`${retried} and due > ${now + Math.min(...longest)} and due - ${pause} > ${now}`
  let hastened = 0
  const step = CallbackState.applySome("hasten", which, SmallSteps.callbacksAtOnce, { due: now })
  yield* SmallSteps.whileMore(
    Effect.map(transaction(step), (some) => {
      hastened += some
      return some === SmallSteps.callbacksAtOnce
    })
  )
  return hastened
})
