import { assert, layer } from "@effect/vitest"
import { Database } from "@headwater/indexer/store/database/Database"
import type { Row } from "@headwater/indexer/store/database/Tables"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

for (const store of takenStores(import.meta.url)) {
  const services = hostPermission(new Set(["allowed.test"])).pipe(
    Layer.provideMerge(Domains.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )
  layer(services, { excludeTestServices: true })(`Domains on ${store.name}`, (it) => {
    it.effect("gives each account a token of its own, the same every time", () =>
      Effect.gen(function* () {
        const domains = yield* Domains
        const [a, b] = [yield* Seed.account, yield* Seed.account]
        const first = yield* domains.add(a, "example.com")
        assert.match(first.token, /^[\w-]{43}$/)
        assert.isUndefined(first.verified)
        assert.deepStrictEqual(yield* domains.add(a, "example.com"), first)
        const other = yield* domains.add(b, "example.com")
        assert.notStrictEqual(other.token, first.token)
        yield* domains.add(a, "another.example.com")
        assert.deepStrictEqual(
          (yield* domains.list(a)).map(({ name }) => name),
          ["another.example.com", "example.com"]
        )
      })
    )

    it.effect("verifies a host for one account, and for no other host", () =>
      Effect.gen(function* () {
        const domains = yield* Domains
        const mayReceive = yield* HostPermission
        const [a, b] = [yield* Seed.account, yield* Seed.account]
        yield* domains.add(a, "example.org")
        yield* domains.add(b, "example.org")
        assert.isFalse(yield* mayReceive(a, "example.org"))
        const verified = yield* domains.setVerified(a, "example.org")
        assert.isDefined(verified.verified)
        assert.strictEqual((yield* domains.setVerified(a, "example.org")).verified, verified.verified)
        assert.isTrue(yield* mayReceive(a, "example.org"))
        assert.isTrue(yield* mayReceive(a, "example.org"))
        assert.isFalse(yield* mayReceive(b, "example.org"))
        assert.isFalse(yield* mayReceive(a, "sub.example.org"))
        assert.isTrue(yield* mayReceive(b, "allowed.test"))
        const missing = yield* Effect.flip(domains.setVerified(a, "unknown.test"))
        assert.strictEqual(missing._tag, "DomainNotFound")
      })
    )

    it.effect("has what was parked for a host go again as if it had never been sent", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const domains = yield* Domains
        const account = yield* Seed.account
        yield* domains.add(account, "parked.test")
        const active = yield* Seed.subscription(account, "https://parked.test/a")
        const inactive = yield* Seed.subscription(account, "https://parked.test/b")
        const elsewhere = yield* Seed.subscription(account, "https://other.test/")
        for (const subscription of [active, inactive, elsewhere])
          yield* Seed.callbacks(subscription, 2, { state: "held" })
        yield* query((db) => db.updateTable("subscription").set({ active: 0 }).where("id", "=", inactive.id))
        // The attempts of a profile were used up before the subscription was deactivated and activated again.
        yield* query((db) => db.updateTable("callback").set({ attempts: 6, leased_until: 9e12, sequence: 1, due: 5 }))
        yield* domains.setVerified(account, "parked.test")
        const found = ({ attempts, due, leased_until, state }: Row<"callback">) => [
          state,
          attempts,
          leased_until,
          due > 5
        ]
        assert.deepStrictEqual((yield* Seed.rows(active.id)).map(found), Array(2).fill(["due", 0, 0, true]))
        for (const { id } of [inactive, elsewhere]) {
          assert.deepStrictEqual((yield* Seed.rows(id)).map(found), Array(2).fill(["held", 6, 9e12, false]))
        }
      })
    )
  })
}
