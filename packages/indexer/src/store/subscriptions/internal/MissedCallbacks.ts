/** Callbacks and pending confirmations that a committed block should have left, and did not. */
import type { Block, BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Occurrence } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { inChunks } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"
import * as LeftMatches from "../LeftMatches.ts"
import * as PendingConfirmations from "../PendingConfirmations.ts"

type Occurrences = ReadonlyArray<Occurrence<PendingConfirmations.Subscriber>>

/**
 * Those of subscriptions that were there before the block: later ones have no part in it, and no addresses that came to
 * their lists later, but for those that the subscription's own extended public key has.
 */
export const meant = Effect.fnUntraced(function* <A extends { readonly subscription: PendingConfirmations.Subscriber }>(
  { height }: Block,
  occurrences: ReadonlyArray<A>
) {
  const { query } = yield* Database
  const ids = [...new Set(occurrences.map(({ subscription }) => subscription.id))]
  const rows = yield* inChunks(ids, (some) =>
    query((db) =>
      db
        .selectFrom("subscription")
        .select("id")
        .where("id", "in", some)
        .where((where) => where.or([where("from_height", "is", null), where("from_height", "<", height)]))
    )
  )
  const before = new Set(rows.map(({ id }) => id))
  const there = occurrences.filter(({ subscription }) => before.has(subscription.id))
  const listed = there.filter(({ subscription }) => subscription.isListed === true)
  if (listed.length === 0) return there
  const nameOf = (subscription: number, address: Uint8Array) => `${subscription} ${Bytes.key(address)}`
  const { selectEach } = yield* Database
  const inTime = yield* selectEach<Pick<Row<"listed_address">, "address" | "subscription">>(
    { subscription: "bigint", address: "bytea" },
    listed.map(({ subscription: { address, id } }) => ({ subscription: id, address })),
    `select subscription, address from listed_address
     where subscription = :subscription and address = :address and left_revision is null
       and (from_height is null or from_height < ${height} or branch is not null)`
  )
  const names = new Set(inTime.map(({ address, subscription }) => nameOf(subscription, address)))
  return there.filter(
    ({ subscription: { address, id, isListed } }) => isListed !== true || names.has(nameOf(id, address!))
  )
})

/** How many callbacks were not there. */
const addCallbacks = Effect.fnUntraced(function* (due: PendingConfirmations.Scheduled["due"]) {
  const missing = new Map(due.map((row) => [row.idempotency_key, row]))
  for (const key of yield* CallbackState.known([...missing.keys()])) missing.delete(key)
  yield* CallbackState.enter("added", [...missing.values()])
  return missing.size
})

/** The heights at which the next confirmations of a block's occurrences are due, as far as these are pending. */
const dueHeights = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const pending = yield* query((db) =>
    db
      .selectFrom("waiting")
      .select(["subscription", "occurrence", "due_height"])
      .where("chain", "=", chain)
      .where("height", "=", height)
  )
  return new Map(pending.map((row) => [LeftMatches.nameOf(row.subscription, row.occurrence), row.due_height]))
})

const addPending = Effect.fnUntraced(function* (chain: number, missing: PendingConfirmations.Scheduled["pending"]) {
  yield* PendingConfirmations.add(missing)
  // The commit of the next block has to look for what is due.
  if (missing.length > 0) yield* ChainRow.lockAndBumpRevision(chain)
})

const opposite = (occurrence: string): string | undefined => {
  const found = /^(coin:.*):(incoming|outgoing)$/.exec(occurrence)
  return found === null ? undefined : `${found[1]}:${found[2] === "incoming" ? "outgoing" : "incoming"}`
}

/**
 * Occurrences but those that were told in the other direction, which the block does not have: release 0.1 told so where
 * it did not know an input. An audit corrects these; another callback beside the wrong one would be counted twice.
 */
