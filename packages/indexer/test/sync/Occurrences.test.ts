/**
 * What subscriptions are told, against a plain model of the same happenings: random chains with forks, bursts and empty
 * blocks; subscriptions made, removed, deactivated and activated at random, parking or no more; crashes between any two store operations.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import type { Filter } from "@headwater/core/events/Filter"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"
import { address, FakeChain, type Payment } from "./FakeChain.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const seed = Number(process.env.HEADWATER_SEED ?? Math.floor(Math.random() * 2 ** 31))

const followOptions: Follow.Options = { start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 64 }

interface Wanted {
  readonly event: EventType
  readonly of: number | undefined
  readonly confirmations: number
  readonly filter?: Filter | undefined
}

type Operation =
  | { readonly kind: "mine"; readonly blocks: ReadonlyArray<ReadonlyArray<Payment>>; readonly crash: number }
  | {
      readonly kind: "fork"
      readonly depth: number
      readonly blocks: ReadonlyArray<ReadonlyArray<Payment>>
      readonly crash: number
    }
  | { readonly kind: "subscribe"; readonly wanted: Wanted }
  | { readonly kind: "remove" | "deactivate" | "activate"; readonly which: number }
  | { readonly kind: "endParking" }

const payment = fc.record({ from: fc.nat(3), to: fc.nat(3) })
const blocks = (maxLength: number) => fc.array(fc.array(payment, { maxLength: 3 }), { maxLength })
/** How many store operations succeed before one fails; large numbers never do. */
const crash = fc.oneof(fc.constant(1_000_000), fc.nat(60))
const wanted: fc.Arbitrary<Wanted> = fc.oneof(
  fc.record({
    event: fc.constantFrom(
      "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const,
      "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION" as const
    ),
    of: fc.nat(3),
    confirmations: fc.integer({ min: 1, max: 5 }),
    filter: fc.option(
      fc.record(
        {
          direction: fc.constantFrom("incoming" as const, "outgoing" as const),
          minimumAmount: fc.integer({ min: 0, max: 12 }).map((amount) => Amount.format(BigInt(amount), chain.decimals))
        },
        { requiredKeys: [] }
      ),
      { nil: undefined }
    )
  }),
  fc.constant({ event: "BLOCK_MINED" as const, of: undefined, confirmations: 1 })
)
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("mine" as const), blocks: blocks(5), crash }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("fork" as const), depth: fc.nat(6), blocks: blocks(3), crash })
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("subscribe" as const), wanted }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("remove" as const, "deactivate" as const, "activate" as const),
      which: fc.nat(10)
    })
  },
  { weight: 1, arbitrary: fc.constant({ kind: "endParking" as const }) }
)

/** A subscription in the model, with what it should have been told and what it still waits for. */
interface Subscriber {
  readonly wanted: Wanted
  readonly subscription: Subscription
  active: boolean
  /** The first block that it was not matched against, where that is so. */
  gapFrom: number | undefined
  gaps: Array<string>
  told: Array<{ readonly height: number; readonly event: string }>
  waiting: Array<{ readonly height: number; readonly event: string; next: number }>
}

const hex = (hash: Uint8Array) => `0x${Buffer.from(hash).toString("hex")}`

/** The rules of the interface, applied one block after another to lists. */
class Model {
  subscribers: Array<Subscriber> = []
  chain: Array<FakeChain["tip"]> = []

  follow(blocks: ReadonlyArray<FakeChain["tip"]>) {
    const fork = blocks.findIndex((block, i) => block !== this.chain[i])
    if (fork === -1) return
    for (const subscriber of this.subscribers) {
      subscriber.told = subscriber.told.filter(({ height }) => height < fork)
      subscriber.waiting = subscriber.waiting.filter(({ height }) => height < fork)
    }
    this.chain = this.chain.slice(0, fork)
    for (const block of blocks.slice(fork)) {
      this.chain.push(block)
      for (const subscriber of this.subscribers) this.evaluate(subscriber, block)
    }
  }

  endParking() {
    for (const subscriber of this.subscribers) if (!subscriber.active) subscriber.gapFrom ??= this.chain.length
  }

