/** The names of what happens to the addresses of lists. */
import type { Subscriber } from "./PendingConfirmations.ts"

/**
 * The name that an occurrence has for a subscription. What tells one from every other at the same address does not do so
 * for a list: one transaction may pay two of its addresses alike.
 */
export const nameFor = ({ address, isListed }: Subscriber, occurrence: string): string => {
  if (isListed !== true || address === undefined) return occurrence
  const direction = occurrence.lastIndexOf(":")
  return `${occurrence.slice(0, direction)}:${Buffer.from(address).toString("hex")}${occurrence.slice(direction)}`
}
