/**
 * The subscriptions of every account.
 *
 * Each change takes the lock of its chain's row and counts the chain's revision up before it does anything else. A
 * block commit locks the same row, so changes and commits have one order: a subscription sees exactly the blocks above
 * the height that the chain had when it was created.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Limits from "../accounts/Limits.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as AddressLists from "./AddressLists.ts"
import * as BroadcastSubscription from "./BroadcastSubscription.ts"
import * as Deactivation from "./Deactivation.ts"
import * as ExtendedKeys from "./ExtendedKeys.ts"
import { HostPermission } from "./HostPermission.ts"
import * as Activation from "./internal/Activation.ts"
import * as Creation from "./internal/Creation.ts"
import * as SubscriptionPage from "./internal/SubscriptionPage.ts"
import * as SubscriptionRow from "./internal/SubscriptionRow.ts"
import * as ListActivation from "./ListActivation.ts"
import * as PastTransactions from "./PastTransactions.ts"
import * as Removal from "./Removal.ts"
import type {
  CreatedSubscription,
  DuplicateSubscription,
  NewSubscription,
  Subscription,
  SubscriptionActive,
  SubscriptionKey,
  SubscriptionNotFound
} from "./Subscription.ts"

export type { Refusal } from "./internal/Creation.ts"
export {
  type CreatedSubscription,
  type DeactivationReason,
  DuplicateSubscription,
  type NewSubscription,
  type Subscription,
  SubscriptionActive,
  type SubscriptionKey,
  SubscriptionNotFound
} from "./Subscription.ts"

/**
 * The store's subscriptions.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
 * import * as Effect from "effect/Effect"
 * import * as Result from "effect/Result"
 *
 * export const subscribe = Effect.gen(function* () {
 *   const subscriptions = yield* Subscriptions
 *   return yield* subscriptions.create({
 *     account: 1,
 *     chain: Result.getOrThrow(Chain.find("bitcoin", "mainnet")),
 *     event: "BLOCK_MINED",
 *     address: undefined,
 *     callbackUrl: "https://example.com/callbacks",
 *     secret: "a secret that callbacks are signed with",
 *     confirmations: 1,
 *     allowDuplicates: false
 *   })
 * })
 * ```
 */