  activate(subscriber: Subscriber) {
    const { gapFrom, gaps } = subscriber
    const tip = this.chain.length - 1
    if (gapFrom !== undefined && gapFrom <= tip) gaps.push(`${gapFrom} ${tip}`)
    subscriber.active = true
    subscriber.gapFrom = undefined
  }

  private evaluate(subscriber: Subscriber, block: FakeChain["tip"]) {
    const { confirmations, event, filter = {}, of } = subscriber.wanted
    const { direction, minimumAmount } = filter
    const least = minimumAmount === undefined ? 0n : Result.getOrThrow(Amount.parse(minimumAmount, chain.decimals))
    const each = event.endsWith("EACH_CONFIRMATION")
    if (subscriber.gapFrom === undefined) {
      const happened =
        of === undefined
          ? ["block"]
          : block.transfers
              .filter(({ amount }) => amount >= least)
              .flatMap((transfer) => [
                ...(direction !== "incoming" && Buffer.compare(transfer.from!, address(of)) === 0
                  ? [`${transfer.transaction} outgoing`]
                  : []),
                ...(direction !== "outgoing" && Buffer.compare(transfer.to!, address(of)) === 0
                  ? [`${transfer.transaction} incoming`]
                  : [])
              ])
      for (const what of happened) {
        const name = `${hex(block.hash)} ${what}`
        subscriber.waiting.push({ height: block.height, event: name, next: each ? 1 : confirmations })
      }
    }
    for (const wait of subscriber.waiting) {
      if (block.height - wait.height + 1 !== wait.next) continue
      subscriber.told.push({ height: wait.height, event: each ? `${wait.event} ${wait.next}` : wait.event })
      wait.next++
    }
    subscriber.waiting = subscriber.waiting.filter(({ next }) => next <= confirmations)
  }
}

/** A store whose every operation after the first `left` fails, as if the process had been killed there. */
const failing = (database: Database["Service"], left: { count: number }): Database["Service"] => {
  const guard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | DatabaseError, R> =>
    Effect.andThen(
      Effect.suspend(() =>
        left.count-- > 0 ? Effect.void : Effect.fail(new DatabaseError({ cause: new Error("killed") }))
      ),
      effect
    )
  const guarded: Database["Service"] = {
    ...database,
    query: (build) => guard(database.query(build)),
    read: (build) => guard(database.read(build)),
    defer: (build) => guard(database.defer(build)),
    transaction: (self) => database.transaction(Effect.provideService(self, Database, guarded)),
    insertMany: (table, rows, conflict) => guard(database.insertMany(table, rows, conflict)),
    updateEach: (...update) => guard(database.updateEach(...update)),
    selectEach: (types, parameters, select) => guard(database.selectEach(types, parameters, select)),
    takeEach: (table, types, keys, returning) => guard(database.takeEach(table, types, keys, returning)),
    lockRows: (select) => guard(database.lockRows(select)),
    batch: (statements) => guard(database.batch(statements))
  }
  return guarded
}

const told = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("callback")
      .select(["body", "state", "idempotency_key"])
      .where("state", "<>", "orphaned")
      .orderBy("id")
  )
  assert.strictEqual(new Set(rows.map((row) => row.idempotency_key)).size, rows.length)
  return rows.map(({ body, state }) => {
    const { data, referenceId } = JSON.parse(body)
    if (data.event === "BLOCKS_MISSED") {
      return { referenceId, state, event: `${data.item.fromHeight} ${data.item.toHeight}` }
    }
    const { currentConfirmations, direction, hash, minedInBlock, transactionId } = data.item
    const what = minedInBlock === undefined ? "block" : `${transactionId} ${direction}`
    const count = currentConfirmations === undefined ? "" : ` ${currentConfirmations}`
    return { referenceId, state, event: `${minedInBlock?.hash ?? hash} ${what}${count}` }
  })
})

const tables = [
  "chain",
  "block",
  "subscription",
  "subscription_count",
  "waiting",
  "callback",
  "reorganisation"
] as const

