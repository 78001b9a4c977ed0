/**
 * Whose turn it is to have callbacks written by steps: one account after another, whatever each of them has, and none while
 * as many of its callbacks wait as the limit allows. What has happened for such an account stays until they are fewer.
 */
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import * as SteadyTime from "../../../SteadyTime.ts"
import { Limits } from "../../accounts/Limits.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import * as WaitingCallbacks from "../WaitingCallbacks.ts"

/** How long it is taken for granted whether an account has reached the limit. */
const knownMillis = 1000

/** The least account behind a cursor that a statement finds. */
type Next = (cursor: number) => RawBuilder<{ readonly account: number | null }>

/** Accounts with matches of a chain that are left to steps. */
export const withMatches =
  (chain: number): Next =>
  (cursor) =>
    sql`select min(account) as account from fan_out where chain = ${chain} and account > ${cursor}`

/** Accounts with confirmations that have come by the tip, whatever the height at which each was due. */
export const withConfirmations =
  (chain: number, tip: number): Next =>
  (cursor) =>
    sql`
    with recursive height(due) as (
      select min(due_height) from waiting where chain = ${chain}
      union all
      select (select min(due_height) from waiting where chain = ${chain} and due_height > height.due)
      from height where due <= ${tip}
    )
    select min(account) as account from (
      select (
        select min(account) from waiting
        where chain = ${chain} and due_height = height.due and account > ${cursor}
      ) as account
      from height where due <= ${tip}
    ) first`

/** Accounts of which something is to be taken back that undone blocks told. */
export const withUndoneBlocks =
  (chain: number): Next =>
  (cursor) =>
    sql`select min(account) as account from undoing where chain = ${chain} and account > ${cursor}`

/** Accounts that are passed over for the next ones at one time, since something of them is to be taken back before. */
const mostPassed = 50

/** Some accounts whose turn it is, and up to which one was looked. */
const accountsAfter = Effect.fnUntraced(function* (
  accounts: Next,
  last: number,
  most: number,
  passedOver: ReadonlySet<number>,
  isFull: (account: number) => ReturnType<typeof WaitingCallbacks.isFull>
) {
  const { query } = yield* Database
  const found: Array<number> = []
  let hasWrapped = last < 0
  let passed = 0
  let cursor = last
  while (found.length < most && passed < mostPassed) {
    const [next] = yield* query(rows(accounts(cursor)))
    const account = next?.account ?? undefined
    if (account === undefined || (hasWrapped && last >= 0 && account > last)) {
      if (hasWrapped) break
      hasWrapped = true
      cursor = -1
      continue
    }
    cursor = account
    if (passedOver.has(account)) passed++
    else if (!(yield* isFull(account))) found.push(account)
    // All have been looked at.
    if (account === last) break
  }
  return { found, cursor }
})

const nobody: ReadonlySet<number> = new Set()

/** Remembers which accounts have reached the limit, for both kinds of turns. */
export const make = Effect.gen(function* () {
  const { waitingCallbacks } = yield* Limits
  /** Until when it is known of an account. */
  const known = new Map<number, { readonly isFull: boolean; readonly until: number }>()

  const isFull = Effect.fnUntraced(function* (account: number) {
    const now = yield* SteadyTime.millis
    const before = known.get(account)
    if (before !== undefined && before.until > now) return before.isFull
    const isFull = yield* WaitingCallbacks.isFull(account, waitingCallbacks)
    if (isFull && before?.isFull !== true) {
      yield* Effect.logWarning(
        `Account ${account} has ${waitingCallbacks} callbacks that wait: no more are written for busy addresses until they are fewer`
      )
    }
    for (const [one, { until }] of known) if (until <= now) known.delete(one)
    known.set(account, { isFull, until: now + knownMillis })
    return isFull
  })

  return {
    /** Accounts that have reached the limit, of those whose turn it was lately. */
    full: () => [...known.values()].filter(({ isFull }) => isFull).length,
    /** Turns of one kind. */
    turns: () => {
      let last = -1
      return {
        /** Some of the accounts, from the one after the last turn on, but those passed over. */
        next: Effect.fnUntraced(function* (accounts: Next, most: number, passedOver: ReadonlySet<number>) {
          const { cursor, found } = yield* accountsAfter(accounts, last, most, passedOver, isFull)
          // The next search goes on behind those that were passed over.
          if (found.length === 0 && passedOver.size > 0) last = cursor
          return found
        }),
        /** As `next`, of accounts that may have reached the limit. */
        nextOf: (accounts: Next, most: number) =>
          Effect.map(
            accountsAfter(accounts, last, most, nobody, () => Effect.succeed(false)),
            ({ found }) => found
          ),
        /** Notes that an account has had its turn. */
        took: (account: number) => {
          last = account
        }
      }
    }
  }
})
