/** What happens to the addresses of lists, as their subscriptions are told. */
import type { Item } from "@headwater/core/events/Callback"
import { sql } from "kysely"
import type { Subscriber } from "./PendingConfirmations.ts"

/**
 * The name that an occurrence has for a subscription. What tells one from every other at the same address does not do so
 * for a list: one transaction may pay two of its addresses alike.
 */
export const nameFor = (
  { address, isListed }: Pick<Subscriber, "address" | "isListed">,
  occurrence: string
): string => {
  if (isListed !== true || address === undefined) return occurrence
  const direction = occurrence.lastIndexOf(":")
  return `${occurrence.slice(0, direction)}:${Buffer.from(address).toString("hex")}${occurrence.slice(direction)}`
}

/** Columns with the place of an address below its subscription's extended public key; null where there is none. */
const placeColumn = (column: "address_index" | "branch", of: string) =>
  `(select a.${column} from listed_address a
    where a.subscription = ${of}.id and a.address = ${of}.address and a.left_revision is null)`

/** The same of the rows of a view that is called `of`, in a statement. */
export const placeColumns = (of: string) =>
  [
    sql<number | null>`${sql.raw(placeColumn("branch", of))}`.as("branch"),
    sql<number | null>`${sql.raw(placeColumn("address_index", of))}`.as("address_index")
  ] as const

/** The same as text. */
export const placeText = (of: string) =>
  `${placeColumn("branch", of)} as branch, ${placeColumn("address_index", of)} as address_index`

/** The place of an address below an extended public key, as items say it. */
export const derivationOf = ({ branch, index }: NonNullable<Subscriber["place"]>) => ({
  type: branch === 1 ? ("change" as const) : ("receiving" as const),
  index
})

/** The name and the item that an occurrence has for a subscription: on an extended public key, the item says the place there. */
export const of = <I extends Item>(
  subscriber: Pick<Subscriber, "address" | "isListed" | "place">,
  occurrence: string,
  item: I
) => ({
  occurrence: nameFor(subscriber, occurrence),
  item: subscriber.place === undefined ? item : { ...item, derivation: derivationOf(subscriber.place) }
})
