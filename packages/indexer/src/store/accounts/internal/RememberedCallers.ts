/** The callers of valid keys, remembered for a moment, so that a burst of requests does not read the store each time. */

/** The account that calls, and what its key may call. */
export interface Caller {
  readonly account: number
  /** Operations as `group.endpoint`, or all of a group as `group.*`; undefined for all. */
  readonly endpoints: ReadonlySet<string> | undefined
  /** Whether the key may call only what changes nothing. */
  readonly readOnly: boolean
}

/**
 * How long a valid key is remembered, in milliseconds. For as long a key may still be used that another process has
 * revoked.
 */
const recentMillis = 250
const maxRecent = 10_000

/** The present by both clocks: `steady` is never put back, which would remember a revoked key for as long. */
export interface Moment {
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly steady: number
}

export interface RememberedCallers {
  /** The caller of the key with this hash, in hexadecimal digits; undefined where the key was not found valid of late. */
  readonly find: (hash: string, moment: Moment) => Caller | undefined
  /** `expires`: when the key ends, in milliseconds since the Unix epoch. */
  readonly add: (hash: string, caller: Caller, moment: Moment, expires: number) => void
  readonly clear: () => void
}

export const make = (): RememberedCallers => {
  const recent = new Map<string, { readonly caller: Caller; readonly until: number; readonly expires: number }>()
  return {
    find: (hash, { now, steady }) => {
      const known = recent.get(hash)
      return known !== undefined && known.until > steady && known.expires > now ? known.caller : undefined
    },
    add: (hash, caller, { steady }, expires) => {
      if (recent.size >= maxRecent) recent.clear()
      recent.set(hash, { caller, until: steady + recentMillis, expires })
    },
    clear: () => recent.clear()
  }
}
