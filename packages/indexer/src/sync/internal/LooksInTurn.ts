/**
 * Looks at nodes for what the store says is to be looked for, some at a time, until there is no more or nobody can be asked: one
 * of each account after another, however many each of them has.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { NodeError } from "../../families/node/NodeError.ts"
import * as SteadyTime from "../../SteadyTime.ts"
import type { Database, DatabaseError } from "../../store/database/Database.ts"
import type { Queue } from "../../store/database/DueAccounts.ts"

/** What is read from the store, and what nodes are asked about, at a time. */
const atOnce = 50
const concurrency = 8

/** Looks that have not begun so long after the first ones of those read with them, in milliseconds, give way to other accounts. */
const longestTurn = 100

type Failure = DatabaseError | NodeError

/** Of a look, whether it goes on at the next step; undefined where it has not begun. */
type Look = Exit.Exit<boolean, Failure> | undefined

/** Whether no node, or not the store, could be asked: neither can they about others. */
const isAway = (look: Look): boolean => {
  const error = look === undefined ? Option.none() : Exit.findErrorOption(look)
  return Option.isSome(error) && (error.value._tag === "NodeUnreachable" || error.value._tag === "DatabaseError")
}

const stays = (look: Look): boolean => look !== undefined && (Exit.isFailure(look) || look.value)

/** Looks for each by itself, some at a time; undefined for those that time is not enough for. */
export const each = <A, B, R>(some: ReadonlyArray<A>, look: (one: A) => Effect.Effect<B, Failure, R>) =>
  Effect.flatMap(SteadyTime.millis, (begun) =>
    Effect.forEach(
      some,
      (one, i) =>
        Effect.flatMap(SteadyTime.millis, (now) =>
          i < concurrency || now - begun < longestTurn ? Effect.exit(look(one)) : Effect.undefined
        ),
      { concurrency }
    )
  )

/** The first one of each, then the second one of each, and so on. */
const alternately = <A>(each: ReadonlyArray<ReadonlyArray<A>>): ReadonlyArray<A> =>
  Array.from({ length: Math.max(0, ...each.map(({ length }) => length)) }, (_, i) =>
    each.flatMap((own) => own.slice(i, i + 1))
  ).flat()

/**
 * `lookAt` moves what it has looked for behind all others of its account, or says that it stays where it is. What comes meanwhile
 * is so looked for before what has been already. What cannot be told of one holds up no other one: the first failure is the
 * result, once all were looked for.
 */
export const run = Effect.fnUntraced(function* <A, S>(
  queue: Queue<A>,
  lookAt: (some: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<Look>, never, S>
): Effect.fn.Return<Cause.Cause<Failure> | undefined, DatabaseError, Database | S> {
  /** Of each account, the last one that stays. */
  const lasts = new Map<number, A>()
  let failed: Cause.Cause<Failure> | undefined
  /** The account that had the last turn, and whether any has had one since the first of them. */
  let last = -1
  let hasLooked = false
  while (true) {
    const accounts = yield* queue.accounts(last, atOnce)
    const share = Math.ceil(atOnce / Math.max(1, accounts.length))
    const some = alternately(yield* Effect.forEach(accounts, (account) => queue.of(account, share, lasts.get(account))))
    const looks = some.length === 0 ? [] : yield* lookAt(some)
    failed ??= looks.find((look) => look !== undefined && Exit.isFailure(look))?.cause
    for (const [i, one] of some.entries()) if (stays(looks[i])) lasts.set(queue.accountOf(one), one)
    const begun = looks.filter((look) => look !== undefined)
    if (begun.length > 0 && begun.every(isAway)) break
    hasLooked ||= begun.length > 0
    if (begun.length > 0 && begun.length < accounts.length) last = queue.accountOf(some[begun.length - 1]!)
    else if (accounts.length === atOnce) last = accounts.at(-1)!
    else if (hasLooked) [last, hasLooked] = [-1, false]
    else break
  }
  return failed
})
