import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { AddressBytes } from "@headwater/core/address/Address"
import { assert, describe, it, layer } from "@effect/vitest"
import { dayOf, endOfDay } from "@headwater/core/Credits"
import * as Chain from "@headwater/core/chains/Chain"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as SyncedAccountWallets from "@headwater/indexer/store/addresses/SyncedAccountWallets"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type DatabaseError } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { CallbackCharging, Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as ManagedWallets from "@headwater/indexer/store/wallets/ManagedWallets"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import { sql } from "kysely"
import { taken, takenStores } from "../../../../../test/Stores.ts"
import { FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const chainNamed = (name: string) => Chain.all.find((chain) => Chain.nameOf(chain) === name)!
const sepolia = chainNamed("ethereum/sepolia")
const bitcoinCash = chainNamed("bitcoin-cash/mainnet")

const services = Layer.mergeAll(Credits.layer, Subscriptions.layer, Accounts.layer)

let names = 0
const newAccount = Effect.gen(function* () {
  return (yield* (yield* Accounts).create(`account ${names++}`)).id
})

const subscribe = Effect.fnUntraced(function* (account: number, chain: Chain.Chain, count: number) {
  const subscriptions = yield* Subscriptions
  return yield* Effect.forEach(Array.from({ length: count }).keys(), (i) =>
    subscriptions.create({
      account,
      chain,
      event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
      address: new Uint8Array(20).fill(i) as AddressBytes,
      callbackUrl: "https://example.com/",
      secret: undefined,
      confirmations: 1,
      allowDuplicates: true
    })
  )
})

const entries = (account: number) =>
  Effect.flatMap(Credits, ({ statement }) => statement(account, { limit: 1000, newestFirst: false, after: undefined }))

/** What must hold of every account at every time. */
const ledgerAddsUp = Effect.fnUntraced(function* (account: number) {
  const { read } = yield* Database
  const balance = yield* (yield* Credits).balance(account)
  const [{ sum }] = (yield* read((db) =>
    db
      .selectFrom("credit_entry")
      .select(sql<string | number>`coalesce(sum(amount), 0)`.as("sum"))
      .where("account", "=", account)
  )) as [{ sum: string | number }]
  assert.strictEqual(Number(sum), balance)
  assert.isAtLeast(balance, 0)
  return balance
})

/** At the end of a day: an account of 250 subscriptions with credits for so many, and those of its subscriptions that are active. */
const withCreditsFor = Effect.fnUntraced(function* (paid: number) {
  const credits = yield* Credits
  const { query } = yield* Database
  const start = Date.UTC(2026, 10, 20, 12)
  yield* TestClock.setTime(start)
  const poor = yield* newAccount
  yield* credits.chargeDays
  const made = yield* subscribe(poor, sepolia, 250)
  yield* credits.grant({ account: poor, amount: paid * 200, detail: "" })
  yield* TestClock.setTime(endOfDay(dayOf(start)))
  const active = Effect.map(
    query((db) =>
      db.selectFrom("subscription").select("id").where("account", "=", poor).where("active", "=", 1).orderBy("id")
    ),
    (rows) => rows.map(({ id }) => id)
  )
  return { active, made, poor }
})

for (const store of takenStores(import.meta.url)) {
  layer(services.pipe(Layer.provideMerge(store.layer)))(`Credits on ${store.name}`, (it) => {
    const charge = (account: number, amount: number, key: string = crypto.randomUUID()) => ({
      account,
      key,
      amount,
      results: 1,
      detail: "test"
    })

    it.effect("adds grants, each key once", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const account = yield* newAccount
        assert.strictEqual(yield* credits.balance(account), 0)
        assert.strictEqual(yield* credits.grant({ account, amount: 100, detail: "first" }), 100)
        const grant = { account, amount: 50, detail: "second", key: `invoice ${account}` }
        assert.strictEqual(yield* credits.grant(grant), 150)
        assert.strictEqual((yield* Effect.flip(credits.grant(grant)))._tag, "DuplicateEntry")
        assert.strictEqual(yield* ledgerAddsUp(account), 150)
      })
    )

    it.effect("takes what is there and nothing more", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const account = yield* newAccount
        yield* credits.grant({ account, amount: 100, detail: "" })
        assert.strictEqual(yield* credits.charge(charge(account, 60)), 40)
        const refused = yield* Effect.flip(credits.charge(charge(account, 41)))
        assert.strictEqual(refused.message, "41 credits are wanted, 40 are left")
        assert.strictEqual(yield* credits.charge(charge(account, 40)), 0)
        assert.strictEqual(
          (yield* Effect.flip(credits.chargeInTransaction(charge(account, 1))))._tag,
          "InsufficientCredits"
        )
        const broke = yield* newAccount
        assert.strictEqual((yield* Effect.flip(credits.charge(charge(broke, 1))))._tag, "InsufficientCredits")
        assert.strictEqual(yield* ledgerAddsUp(account), 0)
        assert.strictEqual((yield* entries(account)).length, 3)
      })
    )

    it.effect("serves exactly as many of 200 racing charges as can be paid, in either way of charging", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const { transaction } = yield* Database
        const account = yield* newAccount
        yield* credits.grant({ account, amount: 50 * 30 + 29, detail: "" })
        const results = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, i) => i),
          (i) =>
            Effect.result(
              i % 5 === 0
                ? transaction(credits.chargeInTransaction(charge(account, 30)))
                : credits.charge(charge(account, 30))
            ),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 50)
        assert.strictEqual(yield* ledgerAddsUp(account), 29)
        assert.strictEqual((yield* entries(account)).length, 51)
      })
    )

    it.effect("charges accounts that race with one another apart", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const accounts = yield* Effect.forEach([1, 2, 3, 4, 5], (n) =>
          Effect.tap(newAccount, (account) => credits.grant({ account, amount: n * 10, detail: "" }))
        )
        const results = yield* Effect.forEach(
          Array.from({ length: 100 }, (_, i) => accounts[i % 5]!),
          (account) => Effect.result(credits.charge(charge(account, 10))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 15)
        for (const account of accounts) assert.strictEqual(yield* ledgerAddsUp(account), 0)
      })
    )

    it.effect("takes nothing with a transaction that fails", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const { transaction } = yield* Database
        const account = yield* newAccount
        yield* credits.grant({ account, amount: 100, detail: "" })
        yield* Effect.flip(
          transaction(Effect.andThen(credits.chargeInTransaction(charge(account, 60)), Effect.fail("no")))
        )
        assert.strictEqual(yield* ledgerAddsUp(account), 100)
      })
    )

    it.effect("fails the charges of a batch that could not be written, and goes on", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const account = yield* newAccount
        yield* credits.grant({ account, amount: 100, detail: "" })
        yield* credits.charge(charge(account, 10, `same ${account}`))
        assert.strictEqual(
          (yield* Effect.flip(credits.charge(charge(account, 10, `same ${account}`))))._tag,
          "DatabaseError"
        )
        assert.strictEqual(yield* credits.charge(charge(account, 10)), 80)
        assert.strictEqual(yield* ledgerAddsUp(account), 80)
      })
    )

    it.effect("lists a statement by keyset, in both orders", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const account = yield* newAccount
        for (let i = 1; i <= 7; i++) yield* credits.grant({ account, amount: i, detail: `grant ${i}` })
        const all = yield* entries(account)
        assert.deepStrictEqual(
          all.map(({ amount }) => amount),
          [1, 2, 3, 4, 5, 6, 7]
        )
        const newest = yield* credits.statement(account, { limit: 3, newestFirst: true, after: undefined })
        assert.deepStrictEqual(
          newest.map(({ amount }) => amount),
          [7, 6, 5]
        )
        const next = yield* credits.statement(account, { limit: 3, newestFirst: true, after: newest[2]!.id })
        assert.deepStrictEqual(
          next.map(({ amount }) => amount),
          [4, 3, 2]
        )
      })
    )

    it.effect("charges sent callbacks by account and chain, at most what is left", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const { transaction } = yield* Database
        const [rich, poor] = [yield* newAccount, yield* newAccount]
        yield* credits.grant({ account: rich, amount: 1000, detail: "" })
        yield* credits.grant({ account: poor, amount: 70, detail: "" })
        const [a] = yield* subscribe(rich, sepolia, 1)
        const [b] = yield* subscribe(rich, bitcoinCash, 1)
        const [c] = yield* subscribe(poor, sepolia, 1)
        const sent = [a!, a!, b!, c!, c!].map(({ id: subscription }, i) => ({ id: 1000 * rich + i, subscription }))
        yield* transaction(credits.chargeCallbacks([...sent, { id: 5, subscription: 999_999_999 }]))
        assert.strictEqual(yield* ledgerAddsUp(rich), 1000 - 2 * 50 - 60)
        assert.strictEqual(yield* ledgerAddsUp(poor), 0)
        const taken = (yield* entries(rich)).filter(({ kind }) => kind === "callback")
        assert.deepStrictEqual(taken.map(({ amount, detail, results }) => [detail, amount, results]).sort(), [
          ["bitcoin-cash/mainnet", -60, 1],
          ["ethereum/sepolia", -100, 2]
        ])
      })
    )
  })

  layer(Layer.mergeAll(services, Wallets.layer).pipe(Layer.provideMerge(store.layer)))(
    `Daily charges of addresses on ${store.name}`,
    (it) => {
      it.effect("are taken for the addresses that an account has asked to be synced", () =>
        Effect.gen(function* () {
          const credits = yield* Credits
          const wallets = yield* Wallets
          const start = Date.UTC(2027, 0, 20, 12)
          yield* TestClock.setTime(start)
          yield* credits.chargeDays
          const account = yield* newAccount
          yield* credits.grant({ account, amount: 30_000, detail: "" })
          const xpub =
            "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"
          const key = Result.getOrThrow(keyOf(account, bitcoinCash, xpub, "account"))
          const alone: InTransaction<never, never> = (change) => change
          yield* wallets.deriveAndSync(key, 20, alone)
          // Free while inactive: the hundred are all that is charged.
          const stopped = { ...key, derivation: "bip32" as const }
          yield* wallets.sync(stopped, 20, alone)
          const { transaction } = yield* Database
          yield* transaction(ManagedWallets.setActive(stopped, false))
          // Of a wallet that is only synced, what belongs to it by its gap limit.
          const other = yield* newAccount
          yield* credits.grant({ account: other, amount: 5_000, detail: "" })
          yield* wallets.sync({ ...key, account: other }, 20, alone)
          yield* TestClock.setTime(start + 86_400_000)
          // A hundred at 200 times 1.2; of the next day what is left pays for 25.
          yield* credits.chargeDays
          assert.strictEqual(yield* ledgerAddsUp(account), 30_000 - 100 * 240)
          assert.strictEqual(yield* ledgerAddsUp(other), 5_000 - 20 * 240)
          yield* credits.chargeDays
          assert.strictEqual(yield* ledgerAddsUp(account), 6_000)
          yield* TestClock.setTime(start + 2 * 86_400_000)
          yield* credits.chargeDays
          assert.strictEqual(yield* ledgerAddsUp(account), 0)
          const daily = (yield* entries(account)).filter(({ kind }) => kind === "daily")
          assert.deepStrictEqual(
            daily.map(({ amount, results }) => [amount, results]).sort(([a], [b]) => a! - b!),
            [
              [-24_000, 100],
              [-6_000, 25]
            ]
          )
        })
      )
    }
  )

  layer(services.pipe(Layer.provideMerge(store.layer)))(`Interrupted daily charges on ${store.name}`, (it) => {
    it.effect("stop what cannot be paid at the next run", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const clock = yield* Clock.Clock
        const start = Date.UTC(2026, 10, 20, 12)
        yield* TestClock.setTime(start)
        yield* credits.chargeDays
        const { query } = yield* Database
        for (const failing of [1, 2, 3, 4]) {
          const account = yield* newAccount
          yield* credits.grant({ account, amount: 500, detail: "" })
          yield* subscribe(account, sepolia, 3)
          yield* TestClock.setTime(start + failing * 86_400_000)
          let reads = 0
          const currentTimeMillis = Effect.suspend(() =>
            ++reads === failing ? Effect.die("interrupted") : clock.currentTimeMillis
          )
          yield* Effect.exit(Effect.provideService(credits.chargeDays, Clock.Clock, { ...clock, currentTimeMillis }))
          yield* credits.chargeDays
          // The accounts of the days before have nothing left.
          const active = yield* query((db) => db.selectFrom("subscription").select("account").where("active", "=", 1))
          assert.deepStrictEqual(active, [{ account }, { account }], `interrupted at look ${failing}`)
        }
      })
    )
  })

  layer(services.pipe(Layer.provideMerge(store.layer)))(
    `Daily charges by a clock that is ahead on ${store.name}`,
    (it) => {
      it.effect("are those of days that are over by the newest block too, at most one more", () =>
        Effect.gen(function* () {
          const credits = yield* Credits
          const chain = new FakeChain(sepolia)
          const store = yield* ChainStore.open(sepolia, { record: "watched", undoDepth: 64 })
          yield* store.commit([chain.tip])
          const day = 86_400_000
          const start = chain.tip.time * 1000
          yield* TestClock.setTime(start)
          yield* credits.chargeDays
          const account = yield* newAccount
          yield* credits.grant({ account, amount: 1_000, detail: "" })
          yield* subscribe(account, sepolia, 2)
          yield* TestClock.setTime(start + 365 * day)
          assert.deepStrictEqual(yield* credits.chargeDays, { days: 1, credits: 400, deactivated: 0 })
          assert.strictEqual(yield* ledgerAddsUp(account), 600)
          // Put right: that day is charged, and the next one in its turn.
          yield* TestClock.setTime(start + day)
          assert.deepStrictEqual(yield* credits.chargeDays, { days: 0, credits: 0, deactivated: 0 })
          yield* TestClock.setTime(start + 2 * day)
          const { time } = chain.mine([])
          yield* store.commit([{ ...chain.tip, time: time + (2 * day) / 1000 }])
          assert.deepStrictEqual(yield* credits.chargeDays, { days: 1, credits: 400, deactivated: 0 })
        }).pipe(Effect.scoped)
      )
    }
  )

  layer(services.pipe(Layer.provideMerge(store.layer)))(`Daily charges of synced addresses on ${store.name}`, (it) => {
    it.effect("are those of active ones, single and of wallets", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const { transaction } = yield* Database
        const start = Date.UTC(2026, 10, 20, 12)
        yield* TestClock.setTime(start)
        const account = yield* newAccount
        yield* credits.grant({ account, amount: 10_000, detail: "" })
        yield* credits.chargeDays
        const addressOf = (of: number) => new Uint8Array(20).fill(of) as AddressBytes
        const key = (of: number) => ({ account, chain: sepolia, address: addressOf(of) })
        const birth = { birth: undefined, readsPast: true, mostBlocks: 1_000 }
        for (const of of [1, 2, 3]) {
          yield* transaction(SyncedAddresses.add(key(of), { ...birth, callbackUrl: undefined }))
        }
        yield* transaction(SyncedAddresses.setActive(key(3), false, birth))
        const wallet = { account, chain: sepolia, publicKey: "xpub", derivation: "account" } as const
        yield* transaction(SyncedAccountWallets.add(wallet, [4, 5, 6].map(addressOf), birth))
        yield* TestClock.setTime(endOfDay(dayOf(start)))
        assert.deepStrictEqual(yield* credits.chargeDays, { days: 1, credits: 5 * 200, deactivated: 0 })
        assert.deepStrictEqual(yield* credits.chargeDays, { days: 0, credits: 0, deactivated: 0 })
      })
    )
  })

  layer(services.pipe(Layer.provideMerge(store.layer)))(`A daily charge of very many on ${store.name}`, (it) => {
    it.effect("stops those that cannot be paid some at a time, also where the process ended between", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const { active, made, poor } = yield* withCreditsFor(2)
        // The clock stands still, and with it what waits between two steps.
        const killed = yield* Effect.forkChild(credits.chargeDays)
        while ((yield* active).length === 250) yield* Effect.yieldNow
        yield* Fiber.interrupt(killed)
        assert.lengthOf(yield* active, 150)
        assert.strictEqual(yield* credits.balance(poor), 400)

        const charging = yield* Effect.forkChild(credits.chargeDays)
        while (charging.pollUnsafe() === undefined) yield* Effect.andThen(active, TestClock.adjust("1 millis"))
        assert.deepStrictEqual(yield* Fiber.join(charging), { days: 1, credits: 400, deactivated: 148 })
        assert.deepStrictEqual(
          yield* active,
          made.slice(0, 2).map(({ id }) => id)
        )
        assert.strictEqual(yield* ledgerAddsUp(poor), 0)
      })
    )
  })

  if (store.name === "postgres") {
    layer(services.pipe(Layer.provideMerge(store.layer)))("A daily charge beside what is sent", (it) => {
      it.effect("waits for the callbacks that are noted as sent, which do not wait for the charge", () =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const credits = yield* Credits
          const { active, made, poor } = yield* withCreditsFor(249)
          const unpaid = made.at(-1)!
          const [id] = yield* Seed.callbacks(unpaid, 1)
          const callback = {
            ...{
              id: id!,
              account: poor,
              subscription: unpaid.id,
              host: "example.com",
              idempotencyKey: "key",
              sequence: 1
            },
            ...{ body: "{}", attempts: 0, attemptLog: "[]", created: 1 }
          }
          const waits = Effect.map(
            query(
              rows(sql`
              select 1 from pg_locks where not granted and transactionid = pg_current_xact_id()::xid`)
            ),
            ({ length }) => length > 0
          )
          // The callback is noted as sent, and before it is charged the daily charge comes to what the other has locked.
          const isNoted = yield* Deferred.make<void>()
          const daily = yield* Effect.forkChild(Effect.andThen(Deferred.await(isNoted), credits.chargeDays))
          const charge = (sent: ReadonlyArray<{ readonly id: number; readonly subscription: number }>) =>
            Effect.gen(function* () {
              yield* Deferred.succeed(isNoted, undefined)
              yield* Effect.repeat(waits, { until: (isSo) => isSo })
              yield* credits.chargeCallbacks(sent)
            })
          const outbox = Layer.fresh(Outbox.layer).pipe(Layer.provide(Layer.succeed(CallbackCharging, charge)))
          const attempt = { at: 1, duration: 1, status: 200 }
          yield* Effect.provide(
            Effect.flatMap(Outbox, ({ acknowledge }) => acknowledge([{ kind: "delivered", callback, attempt }])),
            outbox
          )
          yield* Fiber.join(daily)
          assert.deepStrictEqual(
            (yield* Seed.rows(unpaid.id)).map(({ state }) => state),
            ["delivered"]
          )
          assert.lengthOf(yield* active, 248)
          yield* ledgerAddsUp(poor)
        })
      )
    })
  }

  layer(services.pipe(Layer.provideMerge(store.layer)))(`Two daily charges of very many on ${store.name}`, (it) => {
    it.effect("stop only those that cannot be paid, also where the account stops some itself", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const { active, made, poor } = yield* withCreditsFor(20)
        // Each takes one step, and waits for the clock.
        const first = yield* Effect.forkChild(credits.chargeDays)
        while ((yield* active).length > 150) yield* Effect.yieldNow
        const second = yield* Effect.forkChild(credits.chargeDays)
        while ((yield* active).length > 50) yield* Effect.yieldNow
        for (const { id } of made.slice(0, 10)) yield* (yield* Subscriptions).deactivate(id, "test")

        const charging = yield* Effect.forkChild(Effect.all([Fiber.join(first), Fiber.join(second)]))
        while (charging.pollUnsafe() === undefined) yield* Effect.andThen(active, TestClock.adjust("1 millis"))
        const charged = yield* Fiber.join(charging)
        const sum = (of: "credits" | "deactivated") => charged.reduce((all, one) => all + one[of], 0)
        assert.deepStrictEqual([sum("credits"), sum("deactivated")], [20 * 200, 220])
        assert.deepStrictEqual(
          yield* active,
          made.slice(10, 30).map(({ id }) => id)
        )
        assert.strictEqual(yield* ledgerAddsUp(poor), 0)
      })
    )
  })

  layer(services.pipe(Layer.provideMerge(store.layer)))(`Daily charges on ${store.name}`, (it) => {
    it.effect("are taken for each day that is over, once, and stop what cannot be paid", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        const subscriptions = yield* Subscriptions
        const { query } = yield* Database
        const start = Date.UTC(2026, 10, 20, 12)
        yield* TestClock.setTime(start)
        const [rich, poor] = [yield* newAccount, yield* newAccount]
        yield* credits.grant({ account: rich, amount: 100_000, detail: "" })
        yield* credits.grant({ account: poor, amount: 500, detail: "" })
        assert.deepStrictEqual(yield* credits.chargeDays, { days: 0, credits: 0, deactivated: 0 })
        yield* subscribe(rich, sepolia, 3)
        yield* subscribe(rich, bitcoinCash, 2)
        const ofPoor = yield* subscribe(poor, sepolia, 3)

        for (const subscription of ofPoor) {
          const [, again] = yield* Seed.callbacks(subscription, 2)
          yield* query((db) => db.updateTable("callback").set({ attempts: 1 }).where("id", "=", again!))
        }

        // Nothing of a day is due before it is over.
        yield* TestClock.setTime(endOfDay(dayOf(start)) - 1)
        assert.deepStrictEqual(yield* credits.chargeDays, { days: 0, credits: 0, deactivated: 0 })

        yield* TestClock.setTime(endOfDay(dayOf(start)))
        const day = 3 * 200 + 2 * 240
        assert.deepStrictEqual(yield* credits.chargeDays, { days: 1, credits: day + 400, deactivated: 1 })
        assert.deepStrictEqual(yield* credits.chargeDays, { days: 0, credits: 0, deactivated: 0 })
        assert.strictEqual(yield* ledgerAddsUp(rich), 100_000 - day)
        assert.strictEqual(yield* ledgerAddsUp(poor), 100)

        // The newest of those that could not be paid for is stopped, and says why.
        const states = yield* Effect.forEach(ofPoor, ({ referenceId }) =>
          subscriptions.get({ account: poor, chain: sepolia, referenceId })
        )
        assert.deepStrictEqual(
          states.map(({ active }) => active),
          [true, true, false]
        )
        assert.deepStrictEqual(
          states[2]!.deactivationReasons.map(({ reason }) => reason),
          ["insufficient_credits"]
        )
        // Its callbacks are held back, those that were tried already too.
        assert.deepStrictEqual(
          yield* Effect.forEach(ofPoor, ({ id }) =>
            Effect.map(Seed.rows(id), (rows) => rows.map(({ attempts, state }) => [state, attempts]))
          ),
          [
            [
              ["due", 0],
              ["due", 1]
            ],
            [
              ["due", 0],
              ["due", 1]
            ],
            [
              ["held", 0],
              ["held", 1]
            ]
          ]
        )

        // Three days later, with a subscription made on the last of them: the others pay for three, it for none yet.
        yield* TestClock.setTime(start + 4 * 86_400_000)
        yield* subscribe(rich, sepolia, 1)
        const caughtUp = yield* credits.chargeDays
        assert.deepStrictEqual(caughtUp, { days: 3, credits: 3 * day, deactivated: 2 })
        assert.strictEqual(yield* ledgerAddsUp(rich), 100_000 - 4 * day)
        const daily = (yield* entries(rich)).filter(({ kind }) => kind === "daily")
        assert.strictEqual(daily.length, 8)
        assert.strictEqual(new Set(daily.map(({ key }) => key)).size, 8)
      })
    )
  })

  // A store counts days for all its accounts, so this test has one to itself, as the one above.
  layer(services.pipe(Layer.provideMerge(store.layer)))(`Daily charges of several on ${store.name}`, (it) => {
    it.effect("are taken once by two processes at the same time", () =>
      Effect.gen(function* () {
        const credits = yield* Credits
        yield* TestClock.setTime(Date.UTC(2027, 0, 1))
        yield* credits.chargeDays
        const account = yield* newAccount
        yield* credits.grant({ account, amount: 10_000, detail: "" })
        yield* subscribe(account, sepolia, 2)
        yield* TestClock.setTime(Date.UTC(2027, 0, 4))
        yield* Effect.forEach([1, 2, 3, 4], () => credits.chargeDays, { concurrency: "unbounded" })
        assert.strictEqual(yield* ledgerAddsUp(account), 10_000 - 3 * 2 * 200)
      })
    )
  })
}

