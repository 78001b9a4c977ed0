/**
 * Watched addresses of which a process knows that no subscription has them: those of wallets, and synced ones. Block after
 * block pays them, and which subscriptions there are changes with the chain's revision alone.
 */
import type { AddressBytes } from "@headwater/core/address/Address"

/** Addresses that are remembered at most, with some 100 bytes each. */
const mostKept = 100_000

export const make = () => {
  let reached: number | undefined
  const known = new Set<string>()
  return {
    /** The addresses, by their hex, that a subscription of the chain may have at this revision. */
    others: (revision: number, seen: ReadonlyMap<string, AddressBytes>): ReadonlyMap<string, AddressBytes> => {
      if (reached !== revision || known.size > mostKept) known.clear()
      reached = revision
      if (known.size === 0) return seen
      const others = new Map<string, AddressBytes>()
      for (const [hex, address] of seen) if (!known.has(hex)) others.set(hex, address)
      return others
    },
    /** Takes note that no subscription has these at the revision that {@link others} was last asked about. */
    add: (addresses: ReadonlyArray<string>): void => {
      for (const hex of addresses) known.add(hex)
    }
  }
}
