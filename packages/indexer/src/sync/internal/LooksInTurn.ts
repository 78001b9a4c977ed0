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
import type { Place, Queue } from "../../store/database/DueAccounts.ts"

/** What is read from the store, and what nodes are asked about, at a time. */
const atOnce = 50
const concurrency = 8

/** Looks that have not begun so long after the first ones of those read with them, in milliseconds, give way to other accounts. */
const longestTurn = 100

/** Which accounts have any is read again after so many times what that took, and not within a turn: thousands take a while. */
const restOfReading = 10

type Failure = DatabaseError | NodeError

/** Of a look, whether it goes on at the next step; undefined where it has not begun. */
type Look = Exit.Exit<boolean, Failure> | undefined

/** Whether no node, or not the store, could be asked: neither can they about others. */
const isAway = (look: Exit.Exit<boolean, Failure>): boolean => {
  const error = Exit.findErrorOption(look)
  return Option.isSome(error) && (error.value._tag === "NodeUnreachable" || error.value._tag === "DatabaseError")
}

/** Looks for each by itself, some at a time; undefined for those that time is not enough for, which are the last ones. */
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
  { accounts, behind, placeOf }: Queue<A>,
  lookAt: (some: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<Look>, never, S>
): Effect.fn.Return<Cause.Cause<Failure> | undefined, DatabaseError, Database | S> {
  let failed: Cause.Cause<Failure> | undefined
  /** Of each account, where the last one is that stays. */
  const lasts = new Map<number, Place>()
  /** The accounts in turn, the next one first. */
  const turns = new Set<number>()
  let readAgain = Number.NEGATIVE_INFINITY
  let hasLooked = true
  /** Looks one after another that found nobody to ask. */
  let away = 0
  while (away < atOnce) {
    const now = yield* SteadyTime.millis
    if (turns.size === 0 || (hasLooked && now >= readAgain)) {
      // Of all that were read, none has anything more.
      if (!hasLooked) break
      for (const account of yield* accounts) turns.add(account)
      const done = yield* SteadyTime.millis
      readAgain = done + Math.max(longestTurn, restOfReading * (done - now))
      hasLooked = false
      if (turns.size === 0) break
    }
    const next = [...turns].slice(0, atOnce)
    const places = next.map((account) => lasts.get(account) ?? { account, next: -1, id: -1 })
    const read = yield* behind(places, Math.floor(atOnce / next.length))
    const found = Map.groupBy(read, (one) => placeOf(one).account)
    for (const account of next) if (!found.has(account)) turns.delete(account)
    // Others take the part of those that have nothing more.
    if (found.size < next.length) continue
    const some = alternately([...found.values()])
    hasLooked = true
    const looks = yield* lookAt(some)
    for (const [i, one] of some.entries()) {
      const look = looks[i]
      if (look === undefined) break
      const place = placeOf(one)
      if (Exit.isFailure(look)) failed ??= look.cause
      if (Exit.isFailure(look) || look.value) lasts.set(place.account, place)
      away = isAway(look) ? away + 1 : 0
      turns.delete(place.account)
      turns.add(place.account)
    }
  }
  return failed
})
