/** The states of receivers, by the failures that the store has of their subscriptions' last attempts. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"

/**
 * - `unverified`: the account has not verified the host, and nothing is sent
 * - `inactive`: the subscription is deactivated, or all of the host
 * - `paused`: several attempts, one after another, had no answer, and the host is left alone for a moment
 * - `failing`: the last attempt failed; of a host, that of any subscription
 * - `recovering`: the last attempt was accepted, and callbacks that were not are still to be sent again
 * - `healthy`: nothing of these
 */
export type State = "unverified" | "inactive" | "paused" | "failing" | "recovering" | "healthy"

/** The last attempt's failure: of a subscription, or of several of a host together. */
export interface Failing {
  /** Undefined both of a subscription that has not failed itself, and whose host is left alone. */
  readonly since: number | undefined
  readonly error: string | undefined
  readonly pausedUntil: number
}

export const stateOf = (of: {
  readonly verified: boolean
  readonly active: boolean
  readonly failing: Failing | undefined
  readonly retrying: number
  readonly now: number
}): State => {
  if (!of.verified) return "unverified"
  if (!of.active) return "inactive"
  if (of.failing !== undefined) return of.failing.pausedUntil > of.now ? "paused" : "failing"
  return of.retrying > 0 ? "recovering" : "healthy"
}

/** Of a failure: whether its subscription is active. */
export const isActive = sql`exists (select 1 from subscription s where s.id = failing_subscription.subscription and s.active = 1)`

/** The failures of an account's host together: since the earliest, for the reason of the last attempt. */
export const failuresOf = Effect.fnUntraced(function* (account: number, host: string) {
  const { read } = yield* Database
  const [found] = yield* read(
    rows(sql<Failing & { readonly count: number }>`
      select count(*) as count, min(since) as since, max(paused_until) as "pausedUntil",
        (select error from failing_subscription where account = ${account} and host = ${host} and ${isActive}
          order by last desc limit 1) as error
      from failing_subscription
      where account = ${account} and host = ${host}
        and ${isActive}`)
  )
  const count = Number(found!.count)
  return { count, failing: count === 0 ? undefined : found! }
})

/** The failure of a subscription, if any: a pause is of its host, whichever subscription of the account has failed. */
export const withPauseOf = (
  host: Failing | undefined,
  now: number,
  own: Pick<Row<"failing_subscription">, "since" | "error"> | undefined
): Failing | undefined => {
  const pausedUntil = host?.pausedUntil ?? 0
  if (own !== undefined) return { since: own.since, error: own.error, pausedUntil }
  return host !== undefined && pausedUntil > now ? { since: undefined, error: undefined, pausedUntil } : undefined
}
