/** A store that cannot be reached for a while: one's own server, which is asked often, and of which another part of the log tells. */
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { DatabaseError } from "../../store/database/DatabaseError.ts"

/** The longest wait between two questions to a store that is away. */
export const longestWaitMillis = 2_000

const schedule = Schedule.min([Schedule.exponential("500 millis"), Schedule.spaced(longestWaitMillis)])

/** Whether an error is of a store that is away, and may come back by itself. */
export const isStoreAway = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError && error.unavailable

/** Tries again while the store is away. */
export const whileStoreAway = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(self, { schedule, while: isStoreAway })
