import { assert, describe, it } from "@effect/vitest"
import { fromBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import * as Broadcasts from "@headwater/indexer/store/broadcasts/Broadcasts"
import { Database } from "@headwater/indexer/store/database/Database"
import { maxReserved } from "@headwater/indexer/store/wallets/PromisedSpending"
import * as ReservedNonces from "@headwater/indexer/store/wallets/ReservedNonces"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"

const chain = Chain.ofName("ethereum/devnet")!
const sender = fromBytes(new Uint8Array(20).fill(1))
/** Nonces of those that take coins alone. */
const ofCost = (...cost: ReadonlyArray<number>) => ({ cost, tokens: [] })
const free = { cost: 0n, keepsCost: true, available: 0n }

for (const store of takenStores(import.meta.url)) {
  describe(`ReservedNonces on ${store.name}`, () => {
    it.effect("gives each of many that ask at once a nonce of its own, without a gap", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        // Two daemons at one store.
        const daemons = [yield* ReservedNonces.make(chain), yield* ReservedNonces.make(chain)]
        const taken = yield* Effect.forEach(
          Array.from({ length: maxReserved }, (_, i) => i),
          (i) => daemons[i % 2]!.reserve(1, sender, 7, 60_000, free),
          { concurrency: "unbounded" }
        )
        const nonces = taken.map((each) => (each !== "full" && "nonce" in each ? each.nonce : -1)).sort((a, b) => a - b)
        assert.deepStrictEqual(
          nonces,
          Array.from({ length: maxReserved }, (_, i) => 7 + i)
        )
        assert.strictEqual(yield* daemons[0]!.reserve(1, sender, 7, 60_000, free), "full")
        // Another account, another sender, and nonces that were used meanwhile.
        for (const [account, who, next] of [
          [2, sender, 7],
          [1, fromBytes(new Uint8Array(20).fill(2)), 7],
          [1, sender, 7 + maxReserved]
        ] as const) {
          assert.deepInclude(yield* daemons[1]!.reserve(account, who, next, 60_000, free), { nonce: next })
        }
      }).pipe(Effect.provide(store.layer))
    )

    it.effect(
      "gives the nonce of a broadcast to nobody else while it may be mined, and again once it was refused",
      () =>
        Effect.gen(function* () {
          yield* ChainRow.make(chain)
          const { reserve } = yield* ReservedNonces.make(chain)
          for (const nonce of [3, 4]) assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce })
          const broadcast = (number: number) =>
            Broadcasts.begin({
              ...{ account: 1, chain, transactionId: new Uint8Array(32).fill(number), raw: new Uint8Array(1) },
              ...{ since: 0, numbered: { sender, number, cost: 0n }, callback: undefined }
            })
          const waiting = yield* broadcast(4)
          const { read } = yield* Database
          assert.lengthOf(yield* read((db) => db.selectFrom("reserved_coin").selectAll()), 1)
          // No node is known to have it yet, and the nodes count no transaction that waits behind a missing one.
          yield* TestClock.adjust("60 seconds")
          assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce: 3 })
          assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce: 5 })
          yield* Broadcasts.record(chain, waiting.id, { outcome: "sent" })
          assert.deepInclude(yield* reserve(1, sender, 4, 60_000, free), { nonce: 6 })
          const refused = yield* broadcast(3)
          yield* Broadcasts.record(chain, refused.id, { outcome: "failed", error: "underpriced" })
          assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce: 3 })
          yield* Broadcasts.record(chain, waiting.id, { outcome: "dropped", error: "no node has it" })
          assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce: 4 })
          // In a block, though it failed there: a node that is behind does not show it.
          const mined = {
            outcome: "failed",
            error: "reverted",
            block: { height: 1, hash: new Uint8Array(32) }
          } as const
          yield* Broadcasts.record(chain, (yield* broadcast(7)).id, mined)
          assert.deepInclude(yield* reserve(1, sender, 7, 60_000, free), { nonce: 8 })
          // Another account's are its own.
          assert.deepInclude(yield* reserve(2, sender, 7, 60_000, free), { nonce: 7 })
        }).pipe(Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(store.layer))), Effect.scoped)
    )

    it.effect("keeps what transactions may cost, for each of many that ask at once", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const daemons = [yield* ReservedNonces.make(chain), yield* ReservedNonces.make(chain)]
        const [{ promisedBeside, reserve }] = daemons as [ReservedNonces.ReservedNonces]
        // Beyond what a number of SQLite or of JSON holds.
        const coin = 10n ** 24n
        const spending = { cost: 6n * coin, keepsCost: true, available: 20n * coin }
        const taken = yield* Effect.forEach(
          [0, 1, 2, 3, 4, 5],
          (i) => daemons[i % 2]!.reserve(1, sender, 3, 60_000, spending),
          { concurrency: "unbounded" }
        )
        const nonces = taken.flatMap((each) => (typeof each === "object" && "nonce" in each ? each.nonce : []))
        assert.deepStrictEqual(nonces.sort(), [3, 4, 5])
        assert.deepStrictEqual(
          taken.filter((each) => typeof each === "object" && "promised" in each),
          [0, 1, 2].map(() => ({ promised: { cost: 18n * coin, tokens: 0n, nonces: ofCost(3, 4, 5) } }))
        )
        // To the last of it, and without what is used meanwhile.
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, { ...spending, cost: 2n * coin }), { nonce: 6 })
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 4)).cost, 14n * coin)
        assert.strictEqual((yield* promisedBeside(1, sender, 5, 9)).cost, 8n * coin)
        assert.strictEqual((yield* promisedBeside(2, sender, 3, 9)).cost, 0n)
        yield* TestClock.adjust("60 seconds")
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 9)).cost, 0n)
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, { ...spending, cost: 1n }), { nonce: 3 })
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 9)).cost, 1n)
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("keeps what another transaction costs that takes the place of one that is prepared", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const { promisedBeside, reserve, takeOver } = yield* ReservedNonces.make(chain)
        const spending = { cost: 60n, keepsCost: true, available: 100n }
        const over = (nonce: number, cost: bigint, account = 1) =>
          takeOver(account, sender, { next: 3, nonce }, 60_000, { ...spending, cost })
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, spending), { nonce: 3 })
        yield* TestClock.adjust("30 seconds")
        assert.deepStrictEqual(yield* over(3, 20n), { until: 90_000 })
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, spending), { nonce: 4 })
        assert.deepStrictEqual(yield* over(4, 80n), { until: 90_000 })
        assert.deepStrictEqual(yield* promisedBeside(1, sender, 3, 9), { cost: 100n, tokens: 0n, nonces: ofCost(3, 4) })
        assert.deepStrictEqual(yield* over(4, 81n), { promised: { cost: 20n, tokens: 0n, nonces: ofCost(3) } })
        // Of another account or another nonce there is none, nor of one whose time is over.
        assert.deepStrictEqual(yield* over(3, 1n, 2), { until: undefined })
        assert.deepStrictEqual(yield* over(5, 0n), { until: undefined })
        yield* TestClock.adjust("60 seconds")
        assert.deepStrictEqual(yield* over(3, 1n), { until: undefined })
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 9)).cost, 0n)
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("keeps no more than there is for those that take the place of others at once", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const daemons = [yield* ReservedNonces.make(chain), yield* ReservedNonces.make(chain)]
        const { promisedBeside, reserve } = daemons[0]!
        const spending = { cost: 1n, keepsCost: true, available: 100n }
        const dear = { ...spending, cost: 60n }
        const nonces = [3, 4, 5, 6]
        // Several times: the first ones wait for the store's connections.
        for (let round = 0; round < 5; round++) {
          for (const nonce of nonces) assert.deepInclude(yield* reserve(1, sender, 3, 60_000, spending), { nonce })
          const [another, ...taken] = yield* Effect.all(
            [
              daemons[1]!.reserve(1, sender, 3, 60_000, dear),
              ...nonces.map((nonce) => daemons[nonce % 2]!.takeOver(1, sender, { next: 3, nonce }, 60_000, dear))
            ],
            { concurrency: "unbounded" }
          )
          assert.lengthOf(
            [another, ...taken].filter((each) => typeof each === "object" && "until" in each),
            1
          )
          assert.isAtMost(Number((yield* promisedBeside(1, sender, 3, 9)).cost), 100)
          yield* TestClock.adjust("60 seconds")
        }
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("counts the tokens of a contract from where its balance does not count them", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const { promisedBeside, reserve, takeOver } = yield* ReservedNonces.make(chain)
        const contract = fromBytes(new Uint8Array(20).fill(7))
        const unit = 10n ** 24n
        const moving = (amount: bigint, available = 10n, of = contract) => ({
          ...{ cost: 1n, keepsCost: true, available: 100n },
          tokens: { contract: of, amount: amount * unit, available: available * unit, from: 3 }
        })
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, moving(6n)), { nonce: 3 })
        const promised = { cost: 1n, tokens: 6n * unit, nonces: { cost: [3], tokens: [3] } }
        assert.deepStrictEqual(yield* reserve(1, sender, 3, 60_000, moving(6n)), { promised })
        // Another token, to the last one, and in the place of another.
        const other = moving(10n, 10n, fromBytes(new Uint8Array(20).fill(8)))
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, other), { nonce: 4 })
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, moving(4n)), { nonce: 5 })
        assert.property(yield* takeOver(1, sender, { next: 3, nonce: 5 }, 60_000, moving(5n)), "promised")
        assert.deepStrictEqual(yield* takeOver(1, sender, { next: 3, nonce: 5 }, 60_000, moving(3n)), { until: 60_000 })
        // As broadcast, and waiting at the node, which has taken its coins off and no tokens.
        yield* Broadcasts.begin({
          ...{ account: 1, chain, transactionId: new Uint8Array(32), raw: new Uint8Array(1), since: 0 },
          numbered: { sender, number: 3, cost: 1n, tokens: { contract, amount: 7n * unit } },
          callback: undefined
        })
        const beside = yield* promisedBeside(1, sender, 4, 9, moving(1n))
        assert.deepStrictEqual(beside, { cost: 2n, tokens: 10n * unit, nonces: { cost: [4, 5], tokens: [3, 5] } })
        // In a block, whose balance lacks its tokens.
        const tokens = { ...moving(1n, 4n).tokens, from: 4 }
        assert.strictEqual((yield* promisedBeside(1, sender, 4, 9, { tokens })).tokens, 3n * unit)
        assert.deepInclude(yield* reserve(1, sender, 4, 60_000, { ...moving(1n), tokens }), { nonce: 6 })
      }).pipe(Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(store.layer))), Effect.scoped)
    )

    it.effect("counts what a broadcast may cost while it may be mined, in place of what was reserved for it", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const { promisedBeside, reserve } = yield* ReservedNonces.make(chain)
        const broadcast = (id: number, number: number, cost: bigint) =>
          Broadcasts.begin({
            ...{ account: 1, chain, transactionId: new Uint8Array(32).fill(id), raw: new Uint8Array(1) },
            ...{ since: 0, numbered: { sender, number, cost }, callback: undefined }
          })
        yield* reserve(1, sender, 3, 60_000, { cost: 100n, keepsCost: true, available: 100n })
        const first = yield* broadcast(1, 3, 70n)
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 9)).cost, 70n)
        // Of two with the same nonce one is mined: the dearer one, as far as anybody knows.
        const second = yield* broadcast(2, 3, 90n)
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 9)).cost, 90n)
        assert.deepStrictEqual(yield* reserve(1, sender, 3, 60_000, { cost: 11n, keepsCost: true, available: 100n }), {
          promised: { cost: 90n, tokens: 0n, nonces: ofCost(3) }
        })
        // Whose transaction waits at the node takes nothing beside, and its number.
        assert.deepStrictEqual(yield* promisedBeside(1, sender, 2, 9, { waiting: [3] }), {
          ...{ cost: 0n, tokens: 0n, nonces: ofCost() }
        })
        const behind = { cost: 11n, keepsCost: true, available: 11n, waiting: [2, 3] }
        assert.deepInclude(yield* reserve(1, sender, 2, 1, behind), { nonce: 4 })
        yield* TestClock.adjust(1)
        yield* Broadcasts.record(chain, second.id, { outcome: "failed", error: "underpriced" })
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, { cost: 11n, keepsCost: true, available: 100n }), {
          nonce: 4
        })
        yield* Broadcasts.record(chain, first.id, { outcome: "dropped", error: "no node has it" })
        assert.strictEqual((yield* promisedBeside(1, sender, 3, 9)).cost, 11n)
      }).pipe(Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(store.layer))), Effect.scoped)
    )

    it.effect("gives a nonce again when its time is over, and forgets what is over", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const { reserve } = yield* ReservedNonces.make(chain)
        for (const nonce of [3, 4]) assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce })
        yield* TestClock.adjust("60 seconds")
        assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce: 3 })
        const { read } = yield* Database
        assert.lengthOf(yield* read((db) => db.selectFrom("reserved_coin").selectAll()), 1)
      }).pipe(Effect.provide(store.layer))
    )

    it.effect("gives a nonce again that was reserved by a clock that was days ahead", () =>
      Effect.gen(function* () {
        yield* ChainRow.make(chain)
        const { reserve } = yield* ReservedNonces.make(chain)
        yield* TestClock.setTime(10 * 86_400_000)
        for (const nonce of [3, 4]) assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce })
        yield* TestClock.setTime(86_400_000)
        // Else it would be missing before all that follow, and no node would mine these.
        for (const nonce of [3, 4, 5]) assert.deepInclude(yield* reserve(1, sender, 3, 60_000, free), { nonce })
      }).pipe(Effect.provide(store.layer))
    )
  })
}
