/**
 * The blocks that an inactive subscription was not matched against, since too much is parked for the subscription already,
 * or for too long. When the subscription is activated, an entry of its feed names them.
 */
import * as Callback from "@headwater/core/events/Callback"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import * as ProvenTime from "../../chain/ProvenTime.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import { parked } from "./CallbackIndexes.ts"
import type { Bounds } from "./Expiry.ts"
import * as FeedPage from "./FeedPage.ts"

type Parking = Pick<Row<"subscription">, "id" | "chain">

const parking = (after: number, isFull: RawBuilder<unknown>) => sql<Parking & { readonly is_full: number }>`
  select id, chain, ${isFull} as is_full from subscription where parking = 1 and id > ${after} order by id limit ${SmallSteps.page}`

/** The next subscriptions that park, and whether a bound is reached. */
const parkingAfter = Effect.fnUntraced(function* (after: number, { parkedCount, parkedMillis }: Bounds) {
  const { read } = yield* Database
  if (parkedCount === 0) return yield* read(rows(parking(after, sql`1`)))
  const since = (yield* ProvenTime.now) - parkedMillis
  return yield* read(
    rows(
      parking(
        after,
        sql`case when inactive_since <= ${since} or exists (
          select 1 from callback where ${parked} and subscription = subscription.id limit 1 offset ${parkedCount - 1}
        ) then 1 else 0 end`
      )
    )
  )
})

/** Matches no later block against a subscription until that is activated. */
const end = Effect.fnUntraced(function* ({ chain, id }: Parking) {
  const { query } = yield* Database
  const { height, revision } = yield* ChainRow.lockAndBumpRevision(chain)
  const ended = yield* query((db) =>
    db
      .updateTable("subscription")
      .set({ parking: 0, gap_from: sql`coalesce(gap_from, ${sql.lit((height ?? -1) + 1)})`, revision })
      .where("id", "=", id)
      .where("parking", "=", 1)
      .returning("id")
  )
  return ended.length
})

/** Numbers everything that is parked, some at a time: an activation numbers the entry of the gap behind it. */
const numberParked = Effect.fnUntraced(function* ({ id }: Parking) {
  const { transaction } = yield* Database
  const some = FeedPage.giveNumbers(id, SmallSteps.callbacksAtOnce)
  yield* SmallSteps.whileMore(Effect.map(transaction(some), (numbered) => numbered === SmallSteps.callbacksAtOnce))
})

/** Ends the parking of inactive subscriptions that have reached a bound; of how many. */
export const begin = Effect.fn("Gaps.begin")(function* (bounds: Bounds) {
  const { transaction } = yield* Database
  let count = 0
  yield* SmallSteps.eachRow(
    (after) => parkingAfter(after, bounds),
    Effect.fnUntraced(function* (one) {
      if (one.is_full === 0) return
      count += yield* transaction(end(one))
      yield* numberParked(one)
    })
  )
  return count
})

/** Blocks above the fork have left the chain, and the ones in their place are matched against no subscription that parks no more. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .updateTable("subscription")
      .set({ gap_from: fork + 1 })
      .where("chain", "=", chain)
      .where("gap_from", ">", fork + 1)
  )
})

/**
 * Enters what a subscription has missed into its feed, behind everything that is parked, in the transaction that activates
 * the subscription, or that ends the activation of a list. A subscription that an older release has deactivated may have missed anything since its creation.
 */
export const enter = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  { height }: Pick<ChainRow.ChainRow, "height">,
  subscription: Row<"subscription">
) {
  const fromHeight = subscription.gap_from ?? (subscription.from_height ?? -1) + 1
  if (height === null || height < fromHeight) return
  const { id: subscriptionId, chain: id } = subscription
  const item = Callback.gapItem(chain, { fromHeight, toHeight: height })
  yield* CallbackState.enter("missed", [
    CallbackState.make({
      ...{
        subscriber: subscription,
        active: subscription.active === 1,
        chain: id,
        event: Callback.gapEvent,
        height: null,
        item
      },
      key: { blockHash: undefined, occurrence: `gap:${fromHeight}-${height}`, confirmation: 0 },
      now: yield* Clock.currentTimeMillis
    })
  ])
  yield* FeedPage.giveNumbers(subscriptionId, Number.MAX_SAFE_INTEGER)
})
