/**
 * How many leases may be in flight, as far as is known that descriptors and memory suffice for: a lack halves them, and a
 * while without one doubles them again, up to what the settings allow.
 */

export interface LeaseCeiling {
  readonly leases: () => number
  /** Notes a lack, with so many leases in flight. */
  readonly lower: (inFlight: number, now: number) => void
  readonly raise: (now: number) => void
}

/** Leases in flight that a lack leaves at least, and how long until there may be twice as many. */
const [leastCeiling, regainMillis] = [4, 60_000]

/** `lackMillis`: what fails together within that time is one lack. */
export const make = (most: number, lackMillis: number): LeaseCeiling => {
  let ceiling = most
  let changed = -Infinity
  /** The time since the last change; a clock that was put back meanwhile holds up none of the next ones. */
  const age = (now: number) => Math.abs(now - changed)
  const change = (to: number, now: number) => {
    ceiling = to
    changed = now
  }
  return {
    leases: () => ceiling,
    lower: (inFlight, now) => {
      if (age(now) >= lackMillis) change(Math.max(Math.floor(Math.min(ceiling, inFlight) / 2), leastCeiling), now)
    },
    raise: (now) => {
      if (ceiling < most && age(now) >= regainMillis) change(Math.min(2 * ceiling, most), now)
    }
  }
}
