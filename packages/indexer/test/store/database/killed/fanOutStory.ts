/** A store with a block whose callbacks are left to steps, before and after these. */
import { assert } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Transfer } from "@headwater/core/Block"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Seed from "../../Seed.ts"

const address = new Uint8Array(20).fill(5) as AddressBytes
const [subscribers, payments] = [6, 4]

const services = (location: Location) => Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location)))

const open = Effect.provideService(ChainStore.open(Seed.chain, { record: "watched", undoDepth: 64 }), FanOut.Bounds, {
  commit: 2,
  address: 2,
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
    const hash = (byte: number) => new Uint8Array(32).fill(byte)
    const transfers = Array.from({ length: payments }, (_, transaction): Transfer => {
      return { kind: "coin", transaction, position: 0, from: undefined, to: address, amount: 1n }
    })
    const transactions = transfers.map((_, i) => hash(100 + i))
    yield* commit([{ height: 1, hash: hash(1), parent: hash(0), time: 1, transactions, transfers, spends: [] }])
    yield* commit([{ height: 2, hash: hash(2), parent: hash(1), time: 2, transactions: [], transfers: [], spends: [] }])
  }).pipe(Effect.provide(services(location)), Effect.scoped)

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
