import { assert, layer } from "@effect/vitest"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

for (const store of stores) {
  const services = hostPermission(new Set(["allowed.test"])).pipe(
    Layer.provideMerge(Domains.layer),
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
  })
}
