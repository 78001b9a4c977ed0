/** The active subscriptions of one chain that a block may concern. */
import type { AddressBytes } from "@headwater/core/address/Address"
import { eventsOfClass } from "@headwater/core/events/EventType"
import type { Candidates } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import type { Kysely } from "kysely"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { Row, Tables } from "../database/Tables.ts"
import type { Subscriber } from "./PendingConfirmations.ts"

const blockEvents = [...eventsOfClass("block")]

const columns = ["id", "reference_id", "host", "event", "confirmations", "address"] as const

const toSubscriber = (row: Pick<Row<"subscription">, (typeof columns)[number]>): Subscriber => ({
  ...row,
  address: (row.address ?? undefined) as AddressBytes | undefined
})

/** A lookup in the subscriptions of the chain that has this number in the store, in a transaction that has its lock. */
export const make = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const active = (db: Kysely<Tables>) =>
    db.selectFrom("subscription").select(columns).where("chain", "=", chain).where("active", "=", 1).orderBy("id")
  /** The subscriptions to blocks, which change with the chain's revision alone. */
  let toBlocks: { readonly revision: number; readonly subscribers: ReadonlyArray<Subscriber> } | undefined

  const blockMined = Effect.fnUntraced(function* (revision: number) {
    if (toBlocks?.revision !== revision) {
      const rows = yield* query((db) => active(db).where("event", "in", blockEvents).where("address", "is", null))
      toBlocks = { revision, subscribers: rows.map(toSubscriber) }
    }
    return toBlocks.subscribers
  })

  /** Those for every block, and those for one of the addresses that are seen, at the revision that the lock has shown. */
  return Effect.fnUntraced(function* (revision: number, seen: ReadonlyMap<string, AddressBytes>) {
    const rows = yield* inChunks([...seen.values()], (some) => query((db) => active(db).where("address", "in", some)))
    // The matcher's key of an address is its hex.
    const byAddress = Map.groupBy(rows.map(toSubscriber), ({ address }) => Buffer.from(address!).toString("hex"))
    return { blockMined: yield* blockMined(revision), byAddress } satisfies Omit<Candidates<Subscriber>, "metadata">
  })
})