const accounts = 150

for (const { location, name } of taken(import.meta.url)) {
  describe(`Daily charges killed on ${name}`, () => {
    it.live("charge each of three days once for each subscription", () =>
      Effect.gen(function* () {
        const place = yield* location
        const store = place.kind === "sqlite" ? place.file : Redacted.value(place.url)
        const begin = Date.UTC(2026, 5, 1, 12)
        /** The charges at a time, within this process: a program of its own takes two seconds to start. */
        const chargeAt = Effect.fnUntraced(function* (time: number) {
          const clock = yield* Clock.Clock
          const { chargeDays } = yield* Credits
          yield* Effect.provideService(chargeDays, Clock.Clock, {
            ...clock,
            currentTimeMillisUnsafe: () => time,
            currentTimeMillis: Effect.succeed(time)
          })
        })
        /** The same by a program, which is killed as soon as `isEnough`. */
        const run = (time: number, isEnough: Effect.Effect<boolean, DatabaseError>) =>
          Effect.gen(function* () {
            const file = fileURLToPath(new URL("./chargeDays.ts", import.meta.url))
            const child = spawn(process.execPath, [file, store, String(time)], {
              stdio: ["ignore", "ignore", "inherit"]
            })
            const ended = Effect.callback<number | null>((resume) => {
              child.on("close", (code) => resume(Effect.succeed(code)))
            })
            const kill = isEnough.pipe(
              Effect.repeat({ until: (enough) => enough, schedule: Schedule.spaced("1 millis") }),
              Effect.andThen(Effect.sync(() => child.kill("SIGKILL"))),
              Effect.andThen(Effect.never)
            )
            return yield* Effect.raceFirst(ended, kill)
          })
        const open = services.pipe(Layer.provideMerge(Database.layer(place)))

        const ids = yield* Effect.provide(
          Effect.gen(function* () {
            const { grant } = yield* Credits
            const { insertMany, query, read } = yield* Database
            const ids = yield* Effect.forEach(Array.from({ length: accounts }), () => newAccount)
            yield* Effect.forEach(ids, (account) => grant({ account, amount: 10_000, detail: "" }))
            yield* subscribe(ids[0]!, sepolia, 1)
            const [model] = yield* read((db) => db.selectFrom("subscription").selectAll())
            const { id: _, ...row } = { ...model!, created: begin / 1000 }
            yield* query((db) => db.deleteFrom("subscription"))
            const two = (account: number) => [1, 2].map((n) => ({ ...row, account, reference_id: `${account} ${n}` }))
            yield* insertMany("subscription", ids.flatMap(two))
            yield* query((db) => db.deleteFrom("subscription_count"))
            yield* insertMany(
              "subscription_count",
              ids.map((account) => ({ account, chain: row.chain, total: 2 }))
            )
            yield* chargeAt(begin)
            return ids
          }),
          open,
          { local: true }
        )
        const later = begin + 3 * 86_400_000
        yield* Effect.provide(
          Effect.gen(function* () {
            const { read } = yield* Database
            const charged = Effect.map(
              read((db) => db.selectFrom("credit_entry").select("id").where("kind", "=", "daily")),
              ({ length }) => length
            )
            for (let kills = 0; kills < 2; kills++) {
              const before = yield* charged
              yield* run(
                later,
                Effect.map(charged, (count) => count > before)
              )
              assert.isBelow(yield* charged, 3 * accounts, "the run was to be killed before its end")
            }
          }),
          open,
          { local: true }
        )
        yield* Effect.provide(
          Effect.andThen(
            chargeAt(later),
            Effect.forEach(ids, (account) =>
              Effect.gen(function* () {
                assert.strictEqual(yield* ledgerAddsUp(account), 10_000 - 3 * 2 * 200)
                const daily = (yield* entries(account)).filter(({ kind }) => kind === "daily")
                assert.deepStrictEqual(
                  daily.map(({ detail }) => detail),
                  ["ethereum/sepolia 2026-06-01", "ethereum/sepolia 2026-06-02", "ethereum/sepolia 2026-06-03"]
                )
              })
            )
          ),
          open,
          { local: true }
        )
      }).pipe(Effect.scoped)
    )
  })
}
