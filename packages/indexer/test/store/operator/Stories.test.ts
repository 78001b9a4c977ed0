import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Hash from "@headwater/core/Hash"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as OperatorView from "@headwater/indexer/store/operator/OperatorView"
import { rows } from "@headwater/indexer/store/database/Statements"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Plans from "../Plans.ts"
import * as Seed from "../Seed.ts"

const chain = "ethereum/devnet"
const hash = (of: number) => new Uint8Array(32).fill(of)
const text = (of: number) => Hash.encode(Seed.chain, hash(of))
const transaction = text(0xab)

/** A chain with blocks up to 100, of which one was undone. */
const blocks = Effect.gen(function* () {
  const { query } = yield* Database
  const store = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth: 10 })
  yield* store.commit(
    [99, 100].map((height) => ({
      ...{ height, hash: hash(height), parent: hash(height - 1), time: 1_700_000_000 + height },
      ...{ transactions: [], transfers: [], spends: [] }
    }))
  )
  yield* query((db) =>
    db.insertInto("reorganisation").values({ chain: 1, at: 5, fork_height: 99, depth: 1, old_hash: hash(0xee) })
  )
})

/** A subscription to an address with two callbacks at the heights 100 and 101, the first with attempts. */
const subscribed = Effect.fnUntraced(function* (address: Uint8Array, host: string) {
  const { query } = yield* Database
  const account = yield* Seed.account
  const subscription = yield* (yield* Subscriptions).create({
    ...{ account, chain: Seed.chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: address as AddressBytes },
    ...{ callbackUrl: `https://${host}/`, secret: undefined, confirmations: 1, allowDuplicates: true }
  })
  const [first, second] = yield* Seed.callbacks(subscription, 2)
  const minedInBlock = { height: 100, hash: text(100), timestamp: 1_700_000_100 }
  const item = {
    address: Address.encode(Seed.chain, address as AddressBytes),
    transactionId: transaction,
    minedInBlock
  }
  const log = [
    { at: 10, duration: 5, error: "no answer" },
    { at: 20, duration: 7, status: 500, error: "status 500" },
    { at: 30, duration: 9, status: 200 }
  ]
  yield* query((db) =>
    db
      .updateTable("callback")
      .set({
        ...{ state: "delivered", sequence: 1, delivered: 39, created: 8, attempt_log: JSON.stringify(log) },
        body: JSON.stringify({ data: { item } })
      })
      .where("id", "=", first!)
  )
  const key = `${subscription.referenceId}-0`
  return { account, first: first!, second: second!, key, referenceId: subscription.referenceId }
})

