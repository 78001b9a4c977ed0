/** What became of a callback, from the event that it tells to the receiver's answer, by what its rows keep. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import type { CallbackState } from "../../database/tables/CallbackTables.ts"
import * as SubscribedTo from "../../subscriptions/SubscribedTo.ts"
import * as CallbackSummary from "./CallbackSummary.ts"
import { inOrder, type Moment, moment } from "./Moment.ts"
import * as Parts from "./Parts.ts"
import * as Scope from "./Scope.ts"

/** Later callbacks of a subscription among which a retraction is looked for. */
const laterLimit = 20_000
/** Attempts that a callback keeps. */
const keptAttempts = 20

interface Found extends CallbackSummary.SummaryRow {
  readonly subscription: number
  readonly body: string
  readonly original: number | null
  readonly chain_name: string
  readonly subscribed: string
  readonly address: Uint8Array | null
  readonly callback_url: string
  readonly active: number
  readonly confirmations: number
  readonly deactivation_reasons: string
}

const more = sql`,
  c.subscription, c.body, c.original, (select name from chain where chain.id = c.chain) as chain_name,
  s.event as subscribed, s.address, s.callback_url, s.active, s.confirmations, s.deactivation_reasons`

/** What a body says of the block and the transaction, as far as it does. */
const toldBy = (body: string) => {
  // The store wrote it, and every event has an item.
  const { data } = JSON.parse(body) as {
    readonly data?: {
      readonly item?: {
        readonly transactionId?: string
        readonly minedInBlock?: { readonly height: number; readonly hash: string; readonly timestamp: number }
        readonly currentConfirmations?: number
        readonly targetConfirmations?: number
        readonly hash?: string
        readonly timestamp?: number
      }
    }
  }
  const item = data?.item
  return {
    transactionId: item?.transactionId ?? null,
    hash: item?.minedInBlock?.hash ?? item?.hash ?? null,
    time: item?.minedInBlock?.timestamp ?? item?.timestamp,
    confirmations: item?.currentConfirmations
  }
}

const outcomes: Readonly<Record<CallbackState, string>> = {
  due: "to be sent",
  held: "parked",
  delivered: "received",
  expired: "given up",
  orphaned: "not sent",
  retracted: "retracted"
}

const whyOf = ({ active, deactivation_reasons, state }: Found, attempts: number): string => {
  switch (state) {
    case "due":
      return attempts === 0
        ? "Its first attempt is to come"
        : "It is sent again, since the receiver has not accepted it"
    case "held":
      return active === 1
        ? "The account has not verified the host"
        : `The subscription is inactive: ${(JSON.parse(deactivation_reasons) as ReadonlyArray<{ readonly reason: string }>).at(-1)?.reason ?? "the reason is not kept"}`
    case "delivered":
      return "The receiver has accepted it"
    case "expired":
      return attempts === 0
        ? "It was not sent: it was parked for too long or among too many, or is an entry of the feed alone"
        : "It was parked for too long, or among too many"
    case "orphaned":
      return "Its block has left the chain before it was received, and the account wants no retractions"
    case "retracted":
      return "Its block has left the chain, and a retraction tells the receiver so"
  }
}

/** The retraction of a callback, among the later ones of its subscription. */
const retractionOf = Effect.fnUntraced(function* ({ id, sequence, state, subscription }: Found) {
  if (state !== "retracted") return undefined
  const { read } = yield* Database
  const [unnumbered] = yield* read(
    rows(sql<{ id: number }>`
      select id from callback where subscription = ${subscription} and sequence is null and original = ${id} limit 1`)
  )
  if (unnumbered !== undefined) return unnumbered.id
  const [numbered] = yield* read(
    rows(sql<{ id: number }>`
      select id from (
        select id, original from every_callback where subscription = ${subscription} and sequence > ${sequence ?? 0}
        order by sequence limit ${laterLimit}
      ) later where original = ${id} limit 1`)
  )
  return numbered?.id
})

const summaryOf = Effect.fnUntraced(function* (id: number | undefined) {
  if (id === undefined) return null
  const { read } = yield* Database
  const [row] = yield* read(rows(CallbackSummary.select(sql`${id}`)))
  return row === undefined ? null : CallbackSummary.of(row)
})