for (const store of takenStores(import.meta.url)) {
  describe(`Occurrences on ${store.name}`, () => {
    const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? (store.name === "sqlite" ? 40 : 10))
    const layer = Layer.merge(ChainStatus.layer, Outbox.layer).pipe(
      Layer.provideMerge(Subscriptions.layer),
      // Whoever is inactive has been so for too long when that is looked at.
      Layer.provide(Layer.succeed(Retention, { finishedMillis: 1e12, parkedMillis: 0, parkedCount: 1e6 })),
      Layer.provideMerge(store.layer)
    )

    it.live(
      `are told exactly as a plain model says (${runs} runs, seed ${seed})`,
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Database | ChainStatus | Outbox | Subscriptions>()
          const property = fc.asyncProperty(fc.array(operation, { maxLength: 30 }), (operations) =>
            Effect.gen(function* () {
              const database = yield* Database
              const subscriptions = yield* Subscriptions
              for (const table of tables) yield* database.query((db) => db.deleteFrom(table))
              const fake = new FakeChain(chain)
              const model = new Model()

              const follow = Effect.scoped(
                Effect.gen(function* () {
                  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
                  const { step } = yield* Follow.make(fake.source, store, followOptions)
                  yield* step
                })
              )
              const followUntilDone = (crashAfter: number) =>
                follow.pipe(
                  Effect.provideService(Database, failing(database, { count: crashAfter })),
                  // A killed process is started again, and goes on undisturbed.
                  Effect.catchTag("DatabaseError", () => follow)
                )

              yield* follow
              model.follow(fake.blocks)
              for (const operation of operations) {
                switch (operation.kind) {
                  case "subscribe": {
                    const { confirmations, event, filter, of } = operation.wanted
                    const subscription = yield* subscriptions.create({
                      ...{ account: 1, chain, event, confirmations, filter, secret: undefined, allowDuplicates: true },
                      address: of === undefined ? undefined : address(of),
                      callbackUrl: "https://receiver.test/"
                    })
                    model.subscribers.push({
                      ...{ wanted: operation.wanted, subscription, active: true, gapFrom: undefined },
                      ...{ gaps: [], told: [], waiting: [] }
                    })
                    break
                  }
                  case "mine":
                  case "fork": {
                    const before = fake.tip.height
                    if (operation.kind === "fork") fake.drop(operation.depth)
                    for (const payments of operation.blocks) fake.mine(payments)
                    while (fake.tip.height < before) fake.mine([])
                    yield* followUntilDone(operation.crash)
                    model.follow(fake.blocks)
                    break
                  }
                  case "endParking": {
                    yield* (yield* Outbox).endParking
                    model.endParking()
                    break
                  }
                  default: {
                    if (model.subscribers.length === 0) break
                    const index = operation.which % model.subscribers.length
                    const subscriber = model.subscribers[index]!
                    const { id, referenceId } = subscriber.subscription
                    const key = { account: 1, chain, referenceId }
                    if (operation.kind === "remove") {
                      yield* subscriptions.remove(key)
                      model.subscribers.splice(index, 1)
                    } else if (operation.kind === "deactivate") {
                      yield* subscriptions.deactivate(id, "test")
                      subscriber.active = false
                    } else if (!subscriber.active) {
                      yield* subscriptions.activate(key)
                      model.activate(subscriber)
                    }
                  }
                }
              }
              const expected = model.subscribers.flatMap(({ active, gaps, subscription, told }) => [
                ...gaps.map((event) => ({ referenceId: subscription.referenceId, state: "expired", event })),
                ...told.map(({ event }) => {
                  const [hash, what, ...rest] = event.split(" ")
                  const block = fake.blocks.find((block) => hex(block.hash) === hash)!
                  const subject = what === "block" ? "block" : hex(block.transactions[Number(what)]!)
                  return {
                    referenceId: subscription.referenceId,
                    state: active ? "due" : "held",
                    event: [hash, subject, ...rest].join(" ")
                  }
                })
              ])
              const sorted = (list: ReadonlyArray<object>) => list.map((entry) => JSON.stringify(entry)).sort()
              assert.deepStrictEqual(sorted(yield* told), sorted(expected))
            }).pipe(Effect.provideService(References.MinimumLogLevel, "None"), Effect.runPromiseWith(context))
          )
          yield* Effect.promise(() => fc.assert(property, { numRuns: runs, seed }))
        }).pipe(Effect.provide(layer)),
      { timeout: 3_600_000 }
    )
  })
}
