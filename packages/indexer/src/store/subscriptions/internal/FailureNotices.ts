/**
 * Notices that a subscription has failed half of its retries, once for each failure: an entry of its feed and its account's,
 * which is not sent, since who receives it fails; and a warning for the operator.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import type { Outcome } from "../Lease.ts"

type Found = Pick<Row<"subscription">, "id" | "reference_id" | "account" | "host" | "chain" | "event"> &
  Pick<Row<"failing_subscription">, "since" | "error"> & { readonly name: string }

/** In the transaction of the outcomes, behind the record of the failures. */
export const enter = Effect.fnUntraced(function* (outcomes: ReadonlyArray<Outcome>) {
  const due = new Map(
    outcomes.flatMap((outcome) =>
      outcome.kind === "retry" && outcome.retriesLeft !== undefined
        ? [[outcome.callback.subscription, outcome.retriesLeft] as const]
        : []
    )
  )
  if (due.size === 0) return
  const { numbers, query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const told = yield* query(
    rows(sql<{ subscription: number }>`
      update failing_subscription set noticed = ${now}
      where subscription in ${numbers([...due.keys()])} and noticed is null returning subscription`)
  )
  const found = yield* query(
    rows(sql<Found>`
      select s.id, s.reference_id, s.account, s.host, s.chain, s.event, chain.name, failing.since, failing.error
      from subscription s
      join chain on chain.id = s.chain
      join failing_subscription failing on failing.subscription = s.id
      where s.active = 1 and s.id in ${numbers(told.map(({ subscription }) => subscription))}`)
  )
  for (const row of found) {
    const chain = Chain.ofName(row.name)
    if (chain === undefined) continue
    const { error, host, id, since } = row
    const retriesLeft = due.get(id)!
    yield* Effect.logWarning(
      `A subscription to ${host} has failed since ${new Date(since).toISOString()} (${error}), and is deactivated unless one of ` +
        `${retriesLeft} more attempts is accepted`
    ).pipe(Effect.annotateLogs("subscription", row.reference_id))
    yield* CallbackState.enter("noticed", [
      CallbackState.make({
        ...{ subscriber: row, active: true, chain: row.chain, event: Callback.failingEvent, height: null, now },
        key: { blockHash: undefined, occurrence: `failing:${since}`, confirmation: 0 },
        item: Callback.failingItem(chain, { failingSince: since, error, retriesLeft })
      })
    ])
  }
})