const copiesOf = Effect.fnUntraced(function* ({ created, sequence, subscription }: Found) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("callback_copy")
      .select(["callback_url", "after", "last", "since", "stopped", "error"])
      .where("subscription", "=", subscription)
      .limit(20)
  )
  return found
    .filter(({ last, since }) => sequence !== null && sequence <= last && created >= since)
    .map(({ after, callback_url, error, stopped }) => ({
      ...{ callbackUrl: callback_url, sent: sequence !== null && sequence <= after, stopped: stopped === 1, error }
    }))
})

const attemptMoment = ({ at, duration, error, status }: CallbackSummary.Attempt): Moment => {
  const answer = status === undefined ? `No answer within ${duration} ms` : `Answered ${status} in ${duration} ms`
  return error === undefined
    ? moment("good", at, "Sent, and accepted", answer)
    : moment("attempt", at, "Sent, and not accepted", `${answer}: ${error}`)
}

const enteredMoment = ({ confirmations, created, height }: Found, told: ReturnType<typeof toldBy>): Moment =>
  moment(
    "event",
    created,
    height === null ? "Entered" : "Matched, and entered as a callback",
    told.confirmations === undefined
      ? height === null || confirmations <= 1
        ? null
        : `After ${confirmations} confirmations`
      : `With ${told.confirmations} confirmations`
  )

/** The story of a callback by its key, with its subscription as far as that may be seen; undefined where there is none. */
export const read = Effect.fnUntraced(function* (key: string, scope: Scope.Scope, { subscriptions } = Parts.all) {
  const { read } = yield* Database
  const [row] = (yield* read(
    rows(
      sql`${CallbackSummary.select(sql`select id from every_callback where idempotency_key = ${key}`, more)} ${Scope.filter(scope, "s.account")}`
    )
  )) as unknown as ReadonlyArray<Found>
  if (row === undefined) return undefined
  const chain = Chain.ofName(row.chain_name)
  const told = toldBy(row.body)
  const attempts = CallbackSummary.attemptsOf(row)
  const retraction = yield* summaryOf(yield* retractionOf(row))
  const retracts = yield* summaryOf(row.original ?? undefined)
  const summary = CallbackSummary.of(row)
  return {
    subscription: {
      ...{ referenceId: row.reference_id, account: row.account_name, chain: row.chain_name, event: row.subscribed },
      ...(subscriptions
        ? {
            ...{ callbackUrl: row.callback_url, active: row.active === 1, confirmations: row.confirmations },
            address: SubscribedTo.of(chain, { address: row.address, event: row.subscribed }).address
          }
        : {})
    },
    callback: { ...summary, body: row.body, attempts },
    ...{ outcome: outcomes[row.state], why: whyOf(row, attempts.length) },
    block: row.height === null ? null : { chain: row.chain_name, height: row.height, hash: told.hash },
    ...{ transactionId: told.transactionId, retraction, retracts, copies: subscriptions ? yield* copiesOf(row) : [] },
    moments: inOrder([
      ...(told.time === undefined
        ? []
        : [moment("event", told.time * 1000, "The block was made, by its own time", told.hash)]),
      enteredMoment(row, told),
      ...(row.state === "held" ? [moment("wait", null, "Parked", whyOf(row, attempts.length))] : []),
      ...attempts.map(attemptMoment),
      ...(row.delivered !== null && attempts.every(({ error }) => error !== undefined)
        ? [moment("good", row.delivered, "Accepted by the receiver")]
        : []),
      ...(row.state === "due" && row.due > row.created ? [moment("wait", row.due, "The next attempt")] : []),
      ...(row.state === "expired" ? [moment("bad", null, "Given up", whyOf(row, attempts.length))] : []),
      ...(row.state === "orphaned" ? [moment("bad", null, "Not sent", whyOf(row, attempts.length))] : []),
      ...(retraction === null ? [] : [moment("bad", retraction.created, "Its block has left the chain: retracted")])
    ]),
    notKept: [
      "When an event is matched that waits for confirmations is not kept: its callback is entered once these are reached",
      ...(row.state === "held" ? ["Since when a callback is parked is not kept"] : []),
      ...(attempts.length < keptAttempts ? [] : [`Only the last ${keptAttempts} attempts are kept`])
    ]
  }
})