export class Subscriptions extends Context.Service<
  Subscriptions,
  {
    /** Makes an active subscription that sees every block above the chain's present height. */
    readonly create: (
      subscription: NewSubscription
    ) => Effect.Effect<Subscription, DuplicateSubscription | Limits.LimitReached | DatabaseError>
    /** As `create`, of a subscription on a list of addresses, which is empty: `AddressLists` edits it. */
    readonly createList: (
      subscription: NewSubscription
    ) => Effect.Effect<Subscription, DuplicateSubscription | Limits.LimitReached | DatabaseError>
    /** As `create`, of a subscription on the addresses of an extended public key. */
    readonly createKey: (
      subscription: NewSubscription,
      key: ExtendedKeys.NewKey
    ) => Effect.Effect<Subscription, DuplicateSubscription | Limits.LimitReached | DatabaseError>
    /** As `create`, for some subscriptions of one account to one chain, in one transaction: each is made, or refused. `affordable`: how many of so many the account can pay for. */
    readonly createMany: (
      account: number,
      chain: Chain.Chain,
      subscriptions: ReadonlyArray<NewSubscription>,
      affordable: (count: number) => Effect.Effect<number>
    ) => Effect.Effect<ReadonlyArray<Result.Result<CreatedSubscription, Creation.Refusal>>, DatabaseError>
    readonly get: (key: SubscriptionKey) => Effect.Effect<Subscription, SubscriptionNotFound | DatabaseError>
    /** A page in the order of creation, so that new ones move no page; and how many there are in all. Without those of broadcasts, as `listAfter`. */
    readonly list: (
      of: Pick<SubscriptionKey, "account" | "chain">,
      page: SubscriptionPage.Page
    ) => Effect.Effect<{ readonly total: number; readonly subscriptions: ReadonlyArray<Subscription> }, DatabaseError>
    /** Removes the subscription with its pending confirmations and callbacks; `also` is done in the same transaction. */
    readonly remove: (
      key: SubscriptionKey,
      also?: Effect.Effect<void, DatabaseError>
    ) => Effect.Effect<Subscription, SubscriptionNotFound | DatabaseError>
    /** As `remove`, for some subscriptions in one transaction: the references of those that there were. */
    readonly removeMany: (
      of: Pick<SubscriptionKey, "account" | "chain">,
      referenceIds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlySet<string>, DatabaseError>
    /** Those created after the one with the id `after`, in the order of creation. */
    readonly listAfter: (
      of: Pick<SubscriptionKey, "account" | "chain">,
      page: { readonly after: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Subscription>, DatabaseError>
    /** Sends again, beginning with the parked callbacks; `also` is done in the same transaction. */
    readonly activate: (
      key: SubscriptionKey,
      also?: Effect.Effect<void, DatabaseError>
    ) => Effect.Effect<Subscription, SubscriptionNotFound | SubscriptionActive | DatabaseError>
    /** Stops the subscription for a reason that its account can read, and parks its callbacks that are due. */
    readonly deactivate: (id: number, reason: string) => Effect.Effect<void, DatabaseError>
  }
>()("@headwater/indexer/store/subscriptions/Subscriptions") {
  static readonly layer = Layer.effect(
    Subscriptions,
    Effect.suspend(() => make)
  )
}

/** A list whose addresses are derived: the key, and the first of them. */
interface DerivedList {
  readonly allowDuplicates: boolean
  readonly key: ExtendedKeys.NewKey
  readonly first: ExtendedKeys.FirstAddresses
}

/** In a transaction. */
const create = Effect.fnUntraced(function* (
  subscription: NewSubscription,
  limits: Limits.Maxima,
  list?: "edited" | DerivedList
) {
  const { query, secrets } = yield* Database
  const { account, chain } = subscription
  const [made] = yield* Creation.rowsOf(account, chain, [subscription], limits)
  const values = yield* Effect.catchTag(Effect.fromResult(made!), "Unpaid", Effect.die)
  if (list !== undefined && list !== "edited" && !list.allowDuplicates) {
    yield* ExtendedKeys.checkDuplicate(subscription, values.chain, list.key)
  }
  const [row] = yield* query((db) => db.insertInto("subscription").values(values).returningAll())
  yield* PastTransactions.begin([row!])
  if (list !== undefined) yield* AddressLists.begin(row!.id, account)
  if (list !== undefined && list !== "edited") {
    yield* ExtendedKeys.begin(row!, (yield* ChainRow.present(chain))!, list.key, list.first, limits)
  }
  return yield* SubscriptionRow.toSubscription(chain, row!, secrets)
})

/** In a transaction. */
const createMany = Effect.fnUntraced(function* (
  account: number,
  chain: Chain.Chain,
  subscriptions: ReadonlyArray<NewSubscription>,
  limits: Limits.Maxima,
  affordable: (count: number) => Effect.Effect<number>
) {
  const { insertMany } = yield* Database
  const made = yield* Creation.rowsOf(account, chain, subscriptions, limits, affordable)
  const rows = made.filter(Result.isSuccess).map(({ success }) => success)
  yield* insertMany("subscription", rows)
  yield* PastTransactions.begin(rows)
  return made.map(Result.map(({ created, reference_id }) => ({ created, referenceId: reference_id })))
})

/** In a transaction: the subscription as it was. */
const remove = Effect.fnUntraced(function* (key: SubscriptionKey) {
  const { query, secrets } = yield* Database
  const { id } = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* SubscriptionRow.find(key, id, query)
  // The subscription's row first, as a lease locks it: each waits for the other, and neither for both.
  yield* query((db) => db.deleteFrom("subscription").where("id", "=", row.id))
  yield* Removal.begin([row])
  if (!BroadcastSubscription.isOne(row)) yield* SubscriptionRow.count(row.account, row.chain, -1)
  return yield* SubscriptionRow.toSubscription(key.chain, row, secrets)
})

/** In a transaction: the references of those that there were. */
const removeMany = Effect.fnUntraced(function* (
  account: number,
  chain: Chain.Chain,
  referenceIds: ReadonlyArray<string>
) {
  const { takeEach } = yield* Database
  const { id } = yield* ChainRow.lockAndBumpRevisionOf(chain)
  const removed = yield* takeEach(
    "subscription",
    { reference_id: "text", account: "bigint", chain: "bigint" },
    referenceIds.map((reference_id) => ({ reference_id, account, chain: id })),
    ["id", "reference_id", "event"]
  )
  if (removed.length > 0) {
    yield* Removal.begin(removed)
    const counted = removed.filter((row) => !BroadcastSubscription.isOne(row))
    yield* SubscriptionRow.count(account, id, -counted.length)
  }
  return new Set(removed.map(({ reference_id }) => reference_id))
})

/**
 * Looks up the ids of chains, which a chain keeps. Not to be asked in a transaction: one that fails takes a new chain
 * back.
 */
const chainIds = Effect.gen(function* () {
  const database = yield* Database
  const known = new Map<string, number>()
  return Effect.fnUntraced(function* (chain: Chain.Chain) {
    const name = Chain.nameOf(chain)
    const id = known.get(name)
    if (id !== undefined) return id
    const row = yield* Effect.provideService(ChainRow.find(chain), Database, database)
    if (row !== undefined) known.set(name, row.id)
    return row?.id
  })
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const mayReceive = yield* HostPermission
  const limits = yield* Limits.Limits
  const chainId = yield* chainIds
  const scope = yield* Effect.scope
  const removeRest = Effect.provideService(Removal.rest, Database, database)
  const activateRest = Effect.provideService(ListActivation.rest, Database, database)

  return Subscriptions.of({
    create: Effect.fn("Subscriptions.create")((subscription) => database.transaction(create(subscription, limits))),
    createList: Effect.fn("Subscriptions.createList")((subscription) =>
      database.transaction(create({ ...subscription, address: undefined, allowDuplicates: true }, limits, "edited"))
    ),
    createKey: Effect.fn("Subscriptions.createKey")(function* (subscription, key) {
      const { account, allowDuplicates, chain } = subscription
      const id = yield* chainId(chain)
      // Both also before anything is derived: that takes far longer than to refuse it. What is there already is no new one,
      // whatever the limit.
      yield* Effect.gen(function* () {
        if (!allowDuplicates && id !== undefined) yield* ExtendedKeys.checkDuplicate(subscription, id, key)
        yield* ExtendedKeys.checkLimit(account, key, limits)
      }).pipe(Effect.provideService(Database, database))
      const first = yield* ExtendedKeys.firstAddresses(chain, key)
      const wanted = { ...subscription, address: undefined, allowDuplicates: true }
      return yield* database.transaction(create(wanted, limits, { allowDuplicates, key, first }))
    }),
    createMany: Effect.fn("Subscriptions.createMany")((account, chain, subscriptions, affordable) =>
      database.transaction(createMany(account, chain, subscriptions, limits, affordable))
    ),
    get: Effect.fnUntraced(function* (key) {
      const row = yield* SubscriptionRow.find(key, yield* chainId(key.chain), database.read)
      return yield* SubscriptionRow.toSubscription(key.chain, row, database.secrets)
    }),
    list: Effect.fn("Subscriptions.list")(
      function* ({ account, chain }, page) {
        const id = yield* chainId(chain)
        if (id === undefined) return { total: 0, subscriptions: [] }
        const { rows, total } = yield* SubscriptionPage.read(account, id, page)
        const subscriptions = yield* Effect.forEach(rows, (row) =>
          SubscriptionRow.toSubscription(chain, row, database.secrets)
        )
        return { total, subscriptions }
      },
      Effect.provideService(Database, database)
    ),
    remove: Effect.fn("Subscriptions.remove")(function* (key, also = Effect.void) {
      const removed = yield* database.transaction(Effect.tap(remove(key), also))
      // What ends here with the process is gone on with by the next sweep.
      yield* Effect.forkIn(Effect.ignore(removeRest), scope)
      return removed
    }),
    removeMany: Effect.fn("Subscriptions.removeMany")(function* ({ account, chain }, referenceIds) {
      const removed = yield* database.transaction(removeMany(account, chain, referenceIds))
      if (removed.size > 0) yield* Effect.forkIn(Effect.ignore(removeRest), scope)
      return removed
    }),
    listAfter: Effect.fn("Subscriptions.listAfter")(
      function* ({ account, chain }, page) {
        const id = yield* chainId(chain)
        const rows = id === undefined ? [] : yield* SubscriptionPage.readAfter(account, id, page)
        return yield* Effect.forEach(rows, (row) => SubscriptionRow.toSubscription(chain, row, database.secrets))
      },
      Effect.provideService(Database, database)
    ),
    activate: Effect.fn("Subscriptions.activate")(function* (key, also = Effect.void) {
      const activated = yield* database.transaction(Effect.tap(Activation.activate(key, mayReceive), also))
      if (activated.address === undefined) yield* Effect.forkIn(Effect.ignore(activateRest), scope)
      return activated
    }),
    deactivate: Effect.fn("Subscriptions.deactivate")((id, reason) =>
      database.transaction(
        Effect.gen(function* () {
          const [of] = yield* database.query((db) => db.selectFrom("subscription").select("chain").where("id", "=", id))
          if (of === undefined) return
          yield* Deactivation.deactivate(of.chain, reason, (db) =>
            db.selectFrom("subscription").select("id").where("id", "=", id)
          )
        })
      )
    )
  })
})
