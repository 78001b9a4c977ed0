/**
 * The subscriptions of every account.
 *
 * Each change takes the lock of its chain's row and counts the chain's revision up before it does anything else. A
 * block commit locks the same row, so changes and commits have one order: a subscription sees exactly the blocks above
 * the height that the chain had when it was created.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import { prepared } from "../database/Prepared.ts"
import type { Row } from "../database/Tables.ts"
import * as Parked from "./Parked.ts"

const DeactivationReasons = Schema.Array(Schema.Struct({ reason: Schema.String, timestamp: Schema.Int }))
export type DeactivationReason = (typeof DeactivationReasons.Type)[number]

export interface Subscription {
  /** The store's own id. */
  readonly id: number
  /** The id that its account knows. */
  readonly referenceId: string
  readonly chain: Chain.Chain
  readonly event: EventType
  /** Absent for an event that is not about an address. */
  readonly address: AddressBytes | undefined
  readonly callbackUrl: string
  readonly secret: string | undefined
  /** The wanted confirmation, or the last one for an each-confirmation event. */
  readonly confirmations: number
  /** Seconds since the Unix epoch. */
  readonly created: number
  readonly active: boolean
  readonly deactivationReasons: ReadonlyArray<DeactivationReason>
}

/** The subscription is active already. */
export class SubscriptionActive extends Schema.TaggedError<SubscriptionActive>()("SubscriptionActive", {
  referenceId: Schema.String
}) {}

export interface NewSubscription
  extends Pick<Subscription, "chain" | "event" | "address" | "callbackUrl" | "secret" | "confirmations"> {
  readonly account: number
  readonly allowDuplicates: boolean
}

/** Where a subscription is: nobody but its account finds it, and only under its own chain. */
export interface SubscriptionKey {
  readonly account: number
  readonly chain: Chain.Chain
  readonly referenceId: string
}

/** The account has the same subscription already. */
export class DuplicateSubscription extends Schema.TaggedError<DuplicateSubscription>()("DuplicateSubscription", {
  referenceId: Schema.String
}) {}

/** The account has no such subscription on this chain. */
export class SubscriptionNotFound extends Schema.TaggedError<SubscriptionNotFound>()("SubscriptionNotFound", {
  referenceId: Schema.String
}) {}

/**
 * Whether callbacks of an account may go to a host, asked inside the transaction that activates a subscription there.
 * Domain verification provides the answer; without it every host may receive.
 */
export const HostPermission = Context.Reference<
  (account: number, host: string) => Effect.Effect<boolean, DatabaseError>
>("@headwater/indexer/store/subscriptions/Subscriptions/HostPermission", {
  defaultValue: () => () => Effect.succeed(true)
})

export class Subscriptions extends Context.Service<
  Subscriptions,
  {
    /** Makes an active subscription that sees every block above the chain's present height. */
    readonly create: (
      subscription: NewSubscription
    ) => Effect.Effect<Subscription, DuplicateSubscription | DatabaseError>
    readonly get: (key: SubscriptionKey) => Effect.Effect<Subscription, SubscriptionNotFound | DatabaseError>
    /** A page in the order of creation, so that new ones move no page; and how many there are in all. */
    readonly list: (
      of: Pick<SubscriptionKey, "account" | "chain">,
      page: { readonly limit: number; readonly offset: number }
    ) => Effect.Effect<{ readonly total: number; readonly subscriptions: ReadonlyArray<Subscription> }, DatabaseError>
    /** Removes it with everything that waits or was to be sent for it. */
    readonly remove: (key: SubscriptionKey) => Effect.Effect<Subscription, SubscriptionNotFound | DatabaseError>
    /** Sends again, beginning with the callbacks that were held back. */
    readonly activate: (
      key: SubscriptionKey
    ) => Effect.Effect<Subscription, SubscriptionNotFound | SubscriptionActive | DatabaseError>
    /** Stops it for a reason that its account can read, and holds back what was to be sent. */
    readonly deactivate: (id: number, reason: string) => Effect.Effect<void, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Subscriptions") {
  static readonly layer = Layer.effect(
    Subscriptions,
    Effect.suspend(() => make)
  )
}

