/** Looks at nodes for what the store says is to be looked for, some at a time, until there is no more or nobody can be asked. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NodeError } from "../../families/node/NodeError.ts"
import type { DatabaseError } from "../../store/database/Database.ts"

/** What is read from the store, and what nodes are asked about, at a time. */
const atOnce = 50
const concurrency = 4

/** Whether no node, or not the store, could be asked: neither can they about others. */
const isAway = (look: Exit.Exit<void, DatabaseError | NodeError>): boolean => {
  const error = Exit.findErrorOption(look)
  return Option.isSome(error) && (error.value._tag === "NodeUnreachable" || error.value._tag === "DatabaseError")
}

/**
 * `toLookFor` reads at most `limit` of those behind `last`, from the first one on where there is none. What cannot be told of one
 * holds up no other one: the first failure is the result, once all were looked for.
 */
export const run = Effect.fnUntraced(function* <A, R, S>(
  toLookFor: (limit: number, last: A | undefined) => Effect.Effect<ReadonlyArray<A>, DatabaseError, R>,
  look: (one: A) => Effect.Effect<void, DatabaseError | NodeError, S>
) {
  let last: A | undefined
  let failed: Cause.Cause<DatabaseError | NodeError> | undefined
  while (true) {
    const some = yield* toLookFor(atOnce, last)
    if (some.length === 0) break
    const looks = yield* Effect.forEach(some, (one) => Effect.exit(look(one)), { concurrency })
    failed ??= looks.find(Exit.isFailure)?.cause
    last = some.at(-1)
    if (some.length < atOnce || looks.every(isAway)) break
  }
  return failed
})
