/** The pause that an answer asks for. */

/** What dates of HTTP begin with, in each of their forms; `Date.parse` alone takes `-5` and `1.5` for dates long past. */
const weekday = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/

/** What they end with: that of C's `asctime` names no zone, and means UTC, where `Date.parse` takes it for this machine's. */
const zone = /(?:[a-z]|[+-]\d{4})$/i

/** Seconds or a date (RFC 9110, section 10.2.3) in milliseconds from now. */
export const read = (header: string | Array<string> | undefined, now: number): number | undefined => {
  if (typeof header !== "string") return undefined
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const date = weekday.test(header) ? Date.parse(zone.test(header) ? header : `${header} GMT`) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(date - now, 0)
}
