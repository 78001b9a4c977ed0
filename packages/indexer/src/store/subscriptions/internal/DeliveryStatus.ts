/** How the delivery of a subscription's callbacks stands. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import { dueOf, parked } from "./CallbackIndexes.ts"

export interface DeliveryStatus {
  /** The last block that was matched; undefined where there was none yet. */
  readonly evaluatedHeight: number | undefined
  /** Milliseconds since the Unix epoch, as all times here. */
  readonly lastMatch: number | undefined
  readonly lastDelivery: number | undefined
  /** The highest number given. */
  readonly lastSequence: number
  /** Callbacks whose first attempt is to come, and that are sent again. */
  readonly waiting: number
  readonly retrying: number
  /** Callbacks that are parked, because it is inactive or its host is unverified; and since when. */
  readonly parked: number
  readonly parkedSince: number | undefined
  /** The first block that it was not matched against, since it is inactive and as much is parked as may be. */
  readonly gapFrom: number | undefined
}

interface Found {
  readonly height: number | null
  readonly last_sequence: number
  readonly waiting: number
  readonly retrying: number
  readonly parked: number
  readonly parked_since: number | null
  readonly gap_from: number | null
  readonly numbered: number | null
  readonly unnumbered: number | null
  readonly delivered: number | null
}

export const read = Effect.fnUntraced(function* (subscription: Pick<Row<"subscription">, "id" | "host">) {
  const { read } = yield* Database
  const { id } = subscription
  const [unsent, retried] = dueOf(subscription)
  const [found] = yield* read(
    rows(sql<Found>`
      select
        (select height from chain where chain.id = subscription.chain) as height,
        last_sequence, gap_from,
        (select count(*) from callback where ${unsent}) as waiting,
        (select count(*) from callback where ${retried}) as retrying,
        (select count(*) from callback where ${parked} and subscription = ${id}) as parked,
        (select created from callback where ${parked} and subscription = ${id} order by id limit 1) as parked_since,
        (select created from every_callback where subscription = ${id} and sequence is not null
          order by sequence desc limit 1) as numbered,
        (select created from callback where subscription = ${id} and sequence is null
          order by id desc limit 1) as unnumbered,
        (select delivered from every_callback
          where subscription = ${id} and sequence is not null and state = 'delivered'
          order by sequence desc limit 1) as delivered
      from subscription where id = ${id}`)
  )
  return {
    evaluatedHeight: found?.height ?? undefined,
    lastMatch: found?.unnumbered ?? found?.numbered ?? undefined,
    lastDelivery: found?.delivered ?? undefined,
    lastSequence: found?.last_sequence ?? 0,
    waiting: found?.waiting ?? 0,
    retrying: found?.retrying ?? 0,
    parked: found?.parked ?? 0,
    parkedSince: found?.parked_since ?? undefined,
    gapFrom: found?.gap_from ?? undefined
  } satisfies DeliveryStatus
})
