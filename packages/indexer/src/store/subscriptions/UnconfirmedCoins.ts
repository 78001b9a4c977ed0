/**
 * The subscriptions of one chain to unconfirmed coins, and their callbacks. A callback's key names the subscription and
 * the transaction, so each transaction is told once, also across restarts.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import { eventsOfClass } from "@headwater/core/events/EventType"
import type { NetMovement } from "@headwater/core/events/Matcher"
import * as Watched from "@headwater/core/events/Watched"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Insertable, sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row, Tables } from "../database/Tables.ts"

/** What a waiting transaction moves for one address. */
export interface Seen extends Omit<NetMovement, "transaction"> {
  readonly transactionId: Uint8Array
  /** When a node first saw it, in seconds since the Unix epoch. */
  readonly firstSeen: number
}

export interface UnconfirmedCoins {
  /** Brings {@link has} up to date; whether there is any active subscription. */
  readonly refresh: Effect.Effect<boolean, DatabaseError>
  /** Whether somebody may want to know of an address. */
  readonly has: (address: AddressBytes) => boolean
  /**
   * Makes the callbacks of what was seen; how many there are, of which some may have been made before. Subscriptions
   * that were created later than `aheadMillis` after a transaction was first seen are not told of it.
   */
  readonly record: (seen: ReadonlyArray<Seen>, aheadMillis: number) => Effect.Effect<number, DatabaseError>
}

const events = [...eventsOfClass("coin", "mempool")]
// As literals, so that planners see that the partial index holds them all.
const isUnconfirmed = sql.join(
  events.map((event) => sql`event = ${sql.lit(event)}`),
  sql` or `
)
const wanting = sql`(${isUnconfirmed}) and active = 1`

export const open = Effect.fn("UnconfirmedCoins.open")(function* (chain: Chain.Chain) {
  const { insertMany, query, read, transaction } = yield* Database
  const row = Effect.map(Effect.provideService(ChainRow.present(chain), Database, yield* Database), (row) => row!)
  const { id } = yield* row
  const key = new Uint32Array(2)
  crypto.getRandomValues(key)
  const empty = () => Watched.make([key[0]!, key[1]!])
  let watched = empty()
  let revision = -1

  const refresh = Effect.gen(function* () {
    const [any] = yield* read(
      rows(sql<{ id: number }>`select id from subscription where chain = ${id} and ${wanting} limit 1`)
    )
    if (any === undefined) {
      watched = empty()
      revision = -1
      return false
    }
    const present = (yield* row).revision
    if (present === revision) return true
    const added = yield* read(
      rows(sql<Pick<Row<"subscription">, "address">>`
        select address from subscription where chain = ${id} and revision > ${revision} and ${wanting}`)
    )
    for (const { address } of added) watched.add(address!)
    revision = present
    return true
  })

  type Subscriber = Pick<Row<"subscription">, "id" | "reference_id" | "host" | "event" | "address" | "created">

  const subscribers = Effect.fnUntraced(function* (addresses: ReadonlyArray<Uint8Array>) {
    const found: ReadonlyArray<Subscriber> = yield* inChunks(addresses, (some) =>
      query((db) =>
        db
          .selectFrom("subscription")
          .select(["id", "reference_id", "host", "event", "address", "created"])
          .where("chain", "=", id)
          .where("address", "in", some)
          .where("active", "=", 1)
          .where("event", "in", events)
          .orderBy("id")
      )
    )
    return Map.groupBy(found, ({ address }) => Buffer.from(address!).toString("hex"))
  })

  const record: UnconfirmedCoins["record"] = Effect.fn("UnconfirmedCoins.record")(function* (seen, aheadMillis) {
    if (seen.length === 0) return 0
    const now = yield* Clock.currentTimeMillis
    const addresses = new Map(seen.map(({ address }) => [Buffer.from(address).toString("hex"), address]))
    return yield* transaction(
      Effect.gen(function* () {
        // The chain's lock orders this with changes of subscriptions: none is told that is being removed.
        yield* ChainRow.lock(id)
        const byAddress = yield* subscribers([...addresses.values()])
        for (const [hex, address] of addresses) if (!byAddress.has(hex)) watched.remove(address)
        const callbacks = seen.flatMap((movement) =>
          (byAddress.get(Buffer.from(movement.address).toString("hex")) ?? []).flatMap(
            (subscriber): ReadonlyArray<Insertable<Tables["callback"]>> => {
              if (movement.firstSeen * 1000 + aheadMillis < subscriber.created * 1000) return []
              const { event, reference_id: referenceId } = subscriber
              const transactionId = Buffer.from(movement.transactionId).toString("hex")
              const idempotencyKey = Callback.idempotencyKey({
                ...{ referenceId, event, blockHash: undefined, confirmation: 0 },
                occurrence: `coin:${transactionId}`
              })
              const item = Callback.unconfirmedCoinItem(chain, movement.firstSeen, movement)
              return [
                {
                  subscription: subscriber.id,
                  host: subscriber.host,
                  chain: id,
                  height: null,
                  idempotency_key: idempotencyKey,
                  event,
                  body: Callback.body({ referenceId, idempotencyKey, event, item }),
                  state: "due",
                  due: now,
                  created: now
                }
              ]
            }
          )
        )
        yield* insertMany("callback", callbacks, "on conflict (idempotency_key) do nothing")
        return callbacks.length
      })
    )
  })

  return { refresh, has: (address) => watched.has(address), record } satisfies UnconfirmedCoins
})
