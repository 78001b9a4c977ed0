import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import * as OwedSubscribers from "@headwater/indexer/store/subscriptions/internal/OwedSubscribers"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { takenStores } from "../../../../../../test/Stores.ts"
import * as Plans from "../../Plans.ts"

const addressOf = (number: number) => {
  const address = Buffer.alloc(20)
  address.writeUInt32BE(number)
  return address
}

for (const store of takenStores(import.meta.url)) {
  layer(store.layer)(`OwedSubscribers on ${store.name}`, (it) => {
    it.effect("are found by their address, however many others their account has", () =>
      Effect.gen(function* () {
        const { insertMany, query, transaction } = yield* Database
        const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const
        const one = { account: 7, chain: 1, revision: 1, event, callback_url: "https://a.test/", host: "a.test" }
        const rest = { confirmations: 1, created: 1, secret: null, from_height: 0, active: 1, active_from: 1 }
        const numbers = Array.from({ length: 2_000 }, (_, i) => i)
        const subscription = (reference_id: string) => ({ ...one, ...rest, reference_id })
        yield* transaction(
          Effect.gen(function* () {
            yield* insertMany(
              "subscription",
              numbers.map((i) => ({ ...subscription(`own ${i}`), address: addressOf(i) }))
            )
            yield* insertMany("subscription", [{ ...subscription("a list"), address: null }])
            yield* insertMany(
              "listed_address",
              numbers.map((i) => ({
                ...{ subscription: numbers.length + 1, chain: 1, address: addressOf(i), revision: 1, from_height: 0 }
              }))
            )
          })
        )
        if (store.name === "postgres") {
          yield* query(rows(sql`analyze subscription`))
          yield* query(rows(sql`analyze listed_address`))
        }
        const turn = (address: Uint8Array | null, after = 0, matched = 1) => ({
          ...{ account: 7, chain: 1, matched, occurrence: 0, subscription: after },
          match: { address, revision: 1, events: [event] }
        })
        const plansOf = (address: Uint8Array | null) => Plans.of(store.name, OwedSubscribers.first(turn(address), 10))
        const ofAccount =
          /subscription_(list|activity|host|target|daily|pkey)|Seq Scan on (subscription|listed)|SCAN (s|a)\b/
        const byAddress = (yield* plansOf(addressOf(5))).join()
        // It knows the account too: many others may have subscriptions to the address.
        assert.match(byAddress, /subscription_alike/)
        assert.match(byAddress, /listed_address_watch/)
        if (store.name === "sqlite") assert.notMatch(byAddress, ofAccount)
        const ofBlocks = (yield* plansOf(null)).join()
        assert.match(ofBlocks, /subscription_alike/)
        assert.notMatch(ofBlocks, ofAccount)

        const ids = (address: Uint8Array | null, after: number) =>
          Effect.map(OwedSubscribers.first(turn(address, after), 10), ({ subscribers }) =>
            subscribers.map(({ id }) => id)
          )
        assert.deepStrictEqual(yield* ids(addressOf(5), 0), [6, numbers.length + 1])
        assert.deepStrictEqual(yield* ids(addressOf(5), 6), [numbers.length + 1])
        assert.deepStrictEqual(yield* ids(null, 0), [numbers.length + 1])

        const turns = [
          turn(addressOf(5), 0, 1),
          turn(addressOf(6), 7, 2),
          turn(null, 0, 3),
          turn(addressOf(9999), 0, 4)
        ]
        const owed = (limit: number) =>
          Effect.map(OwedSubscribers.few(turns, limit), (few) =>
            [...few].map(([matched, { subscribers }]) => [matched, subscribers.map(({ id }) => id)])
          )
        const list = numbers.length + 1
        const all = [
          [1, [6, list]],
          [2, [list]],
          [3, [list]],
          [4, []]
        ]
        assert.deepStrictEqual(yield* owed(3), all)
        // Those of an address that are as many as the limit may not be all.
        assert.deepStrictEqual(yield* owed(2), all.slice(1))
      })
    )
  })
}
