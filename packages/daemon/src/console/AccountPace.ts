/** How much accounts may ask of the console: requests there cost no credits, and no account is to take it from others. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Access from "./Access.ts"
import { refused } from "./ConsoleReply.ts"

/** Requests of one account in a minute: an open page asks some dozens. */
export const most = 600
/** Searches and stories among them, each of which may read many rows: an open story asks some dozen times. */
export const mostSearches = 120
const minuteMillis = 60_000

/** Counts a request of an account; the seconds to wait where there were more than `limit` in the minute. */
export const make = (limit = most) => {
  let minute = 0
  let counts = new Map<number, number>()
  return Effect.fnUntraced(function* (account: number) {
    const now = yield* Clock.currentTimeMillis
    const present = Math.floor(now / minuteMillis)
    if (present !== minute) {
      minute = present
      counts = new Map()
    }
    const count = (counts.get(account) ?? 0) + 1
    counts.set(account, count)
    return count <= limit ? undefined : Math.ceil(((present + 1) * minuteMillis - now) / 1_000)
  })
}

/** The answer to an account that has asked too often. */
export const tooMany = (what: "logins" | "requests" | "searches", wait: number) =>
  refused(429, `Too many ${what} of the account: try again in ${wait} s`, { "retry-after": `${wait}` })

/** Answers searches and stories within their pace; operators have none. */
export const makeSearches = () => {
  const paced = make(mostSearches)
  return <E>(handle: Access.Route<E>["handle"]): Access.Route<E>["handle"] =>
    Effect.fnUntraced(function* (request, visitor) {
      const wait = visitor.account === undefined ? undefined : yield* paced(visitor.account.id)
      return wait === undefined ? yield* handle(request, visitor) : tooMany("searches", wait)
    })
}

export type Searches = ReturnType<typeof makeSearches>