const decodeReasons = Schema.decodeUnknownEffect(Schema.fromJsonString(DeactivationReasons))

const toSubscription = Effect.fnUntraced(function* (chain: Chain.Chain, row: Row<"subscription">) {
  return {
    id: row.id,
    referenceId: row.reference_id,
    chain,
    event: row.event,
    address: (row.address ?? undefined) as AddressBytes | undefined,
    callbackUrl: row.callback_url,
    secret: row.secret ?? undefined,
    confirmations: row.confirmations,
    created: row.created,
    active: row.active === 1,
    // Written by this module only: anything else in there is a defect.
    deactivationReasons:
      row.deactivation_reasons === "[]" ? [] : yield* Effect.orDie(decodeReasons(row.deactivation_reasons))
  } satisfies Subscription
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const mayReceive = yield* HostPermission

  const same = Effect.fnUntraced(function* (chain: number, subscription: NewSubscription) {
    const { account, address, callbackUrl, confirmations, event } = subscription
    const [found] = yield* database.query((db) =>
      db
        .selectFrom("subscription")
        .select("reference_id")
        .where("account", "=", account)
        .where("chain", "=", chain)
        .where("event", "=", event)
        .where("address", address === undefined ? "is" : "=", address ?? null)
        .where("confirmations", "=", confirmations)
        // An expression, so that no planner chooses the index on URLs, which may have a million equal ones.
        .where(sql`callback_url || ''`, "=", callbackUrl)
        .limit(1)
    )
    return found?.reference_id
  })

  const count = (account: number, chain: number, change: 1 | -1) =>
    database.query((db) =>
      db
        .insertInto("subscription_count")
        .values({ account, chain, total: change })
        .onConflict((on) =>
          on.columns(["account", "chain"]).doUpdateSet({ total: sql<number>`subscription_count.total + ${change}` })
        )
    )

  /** A chain keeps its id. Not to be asked in a transaction: one that fails takes a new chain back. */
  const ids = new Map<string, number>()

  const idOf = Effect.fnUntraced(function* (chain: Chain.Chain) {
    const name = Chain.nameOf(chain)
    const known = ids.get(name)
    if (known !== undefined) return known
    const [row] = yield* database.read((db) => db.selectFrom("chain").select("id").where("name", "=", name))
    if (row !== undefined) ids.set(name, row.id)
    return row?.id
  })

  const byReference = prepared((db, referenceId: string, account: number, chain: number) =>
    db
      .selectFrom("subscription")
      .selectAll()
      .where("reference_id", "=", referenceId)
      .where("account", "=", account)
      .where("chain", "=", chain)
  )

  const find = Effect.fnUntraced(function* (
    { account, referenceId }: SubscriptionKey,
    chain: number | undefined,
    run: Database["Service"]["query"]
  ) {
    const [row] = chain === undefined ? [] : yield* run(byReference(referenceId, account, chain))
    return row ?? (yield* new SubscriptionNotFound({ referenceId }))
  })

  const create = Effect.fn("Subscriptions.create")(function* (subscription: NewSubscription) {
    const { account, address, callbackUrl, chain, confirmations, event, secret } = subscription
    const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    const referenceId = yield* Effect.sync(() => crypto.randomUUID())
    return yield* database.transaction(
      Effect.gen(function* () {
        const { height, id, revision } = yield* ChainRow.lockAndBumpRevisionOf(chain)
        if (!subscription.allowDuplicates) {
          const found = yield* same(id, subscription)
          if (found !== undefined) return yield* new DuplicateSubscription({ referenceId: found })
        }
        const [row] = yield* database.query((db) =>
          db
            .insertInto("subscription")
            .values({
              reference_id: referenceId,
              account,
              chain: id,
              revision,
              event,
              address: address ?? null,
              callback_url: callbackUrl,
              host: new URL(callbackUrl).hostname,
              secret: secret ?? null,
              confirmations,
              created,
              from_height: height,
              active: 1
            })
            .returningAll()
        )
        yield* count(account, id, 1)
        return yield* toSubscription(chain, row!)
      })
    )
  })

  const get = Effect.fnUntraced(function* (key: SubscriptionKey) {
    return yield* toSubscription(key.chain, yield* find(key, yield* idOf(key.chain), database.read))
  })

  const list: Subscriptions["Service"]["list"] = Effect.fn("Subscriptions.list")(function* (of, page) {
    const chain = yield* idOf(of.chain)
    if (chain === undefined) return { total: 0, subscriptions: [] }
    const [counted] = yield* database.read((db) =>
      db.selectFrom("subscription_count").select("total").where("account", "=", of.account).where("chain", "=", chain)
    )
    if (counted === undefined || page.offset >= counted.total) {
      return { total: counted?.total ?? 0, subscriptions: [] }
    }
    // A far page is counted off from the nearer end.
    const behind = counted.total - page.offset - page.limit
    const backwards = behind < page.offset
    const ids = yield* database.read((db) =>
      db
        .selectFrom("subscription")
        .select("id")
        .where("account", "=", of.account)
        .where("chain", "=", chain)
        .orderBy("id", backwards ? "desc" : "asc")
        .limit(backwards ? page.limit + Math.min(0, behind) : page.limit)
        .offset(backwards ? Math.max(0, behind) : page.offset)
    )
    if (ids.length === 0) return { total: counted.total, subscriptions: [] }
    const rows = yield* database.read((db) =>
      db
        .selectFrom("subscription")
        .selectAll()
        .where(
          "id",
          "in",
          ids.map(({ id }) => id)
        )
        .orderBy("id")
    )
    return {
      total: counted.total,
      subscriptions: yield* Effect.forEach(rows, (row) => toSubscription(of.chain, row))
    }
  })

  const remove = Effect.fn("Subscriptions.remove")(function* (key: SubscriptionKey) {
    return yield* database.transaction(
      Effect.gen(function* () {
        const { id } = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
        const row = yield* find(key, id, database.query)
        yield* database.query((db) => db.deleteFrom("waiting").where("subscription", "=", row.id))
        yield* database.query((db) => db.deleteFrom("callback").where("subscription", "=", row.id))
        yield* database.query((db) => db.deleteFrom("subscription").where("id", "=", row.id))
        yield* count(row.account, row.chain, -1)
        return yield* toSubscription(key.chain, row)
      })
    )
  })

  const activate = Effect.fn("Subscriptions.activate")(function* (key: SubscriptionKey) {
    return yield* database.transaction(
      Effect.gen(function* () {
        const { id, revision } = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
        const row = yield* find(key, id, database.query)
        if (row.active === 1) return yield* new SubscriptionActive({ referenceId: key.referenceId })
        const changed = { active: 1, deactivation_reasons: "[]", revision }
        yield* database.query((db) => db.updateTable("subscription").set(changed).where("id", "=", row.id))
        if (yield* mayReceive(row.account, row.host)) {
          yield* Parked.release(row.id, yield* Clock.currentTimeMillis)
        }
        return yield* toSubscription(key.chain, { ...row, ...changed })
      })
    )
  })

  const deactivate = Effect.fn("Subscriptions.deactivate")(function* (id: number, reason: string) {
    const timestamp = Math.floor((yield* Clock.currentTimeMillis) / 1000)
    yield* database.transaction(
      Effect.gen(function* () {
        const [at] = yield* database.query((db) => db.selectFrom("subscription").select("chain").where("id", "=", id))
        if (at === undefined) return
        const { revision } = yield* ChainRow.lockAndBumpRevision(at.chain)
        const [changed] = yield* database.query((db) =>
          db
            .updateTable("subscription")
            .set({ active: 0, revision, deactivation_reasons: JSON.stringify([{ reason, timestamp }]) })
            .where("id", "=", id)
            .where("active", "=", 1)
            .returning(["id", "host"])
        )
        if (changed !== undefined) yield* Parked.hold(changed)
      })
    )
  })

  return Subscriptions.of({ create, get, list, remove, activate, deactivate })
})
