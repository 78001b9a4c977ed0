/** When a callback that was not accepted is sent again, and when it is given up. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

export interface RetryProfile {
  /** Milliseconds before each retry. */
  readonly delays: ReadonlyArray<number>
  /** Each delay is varied by up to this part of it, so that retries do not come in crowds. */
  readonly jitter: number
}

const second = 1000
const minute = 60 * second
const hour = 60 * minute

/** 300 s × 2ⁿ, five times: what clients of the hosted service are used to. */
export const hosted: RetryProfile = {
  delays: [0, 1, 2, 3, 4].map((n) => 300 * second * 2 ** n),
  jitter: 0.2
}

/** The schedule that Standard Webhooks recommends, over three days. */
export const standardWebhooks: RetryProfile = {
  delays: [5 * second, 5 * minute, 30 * minute, ...[2, 5, 10, 14, 20, 24].map((hours) => hours * hour)],
  jitter: 0.2
}

/** Profiles by the names that the settings know. */
const profiles = { hosted, "standard-webhooks": standardWebhooks } as const

/** The profiles of this process; those of a simulation are shorter. */
export const Profiles = Context.Reference("@headwater/daemon/delivery/RetryProfile/Profiles", {
  defaultValue: (): Readonly<Record<keyof typeof profiles, RetryProfile>> => profiles
})

/** The longest pause that a receiver can ask for. */
const maxRetryAfter = hour

/** The longest pause after one failed attempt, after two, …, in milliseconds; after more than that the last one. */
export const longest = ({ delays, jitter }: RetryProfile): ReadonlyArray<number> =>
  delays.map((planned) => Math.max(Math.ceil(planned * (1 + jitter)), maxRetryAfter))

/**
 * Milliseconds until the next attempt after `attempts` failed ones, or undefined where there is none.
 *
 * `retryAfter`: the pause that the receiver asked for (RFC 9110, section 10.2.3). It gets it, up to an hour; and
 * since such a pause may be short, a receiver that asks for one has twice the number of retries before it is given up.
 */
export const delay = Effect.fnUntraced(function* (
  profile: RetryProfile,
  attempts: number,
  retryAfter: number | undefined
) {
  const { delays, jitter } = profile
  const planned = delays[attempts - 1]
  if (retryAfter === undefined && planned === undefined) return undefined
  if (retryAfter !== undefined && attempts > 2 * delays.length) return undefined
  const varied = (planned ?? delays.at(-1) ?? 0) * (1 + jitter * (2 * (yield* Random.next) - 1))
  if (retryAfter === undefined) return Math.round(varied)
  const asked = Math.min(Math.max(retryAfter, second), maxRetryAfter)
  return planned === undefined ? Math.max(asked, Math.round(varied)) : asked
})
