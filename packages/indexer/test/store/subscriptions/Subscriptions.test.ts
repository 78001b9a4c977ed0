import { assert, layer } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { type NewSubscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenStores } from "../../../../../test/Stores.ts"

const chainNamed = (name: string) => Chain.all.find((chain) => Chain.nameOf(chain) === name)!
const sepolia = chainNamed("ethereum/sepolia")
const bitcoin = chainNamed("bitcoin/regtest")
const untouched = chainNamed("litecoin/regtest")
const address = (byte: number) => new Uint8Array(20).fill(byte) as AddressBytes

const unverified = "unverified.example.com"

const services = Subscriptions.layer.pipe(
  Layer.provide(Layer.succeed(HostPermission, (_, host) => Effect.succeed(host !== unverified))),
  Layer.provideMerge(Accounts.layer)
)

for (const store of takenStores(import.meta.url)) {
  layer(services.pipe(Layer.provideMerge(store.layer)), { excludeTestServices: true })(
    `Subscriptions on ${store.name}`,
    (it) => {
      let accounts = 0
      const newAccount = Effect.gen(function* () {
        return (yield* (yield* Accounts).create(`account ${accounts++}`)).id
      })
      const wanted = (account: number, own: Partial<NewSubscription> = {}): NewSubscription => ({
        account,
        chain: sepolia,
        event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
        address: address(1),
        callbackUrl: "https://example.com/callbacks",
        secret: undefined,
        confirmations: 1,
        allowDuplicates: false,
        ...own
      })
      const chainRow = (chain: Chain.Chain) =>
        Effect.gen(function* () {
          const { read } = yield* Database
          const [row] = yield* read((db) => db.selectFrom("chain").selectAll().where("name", "=", Chain.nameOf(chain)))
          return row!
        })
      const callback = (subscription: number, state: "due" | "held" | "delivered", host = "example.com") =>
        Effect.gen(function* () {
          const { query } = yield* Database
          const { id: chain } = yield* chainRow(sepolia)
          yield* query((db) =>
            db.insertInto("callback").values({
              subscription,
              host,
              chain,
              height: 1,
              idempotency_key: crypto.randomUUID(),
              event: "BLOCK_MINED",
              body: "{}",
              state,
              due: 1,
              attempts: 3,
              created: 1
            })
          )
        })
      const states = (subscription: number) =>
        Effect.gen(function* () {
          const { read } = yield* Database
          const rows = yield* read((db) =>
            db
              .selectFrom("callback")
              .select(["state", "attempts"])
              .where("subscription", "=", subscription)
              .orderBy("id")
          )
          return rows.map(({ attempts, state }) => `${state} ${attempts}`)
        })

      it.effect("gives back what it was given", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const made = yield* subscriptions.create(wanted(account, { secret: "s3cret", confirmations: 7 }))
          assert.deepStrictEqual(
            { ...made, id: 0, referenceId: "", created: 0, address: [...made.address!] },
            {
              id: 0,
              referenceId: "",
              chain: sepolia,
              event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
              address: [...address(1)],
              callbackUrl: "https://example.com/callbacks",
              secret: "s3cret",
              confirmations: 7,
              filter: undefined,
              created: 0,
              active: true,
              deactivationReasons: []
            }
          )
          const read = yield* subscriptions.get({ account, chain: sepolia, referenceId: made.referenceId })
          assert.deepStrictEqual({ ...read, address: [...read.address!] }, { ...made, address: [...made.address!] })
        })
      )

      it.effect("is for the blocks above the chain's height, in one order with the commits", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const { query, read } = yield* Database
          const account = yield* newAccount
          yield* subscriptions.create(wanted(account))
          yield* query((db) => db.updateTable("chain").set({ height: 77 }).where("name", "=", Chain.nameOf(sepolia)))
          const { revision: before } = yield* chainRow(sepolia)
          const made = yield* subscriptions.create(wanted(account, { address: address(2) }))
          const [row] = yield* read((db) => db.selectFrom("subscription").selectAll().where("id", "=", made.id))
          assert.strictEqual(row!.from_height, 77)
          assert.strictEqual(row!.revision, before + 1)
          assert.strictEqual((yield* chainRow(sepolia)).revision, before + 1)
        })
      )

      it.effect("numbers changes that race without a gap, on a chain that nothing was stored of", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const { read } = yield* Database
          const account = yield* newAccount
          const made = yield* Effect.forEach(
            Array.from({ length: 30 }, (_, i) => i),
            (i) => subscriptions.create(wanted(account, { chain: untouched, address: address(i) })),
            { concurrency: "unbounded" }
          )
          const rows = yield* read((db) =>
            db
              .selectFrom("subscription")
              .select(["revision", "from_height"])
              .where("account", "=", account)
              .orderBy("revision")
          )
          assert.strictEqual(made.length, 30)
          assert.deepStrictEqual(
            rows.map(({ revision }) => revision),
            Array.from({ length: 30 }, (_, i) => i + 1)
          )
          assert.isTrue(rows.every(({ from_height }) => from_height === null))
        })
      )

      it.effect("refuses the same subscription, and nothing that differs in any part", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const first = yield* subscriptions.create(wanted(account))
          const again = yield* Effect.flip(subscriptions.create(wanted(account)))
          assert.strictEqual(again._tag === "DuplicateSubscription" && again.referenceId, first.referenceId)
          yield* subscriptions.create(wanted(account, { allowDuplicates: true }))
          yield* subscriptions.create(wanted(account, { address: address(9) }))
          yield* subscriptions.create(wanted(account, { confirmations: 2 }))
          yield* subscriptions.create(wanted(account, { callbackUrl: "https://example.com/other" }))
          yield* subscriptions.create(wanted(account, { event: "ADDRESS_TOKENS_TRANSACTION_CONFIRMED" }))
          yield* subscriptions.create(wanted(account, { chain: bitcoin }))
          yield* subscriptions.create(wanted(yield* newAccount))
          const blocks = { event: "BLOCK_MINED", address: undefined } as const
          yield* subscriptions.create(wanted(account, blocks))
          assert.strictEqual(
            (yield* Effect.flip(subscriptions.create(wanted(account, blocks))))._tag,
            "DuplicateSubscription"
          )
        })
      )

      it.effect("makes one of many that are the same and race", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const results = yield* Effect.forEach(
            Array.from({ length: 20 }),
            () => Effect.result(subscriptions.create(wanted(account))),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(results.filter(({ _tag }) => _tag === "Success").length, 1)
        })
      )

      it.effect("lists pages in the order of creation, with the number of all", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const ids: Array<string> = []
          for (let i = 0; i < 23; i++) {
            ids.push((yield* subscriptions.create(wanted(account, { address: address(i) }))).referenceId)
          }
          yield* subscriptions.create(wanted(yield* newAccount))
          const page = (limit: number, offset: number) =>
            Effect.map(subscriptions.list({ account, chain: sepolia }, { limit, offset }), (page) => ({
              total: page.total,
              ids: page.subscriptions.map(({ referenceId }) => referenceId)
            }))
          for (const limit of [1, 5, 10, 50]) {
            for (let offset = 0; offset < 30; offset++) {
              assert.deepStrictEqual(yield* page(limit, offset), { total: 23, ids: ids.slice(offset, offset + limit) })
            }
          }
          yield* subscriptions.remove({ account, chain: sepolia, referenceId: ids[3]! })
          ids.splice(3, 1)
          assert.deepStrictEqual(yield* page(50, 0), { total: 22, ids })
          assert.deepStrictEqual(yield* subscriptions.list({ account, chain: bitcoin }, { limit: 5, offset: 0 }), {
            total: 0,
            subscriptions: []
          })
        })
      )

      it.effect("holds callbacks back while inactive, and sends them again from the start", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const { id, referenceId } = yield* subscriptions.create(wanted(account))
          const key = { account, chain: sepolia, referenceId }
          yield* callback(id, "due")
          yield* callback(id, "delivered")
          const { revision } = yield* chainRow(sepolia)

          yield* subscriptions.deactivate(id, "maximum_retry_attempts_reached")
          yield* subscriptions.deactivate(id, "another")
          const inactive = yield* subscriptions.get(key)
          assert.isFalse(inactive.active)
          assert.deepStrictEqual(
            inactive.deactivationReasons.map(({ reason }) => reason),
            ["maximum_retry_attempts_reached"]
          )
          assert.deepStrictEqual(yield* states(id), ["held 3", "delivered 3"])
          assert.isAbove((yield* chainRow(sepolia)).revision, revision)

          const active = yield* subscriptions.activate(key)
          assert.isTrue(active.active)
          assert.deepStrictEqual(active.deactivationReasons, [])
          assert.deepStrictEqual(yield* states(id), ["due 0", "delivered 3"])
          assert.strictEqual((yield* Effect.flip(subscriptions.activate(key)))._tag, "SubscriptionActive")
        })
      )

      it.effect("sends nothing to a host that may not receive, also when activated", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const { id, referenceId } = yield* subscriptions.create(
            wanted(account, { callbackUrl: `https://${unverified}/callbacks` })
          )
          yield* callback(id, "due", unverified)
          yield* subscriptions.deactivate(id, "test")
          yield* subscriptions.activate({ account, chain: sepolia, referenceId })
          assert.deepStrictEqual(yield* states(id), ["held 3"])
        })
      )

      it.effect("removes with a subscription all that waits for it", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const { query, read } = yield* Database
          const account = yield* newAccount
          const { id, referenceId } = yield* subscriptions.create(wanted(account))
          const { id: chain } = yield* chainRow(sepolia)
          yield* callback(id, "due")
          yield* query((db) =>
            db.insertInto("waiting").values({
              subscription: id,
              chain,
              height: 1,
              due_height: 2,
              confirmation: 2,
              target: 2,
              each_confirmation: 0,
              block_hash: Uint8Array.of(1),
              occurrence: "o",
              item: "{}"
            })
          )
          yield* subscriptions.remove({ account, chain: sepolia, referenceId })
          assert.deepStrictEqual(yield* states(id), [])
          assert.deepStrictEqual(
            yield* read((db) => db.selectFrom("waiting").select("id").where("subscription", "=", id)),
            []
          )
          assert.strictEqual(
            (yield* Effect.flip(subscriptions.remove({ account, chain: sepolia, referenceId })))._tag,
            "SubscriptionNotFound"
          )
        })
      )

      it.effect("is found by its own account only, and under its own chain only", () =>
        Effect.gen(function* () {
          const subscriptions = yield* Subscriptions
          const account = yield* newAccount
          const { referenceId } = yield* subscriptions.create(wanted(account))
          for (const key of [
            { account: yield* newAccount, chain: sepolia, referenceId },
            { account, chain: bitcoin, referenceId }
          ]) {
            for (const operation of [subscriptions.get, subscriptions.remove, subscriptions.activate]) {
              assert.strictEqual((yield* Effect.flip(operation(key)))._tag, "SubscriptionNotFound")
            }
          }
          assert.isTrue((yield* subscriptions.get({ account, chain: sepolia, referenceId })).active)
        })
      )
    }
  )
}