const uncontradicted = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, block: Block, occurrences: Occurrences) {
  const { query } = yield* Database
  const nameOf = (one: Occurrences[number], occurrence = one.occurrence) =>
    LeftMatches.nameOf(one.subscription.id, occurrence)
  const expected = new Set(occurrences.map((one) => nameOf(one)))
  const byKey = new Map<string, string>()
  const byOpposite = new Map<string, string>()
  for (const one of occurrences) {
    const other = opposite(one.occurrence)
    if (other === undefined || expected.has(nameOf(one, other))) continue
    byOpposite.set(nameOf(one, other), nameOf(one))
    const { due } = PendingConfirmations.schedule(chain.id, block, [{ ...one, occurrence: other }], chain.height!, 0)
    for (const { idempotency_key } of due) byKey.set(idempotency_key, nameOf(one))
  }
  if (byOpposite.size === 0) return occurrences
  const told = yield* inChunks([...byKey.keys()], (some) =>
    query((db) =>
      db
        .selectFrom("every_callback")
        .select("idempotency_key")
        .where("idempotency_key", "in", some)
        .where("state", "not in", ["orphaned", "retracted"])
    )
  )
  const pending = yield* query((db) =>
    db
      .selectFrom("waiting")
      .select(["subscription", "occurrence"])
      .where("chain", "=", chain.id)
      .where("height", "=", block.height)
  )
  const contradicted = new Set([
    ...told.map(({ idempotency_key }) => byKey.get(idempotency_key)),
    ...pending.map(({ occurrence, subscription }) => byOpposite.get(LeftMatches.nameOf(subscription, occurrence)))
  ])
  return occurrences.filter((one) => !contradicted.has(nameOf(one)))
})

/**
 * Adds what is missing by a tip; what is there, in whatever state, stays. What steps or later commits are still to tell is
 * not missing, and would come before what the subscription has to be told first. How many callbacks.
 */
const addBy = Effect.fnUntraced(function* (
  tip: number,
  chain: number,
  block: BlockHeader,
  occurrences: Occurrences,
  now: number
) {
  if (occurrences.length === 0) return 0
  const isLeft = yield* LeftMatches.areTold(chain, block.height)
  const missing = occurrences.filter(({ occurrence, subscription }) => !isLeft(subscription.id, occurrence))
  const dues = yield* dueHeights(chain, block.height)
  const scheduled = missing.map((one) => {
    const due = dues.get(LeftMatches.nameOf(one.subscription.id, one.occurrence))
    // A pending confirmation is told in its turn.
    return PendingConfirmations.schedule(chain, block, [one], due === undefined ? tip : Math.min(tip, due - 1), now)
  })
  const added = yield* addCallbacks(scheduled.flatMap(({ due }) => due))
  const pending = scheduled.flatMap(({ pending }) => pending)
  yield* addPending(
    chain,
    pending.filter(({ occurrence, subscription }) => !dues.has(LeftMatches.nameOf(subscription, occurrence)))
  )
  return added
})

/** Adds what is missing by the chain's present tip; what is there, in whatever state, stays. How many callbacks. */
export const add = Effect.fnUntraced(function* (
  chain: ChainRow.ChainRow,
  block: Block,
  occurrences: Occurrences,
  now: number
) {
  const early = yield* uncontradicted(chain, block, yield* meant(block, occurrences))
  return yield* addBy(chain.height!, chain.id, block, early, now)
})

/**
 * As {@link add}, a part of what subscriptions on extended public keys were not told of a past block: release 0.1 had none
 * of these. Confirmations that have come since are left to the steps: one occurrence may have a hundred.
 */
export const addPast = Effect.fnUntraced(function* (
  chain: number,
  block: Block,
  occurrences: Occurrences,
  now: number
) {
  return yield* addBy(block.height, chain, block, yield* meant(block, occurrences), now)
})

/**
 * As {@link add}, of transactions that were mined before their subscriptions were made, of which no confirmations are told. How
 * many callbacks.
 */
export const addEarlier = Effect.fnUntraced(function* (
  chain: number,
  block: BlockHeader,
  occurrences: Occurrences,
  now: number
) {
  if (occurrences.length === 0) return 0
  const ids = occurrences.map(({ subscription }) => subscription.address!)
  const isLeft = yield* LeftMatches.areTold(chain, block.height, ids)
  const untold = occurrences.filter((one) => !isLeft(one.subscription.id, one.occurrence))
  return yield* addCallbacks(PendingConfirmations.schedule(chain, block, untold, block.height, now).due)
})
