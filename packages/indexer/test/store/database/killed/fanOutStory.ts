/** A store with a block whose callbacks are left to steps to write, or to take back, before and after these. */
import { assert } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import * as Seed from "../../Seed.ts"

const address = new Uint8Array(20).fill(5) as AddressBytes
const [subscribers, payments] = [6, 4]

const hash = (byte: number) => new Uint8Array(32).fill(byte)
/** A block of the first height that pays the address. */
const paid = (own: number): Block => {
  const transfers = Array.from({ length: payments }, (_, transaction): Transfer => {
    return { kind: "coin", transaction, position: 0, from: undefined, to: address, amount: 1n }
  })
  const transactions = transfers.map((_, i) => hash(100 + i))
  return { height: 1, hash: hash(own), parent: hash(0), time: own, transactions, transfers, spends: [] }
}

const services = (location: Location) => Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location)))

const open = Effect.provideService(ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 }), FanOut.Bounds, {
  commit: 2,
  address: 2,
  undo: 2,
  step: 5,
  turn: 3
})

/** Two accounts with subscriptions, some to each confirmation, and a block that pays their address. */
export const begin = (location: Location) =>
  Effect.gen(function* () {
    const subscriptions = yield* Subscriptions
    for (const account of [yield* Seed.account, yield* Seed.account]) {
      for (let i = 0; i < subscribers; i++) {
        const each = i % 3 === 0
        yield* subscriptions.create({
          ...{ account, chain: Seed.chain, address, secret: undefined, allowDuplicates: true },
          ...{ callbackUrl: "https://example.com/", confirmations: each ? 2 : 1 },
          event: each ? "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION" : "ADDRESS_COINS_TRANSACTION_CONFIRMED"
        })
      }
    }
    const { commit } = yield* open
    yield* commit([paid(1)])
    yield* commit([{ ...paid(2), parent: hash(1), height: 2, transactions: [], transfers: [] }])
  }).pipe(Effect.provide(services(location)), Effect.scoped)

/** As {@link begin}, and everything was told and sent when both blocks left the chain, and one came that pays the address too. */
export const beginUndone = (location: Location) =>
  Effect.gen(function* () {
    yield* begin(location)
    yield* steps(location)
    yield* Effect.gen(function* () {
      const { query } = yield* Database
      yield* query((db) => db.updateTable("account").set({ retractions: 1 }))
      yield* query((db) => db.updateTable("callback").set({ state: "delivered", sequence: sql<number>`id` }))
      const { commit, undo } = yield* open
      yield* undo(0)
      yield* commit([paid(3)])
    }).pipe(Effect.provide(services(location)), Effect.scoped)
  })

/** Steps until none is left. */
export const steps = (location: Location) =>
  Effect.gen(function* () {
    const { fanOut } = yield* open
    while ((yield* fanOut).more);
  }).pipe(Effect.provide(services(location)), Effect.scoped)

export const isWhole = (location: Location) =>
  Effect.gen(function* () {
    yield* steps(location)
    yield* Effect.gen(function* () {
      const { query } = yield* Database
      const found = yield* query((db) => db.selectFrom("callback").select("idempotency_key"))
      // Of three subscriptions two are told once, and one at both confirmations.
      assert.lengthOf(
        new Set(found.map(({ idempotency_key }) => idempotency_key)),
        (2 * subscribers * payments * 4) / 3
      )
      assert.lengthOf(found, (2 * subscribers * payments * 4) / 3)
      for (const table of ["matched", "fan_out", "waiting"] as const) {
        assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [])
      }
    }).pipe(Effect.provide(services(location)), Effect.scoped)
  })

/** Each callback is retracted once, behind it, and the other block is told behind that, once. */
export const isTakenBack = (location: Location) =>
  Effect.gen(function* () {
    yield* steps(location)
    yield* Effect.gen(function* () {
      const { query } = yield* Database
      const found = yield* query((db) =>
        db.selectFrom("callback").select(["subscription", "state", "body"]).orderBy("id")
      )
      const bySubscription = Map.groupBy(found, ({ subscription }) => subscription)
      assert.strictEqual(bySubscription.size, 2 * subscribers)
      for (const own of bySubscription.values()) {
        const told = own.map(({ body, state }) => ({ state, ...JSON.parse(body) }))
        const retracted = told
          .filter(({ state }) => state === "retracted")
          .map((one) => one.idempotencyKey ?? one.data.idempotencyKey)
        const retractions = told.flatMap(({ data }) => data.item.revertedIdempotencyKey ?? [])
        assert.strictEqual(retracted.length % payments, 0)
        assert.deepStrictEqual(retractions, retracted.toReversed())
        const rest = told.slice(2 * retracted.length)
        // The second confirmation is yet to come.
        assert.lengthOf(rest, payments)
        assert.isTrue(
          rest.every(({ data, state }) => state === "due" && data.item.revertedIdempotencyKey === undefined)
        )
      }
      for (const table of ["matched", "fan_out", "undoing", "undone_block"] as const) {
        assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [])
      }
    }).pipe(Effect.provide(services(location)), Effect.scoped)
  })
