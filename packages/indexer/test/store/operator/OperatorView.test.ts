import { assert, layer } from "@effect/vitest"
import * as OperatorView from "@headwater/indexer/store/operator/OperatorView"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { stores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

for (const store of stores) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )

  layer(services)(`OperatorView on ${store.name}`, (it) => {
    it.effect("shows the newest page of what a search may mean, each subscription once, and that there are more", () =>
      Effect.gen(function* () {
        const view = yield* OperatorView.make
        const account = yield* Seed.account
        const made: Array<string> = []
        for (let i = 0; i < 51; i++) {
          made.unshift((yield* Seed.subscription(account, "https://pages.test/")).referenceId)
        }
        const other = yield* Seed.subscription(yield* Seed.account, "https://other.test/")
        const references = (search: string) =>
          Effect.map(view.subscriptions(search), ({ hasMore, items }) => ({
            hasMore,
            found: items.map(({ referenceId }) => referenceId)
          }))
        assert.deepStrictEqual(yield* references("https://pages.t"), { hasMore: true, found: made.slice(0, 50) })
        assert.deepStrictEqual(yield* references(made[50]!), { hasMore: false, found: [made[50]!] })
        assert.deepStrictEqual(yield* references("other.test"), { hasMore: false, found: [other.referenceId] })
        // The names of both accounts begin so, and no host does.
        assert.deepStrictEqual((yield* references("account")).found, [other.referenceId, ...made.slice(0, 49)])
        assert.deepStrictEqual((yield* references("")).found, [other.referenceId, ...made.slice(0, 49)])
      })
    )

    it.effect("shows callbacks without a number first, then by number down from any number", () =>
      Effect.gen(function* () {
        const view = yield* OperatorView.make
        const { list } = yield* Callbacks
        const account = yield* Seed.account
        const subscription = yield* Seed.subscription(account, "https://numbers.test/")
        yield* Seed.callbacks(subscription, 3)
        // The feed gives the callbacks their numbers.
        yield* list({ account, chain: Seed.chain, referenceId: subscription.referenceId }, { after: 0, limit: 10 })
        yield* Seed.callbacks(subscription, 1, { label: "unnumbered" })
        const numbers = (before: number | undefined) =>
          Effect.map(view.callbacks(subscription.id, before), ({ items }) => items.map(({ sequence }) => sequence))
        assert.deepStrictEqual(yield* numbers(undefined), [null, 3, 2, 1])
        assert.deepStrictEqual(yield* numbers(3), [2, 1])
        const found = yield* view.subscription(subscription.referenceId)
        assert.deepStrictEqual([found?.id, found?.shown.signed], [subscription.id, false])
      })
    )
  })
}
