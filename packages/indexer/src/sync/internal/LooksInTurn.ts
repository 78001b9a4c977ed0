/** Looks at nodes for what the store says is to be looked for, some at a time, until there is no more or nobody can be asked. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NodeError } from "../../families/node/NodeError.ts"
import type { DatabaseError } from "../../store/database/Database.ts"

/** What is read from the store, and what nodes are asked about, at a time. */
const atOnce = 50
const concurrency = 8

type Failure = DatabaseError | NodeError

/** Of a look, whether it goes on at the next step. */
type Look = Exit.Exit<boolean, Failure>

/** Whether no node, or not the store, could be asked: neither can they about others. */
const isAway = (look: Look): boolean => {
  const error = Exit.findErrorOption(look)
  return Option.isSome(error) && (error.value._tag === "NodeUnreachable" || error.value._tag === "DatabaseError")
}

const stays = (look: Look): boolean => Exit.isFailure(look) || look.value

/** Looks for each by itself, some at a time. */
export const each = <A, B, R>(some: ReadonlyArray<A>, look: (one: A) => Effect.Effect<B, Failure, R>) =>
  Effect.forEach(some, (one) => Effect.exit(look(one)), { concurrency })

/**
 * `toLookFor` reads at most `limit` of those behind `last`, from the first one on where there is none; `lookAt` moves what it has
 * looked for behind all others, or says that it stays where it is. What comes meanwhile is so looked for before what has been
 * already. What cannot be told of one holds up no other one: the first failure is the result, once all were looked for.
 */
export const run = Effect.fnUntraced(function* <A, R, S>(
  toLookFor: (limit: number, last: A | undefined) => Effect.Effect<ReadonlyArray<A>, DatabaseError, R>,
  lookAt: (some: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<Look>, never, S>
) {
  let last: A | undefined
  let failed: Cause.Cause<Failure> | undefined
  while (true) {
    const some = yield* toLookFor(atOnce, last)
    if (some.length === 0) break
    const looks = yield* lookAt(some)
    failed ??= looks.find(Exit.isFailure)?.cause
    last = some.findLast((_, i) => stays(looks[i]!)) ?? last
    if (some.length < atOnce || looks.every(isAway)) break
  }
  return failed
})