for (const store of takenStores(import.meta.url)) {
  const services = Callbacks.layer.pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(store.layer)
  )

  describe(`stories on ${store.name}`, () => {
    it.effect(
      "tell what became of a block, a callback, a transaction and an address, to their account as to operators",
      () =>
        Effect.gen(function* () {
          yield* blocks
          const view = yield* OperatorView.make
          const address = hash(0x11).slice(0, 20)
          const written = Address.encode(Seed.chain, address as AddressBytes)!
          const of = yield* subscribed(address, "one.test")
          const other = yield* Seed.account

          for (const asked of ["100", text(100)]) {
            const block = (yield* view.blockStory(chain, asked, undefined))!
            assert.deepInclude(block, {
              height: 100,
              hash: text(100),
              committed: true,
              confirmations: 1,
              counted: true
            })
            assert.deepStrictEqual(block.callbacks, [{ state: "delivered", count: 1 }])
            assert.deepStrictEqual([block.subscriptionsMatched, block.latest.length], [1, 1])
            assert.deepStrictEqual(block.reorganisations, [{ at: 5, depth: 1, forkHeight: 99, oldHash: text(0xee) }])
          }
          const undone = (yield* view.blockStory(chain, text(0xee), undefined))!
          assert.include(undone.notKept.join(), "The block of this hash has left the chain")
          assert.deepStrictEqual((yield* view.blockStory(chain, "100", of.account))!.subscriptionsMatched, 1)
          assert.deepStrictEqual((yield* view.blockStory(chain, "100", other))!.latest, [])
          assert.isUndefined(yield* view.blockStory(chain, text(0xcc), undefined))
          assert.isUndefined(yield* view.blockStory("no/chain", "100", undefined))

          const callback = (yield* view.callbackStory(of.key, of.account))!
          assert.deepInclude(callback, { outcome: "received", transactionId: transaction })
          assert.deepStrictEqual(callback.block, { chain, height: 100, hash: text(100) })
          // The block's own time is later than the clock of the test.
          assert.deepStrictEqual(
            callback.moments.map(({ at, kind }) => [kind, at]),
            [
              ["event", 8],
              ["attempt", 10],
              ["attempt", 20],
              ["good", 30],
              ["event", 1_700_000_100_000]
            ]
          )
          assert.isUndefined(yield* view.callbackStory(of.key, other))
          assert.isUndefined(yield* view.callbackStory("no such key", undefined))

          const told = (yield* view.transactionStory(chain, transaction, of.account))!
          assert.deepStrictEqual(
            told.callbacks.map(({ idempotencyKey }) => idempotencyKey),
            [of.key]
          )
          assert.deepInclude(told, { found: true, height: 100, complete: false })
          assert.deepInclude((yield* view.transactionStory(chain, transaction, other))!, {
            found: false,
            callbacks: []
          })
          assert.isUndefined(yield* view.transactionStory(chain, "100", undefined))

          const watched = (yield* view.addressStory(chain, written, of.account))!
          assert.deepStrictEqual(
            [watched.subscriptions?.map((one) => one.referenceId), watched.callbacks.length],
            [[of.referenceId], 1]
          )
          assert.isNotNull(watched.watchedFrom)
          // That another account watches the address is not told.
          assert.deepInclude((yield* view.addressStory(chain, written, other))!, {
            subscriptions: [],
            watchedFrom: null
          })

          const kinds = (search: string, scope?: number) =>
            Effect.map(view.search(search, scope), ({ items }) => items.map(({ kind }) => kind))
          for (const scope of [undefined, of.account]) {
            assert.deepStrictEqual(yield* kinds(of.key, scope), ["callback"])
            assert.deepStrictEqual(yield* kinds(written, scope), ["address", "subscription"])
            assert.deepStrictEqual(yield* kinds(of.referenceId, scope), ["subscription"])
            assert.deepStrictEqual(yield* kinds("one.te", scope), ["host", "subscription"])
            assert.deepStrictEqual(yield* kinds("100", scope), ["block"])
            assert.deepStrictEqual(yield* kinds(text(100), scope), ["block"])
            assert.deepStrictEqual(yield* kinds(transaction, scope), ["transaction"])
          }
          for (const search of [of.key, written, of.referenceId, "one.test"]) {
            assert.deepStrictEqual(yield* kinds(search, other), [], search)
          }
          for (const search of ["", " ", "\0", "%", "'", "x".repeat(200)])
            assert.deepStrictEqual(yield* kinds(search), [])
        }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect("read no more of what accounts have than the newest rows, by an index", () =>
      Effect.gen(function* () {
        const { insertMany, query } = yield* Database
        yield* blocks
        const of = yield* subscribed(hash(0x33).slice(0, 20), "three.test")
        const [row] = yield* query((db) => db.selectFrom("callback").selectAll().where("id", "=", of.first))
        const { id: _, ...callback } = row!
        yield* insertMany(
          "callback",
          Array.from({ length: 10_000 }, (_, i) => ({
            ...{ ...callback, account: i % 100, idempotency_key: `bulk ${i}`, sequence: i + 2, body: "{}" },
            feed_position: i % 2 === 0 ? i + 1 : null
          }))
        )
        const waiting = {
          ...{ subscription: row!.subscription, chain: 1, height: 100, due_height: 101, confirmation: 1, target: 1 },
          ...{ each_confirmation: 0, block_hash: hash(100), occurrence: "", item: "{}" }
        }
        yield* insertMany(
          "waiting",
          Array.from({ length: 5_000 }, (_, i) => ({ ...waiting, account: i % 100 }))
        )
        yield* insertMany("waiting", [{ ...waiting, account: of.account }])
        if (store.name === "postgres") yield* query(rows(sql`analyze`))
        const plansOf = (ask: (view: OperatorView.OperatorView) => Effect.Effect<unknown, unknown>) =>
          Plans.of(store.name, Effect.flatMap(OperatorView.make, ask), { run: true })
        const naming = (plans: ReadonlyArray<string>, name: RegExp) => plans.filter((plan) => name.test(plan)).join()
        const ofTransaction = yield* plansOf((view) => view.transactionStory(chain, text(0xac), of.account))
        assert.match(
          naming(ofTransaction, /callback_placed/),
          /callback_placed.*callback_unplaced|callback_unplaced.*callback_placed/
        )
        for (const plan of ofTransaction) assert.notMatch(plan, /TEMP B-TREE|Seq Scan on callback/)
        const ofBlock = yield* plansOf((view) => view.blockStory(chain, "100", of.account))
        const pending = naming(ofBlock, /waiting/)
        assert.match(pending, /waiting_block/)
        assert.match(pending, /account/)
        assert.notMatch(pending, /subscription/)
        const { pending: count } = (yield* (yield* OperatorView.make).blockStory(chain, "100", of.account))!
        assert.strictEqual(count, of.account < 100 ? 51 : 1)

        // A search reads what the text names, and not all that the account has.
        const ofSearch = yield* plansOf((view) => view.search(of.referenceId, of.account))
        for (const plan of ofSearch) assert.notMatch(plan, /subscription_alike|SCAN subscription|SEARCH s USING INDEX/)

        // The newest callbacks are those without a position in the feed, as what is older may have one.
        const view = yield* OperatorView.make
        for (const feed_position of [null, 7]) {
          yield* query((db) =>
            db.updateTable("callback").set({ feed_position, height: null }).where("id", "=", of.first)
          )
          const told = (yield* view.transactionStory(chain, transaction, of.account))!
          assert.deepStrictEqual(
            told.callbacks.map(({ idempotencyKey }) => idempotencyKey),
            [of.key]
          )
        }
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect("tell of a callback that was taken back which retraction did so, and of one that is parked why", () =>
      Effect.gen(function* () {
        const view = yield* OperatorView.make
        const { query } = yield* Database
        const of = yield* subscribed(hash(0x22).slice(0, 20), "two.test")
        yield* query((db) => db.updateTable("callback").set({ state: "retracted" }).where("id", "=", of.first))
        yield* query((db) =>
          db.updateTable("callback").set({ original: of.first, height: null, sequence: 2 }).where("id", "=", of.second)
        )
        const retracted = (yield* view.callbackStory(of.key, undefined))!
        assert.deepStrictEqual(
          [retracted.outcome, retracted.retraction?.idempotencyKey],
          ["retracted", `${of.referenceId}-1`]
        )
        const retraction = (yield* view.callbackStory(`${of.referenceId}-1`, undefined))!
        assert.strictEqual(retraction.retracts?.idempotencyKey, of.key)
        yield* query((db) => db.updateTable("callback").set({ state: "held" }).where("id", "=", of.second))
        const parked = () => Effect.map(view.callbackStory(`${of.referenceId}-1`, undefined), (found) => found!.why)
        assert.strictEqual(yield* parked(), "The account has not verified the host")
        const reasons = JSON.stringify([{ reason: "unpaid", timestamp: 1 }])
        yield* query((db) =>
          db
            .updateTable("subscription")
            .set({ active: 0, deactivation_reasons: reasons })
            .where("reference_id", "=", of.referenceId)
        )
        assert.strictEqual(yield* parked(), "The subscription is inactive: unpaid")
      }).pipe(Effect.provide(services))
    )
  })
}
