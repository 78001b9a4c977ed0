import { assert, layer } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as SyncedAccountWallets from "@headwater/indexer/store/addresses/SyncedAccountWallets"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import { Limits } from "@headwater/indexer/store/accounts/Limits"
import * as AccountLimits from "@headwater/indexer/store/accounts/Limits"
import { Database } from "@headwater/indexer/store/database/Database"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { type NewSubscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const chains = ["ethereum", "polygon", "base"].map((name) => Result.getOrThrow(Chain.find(name, "devnet")))
const address = (byte: number) => new Uint8Array(20).fill(byte) as AddressBytes

const maxima = {
  ...AccountLimits.defaultMaxima,
  ...{ subscriptions: 6, duplicates: 2, domains: 2, verificationsAnHour: 3, wallets: 2, addresses: 2 }
}

for (const store of takenStores(import.meta.url)) {
  const services = Layer.mergeAll(Subscriptions.layer, Domains.layer).pipe(
    Layer.provide(Layer.succeed(HostPermission, () => Effect.succeed(true))),
    Layer.provideMerge(Layer.merge(store.layer, Layer.succeed(Limits, maxima)))
  )
  layer(services)(`Limits on ${store.name}`, (it) => {
    const wanted = (account: number, own: Partial<NewSubscription> = {}): NewSubscription => ({
      account,
      chain: chains[0]!,
      event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
      address: address(1),
      callbackUrl: "https://example.com/",
      secret: undefined,
      confirmations: 1,
      allowDuplicates: true,
      ...own
    })
    /** How many of the effects succeed, and the messages of the others. */
    const race = <A, E extends { readonly message: string }, R>(effects: ReadonlyArray<Effect.Effect<A, E, R>>) =>
      Effect.map(Effect.forEach(effects, Effect.result, { concurrency: "unbounded" }), (results) => ({
        succeeded: results.filter(Result.isSuccess).length,
        messages: new Set(results.filter(Result.isFailure).map(({ failure }) => failure.message))
      }))

    it.effect("has no more subscriptions than are allowed, also of requests that race on several chains", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const one = (i: number) => wanted(account, { chain: chains[i % 3]!, address: address(i) })
        const { messages, succeeded } = yield* race(Array.from({ length: 15 }, (_, i) => subscriptions.create(one(i))))
        assert.strictEqual(succeeded, 6)
        assert.deepStrictEqual(
          [...messages],
          ["An account may have 6 subscriptions (the operator's limit subscriptions)"]
        )
        assert.strictEqual((yield* AccountLimits.usage(account, maxima)).subscriptions, 6)
        // Another account has its own, and a subscription that is removed makes room.
        yield* subscriptions.create(wanted(yield* Seed.account))
        const { subscriptions: mine } = yield* subscriptions.list(
          { account, chain: chains[0]! },
          { limit: 1, offset: 0 }
        )
        const [first] = mine
        if (first !== undefined) {
          yield* subscriptions.remove({ account, chain: chains[0]!, referenceId: first.referenceId })
          yield* subscriptions.create(one(20))
        }
        assert.strictEqual((yield* AccountLimits.usage(account, maxima)).subscriptions, 6)
      })
    )

    it.effect("has no more subscriptions to one event of one address than are allowed, wherever they are sent", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const { messages, succeeded } = yield* race(
          Array.from({ length: 6 }, (_, i) =>
            subscriptions.create(wanted(account, { callbackUrl: `https://example.com/${i}`, confirmations: 1 + i }))
          )
        )
        assert.strictEqual(succeeded, 2)
        assert.deepStrictEqual(
          [...messages],
          [
            "An account may have 2 subscriptions to one event of one address, transaction or chain (the operator's limit duplicates)"
          ]
        )
        yield* subscriptions.create(wanted(account, { address: address(2) }))
        yield* subscriptions.create(wanted(account, { event: "ADDRESS_TOKENS_TRANSACTION_CONFIRMED" }))
        yield* subscriptions.create(wanted(yield* Seed.account))
        const blocks = wanted(account, { event: "BLOCK_MINED", address: undefined })
        assert.strictEqual((yield* race(Array.from({ length: 3 }, () => subscriptions.create(blocks)))).succeeded, 2)
      })
    )

    it.effect("has no more domains than are allowed; one that is there costs nothing", () =>
      Effect.gen(function* () {
        const domains = yield* Domains
        const account = yield* Seed.account
        const { succeeded } = yield* race(
          Array.from({ length: 5 }, (_, i) => domains.add(account, `host-${i}.example.com`))
        )
        assert.strictEqual(succeeded, 2)
        const [first] = yield* domains.list(account)
        assert.deepStrictEqual(yield* domains.add(account, first!.name), first)
        yield* domains.add(yield* Seed.account, "host-0.example.com")
      })
    )

    it.effect("counts verifications by the hour", () =>
      Effect.gen(function* () {
        const domains = yield* Domains
        const account = yield* Seed.account
        const tries = Array.from({ length: 5 }, () => domains.countVerification(account))
        assert.strictEqual((yield* race(tries)).succeeded, 3)
        yield* domains.countVerification(yield* Seed.account)
        assert.strictEqual((yield* AccountLimits.usage(account, maxima)).verificationsAnHour, 3)
        yield* TestClock.adjust(yield* AccountLimits.millisToNextHour)
        assert.strictEqual((yield* AccountLimits.usage(account, maxima)).verificationsAnHour, 0)
        yield* domains.countVerification(account)
      })
    )

    it.effect("has no more synced addresses than are allowed, those of its wallets not counted", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const account = yield* Seed.account
        const past = { birth: undefined, readsPast: false, mostBlocks: 1 }
        const addresses = [10, 11, 12].map(address)
        const wallet = { account, chain: chains[0]!, derivation: "account", publicKey: "key" } as const
        yield* transaction(SyncedAccountWallets.add(wallet, addresses, past))
        const sync = (i: number) =>
          transaction(
            SyncedAddresses.add(
              { account, chain: chains[i % 3]!, address: address(i) },
              { ...past, callbackUrl: undefined }
            )
          )
        const { messages, succeeded } = yield* race(Array.from({ length: 5 }, (_, i) => sync(i)))
        assert.strictEqual(succeeded, 2)
        assert.deepStrictEqual(
          [...messages],
          ["An account may have 2 synced addresses (the operator's limit addresses)"]
        )
        assert.strictEqual((yield* AccountLimits.usage(account, maxima)).addresses, 2)
      })
    )

    it.effect("has no more synced wallets than are allowed", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const account = yield* Seed.account
        const sync = (i: number) =>
          transaction(
            SyncedAccountWallets.add(
              { account, chain: chains[i % 3]!, derivation: "account", publicKey: `key ${i}` },
              [address(i)],
              { birth: undefined, readsPast: false, mostBlocks: 1 }
            )
          )
        const { messages, succeeded } = yield* race(Array.from({ length: 5 }, (_, i) => sync(i)))
        assert.strictEqual(succeeded, 2)
        assert.deepStrictEqual([...messages], ["An account may have 2 synced wallets (the operator's limit wallets)"])
        assert.strictEqual((yield* AccountLimits.usage(account, maxima)).wallets, 2)
      })
    )
  })
}
