/**
 * What a receiver believes that follows `docs/callbacks.md` to the letter, and what a reader of the feed believes,
 * against the chain: over histories with forks that return, rewinds, and receivers that are slow, fail or lose answers.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Hash from "@headwater/core/Hash"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { Database } from "@headwater/indexer/store/database/Database"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains, hostPermission } from "@headwater/indexer/store/subscriptions/Domains"
import type { HostCapacity, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import { address, FakeChain } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const seed = Number(process.env.HEADWATER_SEED ?? 1)
const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 8)
const host = "receiver.test"
const undoDepth = 64

interface Told {
  readonly idempotencyKey: string
  readonly data: { readonly event: string; readonly item: Readonly<Record<string, unknown>> }
}

/** What the receiver has booked, by the steps of the guide. */
class Books {
  readonly #keys = new Set<string>()
  readonly #ended = new Set<string>()
  readonly booked = new Map<string, Told>()

  take(body: string) {
    const told = JSON.parse(body) as Told
    if (this.#keys.has(told.idempotencyKey)) return
    this.#keys.add(told.idempotencyKey)
    const { event, item } = told.data
    if (event.endsWith("_REVERTED")) {
      const key = item.revertedIdempotencyKey as string
      this.#ended.add(key)
      this.booked.delete(key)
    } else if (!this.#ended.has(told.idempotencyKey)) this.booked.set(told.idempotencyKey, told)
  }
}

/** The event as such, whatever the key under which it was told. */
const eventOf = ({ data: { event, item } }: Told) => {
  const { restoresIdempotencyKey: _, ...rest } = item
  return JSON.stringify([event, rest])
}

const kinds = [
  { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
  { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 3 },
  { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", confirmations: 2 },
  { event: "BLOCK_MINED", confirmations: 1 }
] as const

/** Names of what a subscription has to be told of a chain, for those above `from`. */
const expectedOf = (blocks: ReadonlyArray<Block>, from: number, { confirmations, event }: (typeof kinds)[number]) =>
  blocks
    .filter(({ height }) => height > from)
    .flatMap((block) => {
      const hash = Hash.encode(Seed.chain, block.hash)
      if (event === "BLOCK_MINED") return [hash]
      const counts = event.endsWith("EACH_CONFIRMATION") ? [1, 2] : [0]
      const last = event.endsWith("EACH_CONFIRMATION") ? counts : [confirmations]
      const reached = blocks.length - block.height
      return block.transfers.flatMap((_, i) =>
        counts.flatMap((count, j) =>
          last[j]! > reached ? [] : [`${hash} ${Hash.encode(Seed.chain, block.transactions[i]!)} ${count}`]
        )
      )
    })
    .sort()

const nameOf = ({ data: { item } }: Told) => {
  const mined = item.minedInBlock as { readonly hash: string } | undefined
  return mined === undefined
    ? String(item.hash)
    : `${mined.hash} ${item.transactionId} ${item.currentConfirmations ?? 0}`
}

const operations = {
  mine: 6,
  /** The chain goes over to another branch, or back to one that it has left. */
  fork: 4,
  rewind: 1,
  lease: 8,
  accept: 8,
  /** The receiver has booked the callback, and its answer is lost. */
  loseAnswer: 2,
  fail: 3,
  release: 1,
  wait: 3,
  read: 3
} as const

const history = fc.array(
  fc.record({
    operation: fc.oneof(
      ...Object.entries(operations).map(([name, weight]) => ({
        weight,
        arbitrary: fc.constant(name as keyof typeof operations)
      }))
    ),
    which: fc.nat(1000)
  }),
  { minLength: 60, maxLength: 60 }
)

const services = Callbacks.layer.pipe(
  Layer.provideMerge(Outbox.layer),
  Layer.provideMerge(Subscriptions.layer),
  Layer.provideMerge(hostPermission(new Set([host]))),
  Layer.provideMerge(Domains.layer),
  Layer.provideMerge(Accounts.layer),
  Layer.provideMerge(Layer.succeed(Retention, { finishedMillis: 1e12, parkedMillis: 1e12, parkedCount: 1e6 }))
)

/** One reader of a feed: it begins behind a number, reads some pages, and is cut now and then. */
class Reader {
  readonly books = new Books()
  readonly from: number
  after: number

  constructor(from: number) {
    this.from = from
    this.after = from
  }
}

const world = Effect.fnUntraced(function* (store: ChainStore.ChainStore, fake: FakeChain) {
  const accounts = yield* Accounts
  const callbacks = yield* Callbacks
  const outbox = yield* Outbox
  const subscriptions = yield* Subscriptions
  const start = (yield* store.cursor)!.height
  const subscribers: Array<{
    readonly kind: (typeof kinds)[number]
    readonly retractions: boolean
    readonly id: number
    readonly key: { readonly account: number; readonly chain: typeof Seed.chain; readonly referenceId: string }
    readonly books: Books
    readonly readers: Array<Reader>
    /** The entry under each number, as any reader or receiver has seen it. */
    readonly entries: Map<number, string>
  }> = []
  for (const retractions of [true, false]) {
    const account = yield* Seed.account
    yield* accounts.setRetractions(account, retractions)
    for (const kind of kinds) {
      const { id, referenceId } = yield* subscriptions.create({
        ...{ account, chain: Seed.chain, ...kind, secret: undefined, allowDuplicates: true },
        ...{ address: kind.event === "BLOCK_MINED" ? undefined : address(0), callbackUrl: `https://${host}/` }
      })
      const key = { account, chain: Seed.chain, referenceId }
      subscribers.push({ kind, retractions, id, key, books: new Books(), readers: [new Reader(0)], entries: new Map() })
    }
  }
  const byId = new Map(subscribers.map((subscriber) => [subscriber.id, subscriber]))
  const see = ({ entries }: (typeof subscribers)[number], sequence: number, body: string) => {
    assert.strictEqual(entries.get(sequence) ?? body, body, `number ${sequence}`)
    entries.set(sequence, body)
  }

  const branches: Array<ReadonlyArray<Block>> = []
  /** Takes the store to the branch, by a reorganisation where it does not continue what is stored. */
  const follow = Effect.gen(function* () {
    let { hash, height } = (yield* store.cursor)!
    let fork = Math.min(height, fake.tip.height)
    const isShared = (at: number, stored: Uint8Array | undefined) =>
      stored !== undefined && Hash.encode(Seed.chain, stored) === Hash.encode(Seed.chain, fake.blocks[at]!.hash)
    while (!isShared(fork, fork === height ? hash : yield* store.hashAt(fork))) fork--
    if (fork < height) yield* store.undo(fork)
    for (const block of fake.blocks.slice(fork + 1)) yield* store.commit([block])
    ;({ hash, height } = (yield* store.cursor)!)
    assert.strictEqual(height, fake.tip.height)
  })

  const leased: Array<{
    readonly subscription: number
    readonly callback: OutboxMessage
    readonly leasedUntil: number
  }> = []
  const capacity: HostCapacity = {
    ...{ host, limit: 8, batchSize: 3, followOns: [], roundRobinCursor: 0, retriesFirst: false },
    ...{ accountCursor: 0, accounts: new Map(), accountLimit: 8, callbacks: 10_000 }
  }
  const lease = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const found = yield* outbox.lease([capacity], 100)
    for (const { callbacks, leasedUntil, subscription } of found) {
      const underWay = new Set(leased.flatMap((of) => (of.leasedUntil > now ? of.callback.idempotencyKey : [])))
      for (const callback of callbacks) {
        see(byId.get(subscription)!, callback.sequence, callback.body)
        const { revertedIdempotencyKey } = (JSON.parse(callback.body) as Told).data.item
        assert.isFalse(underWay.has(revertedIdempotencyKey as string), "a retraction overtakes what it takes back")
        leased.push({ subscription, callback, leasedUntil })
      }
    }
    return found.length
  })
  const answer = Effect.fnUntraced(function* (which: number, how: "accept" | "loseAnswer" | "fail" | "release") {
    // Answers come in any order among subscriptions; a subscription's callbacks are sent one after another.
    const [of] = leased.splice(which % Math.max(leased.length, 1), 1)
    if (of === undefined) return
    const { callback, subscription } = of
    if (how === "accept" || how === "loseAnswer") byId.get(subscription)!.books.take(callback.body)
    const at = yield* Clock.currentTimeMillis
    const attempt = { at, duration: 1 }
    yield* outbox.acknowledge([
      how === "accept"
        ? { kind: "delivered", callback, attempt: { ...attempt, status: 200 } }
        : how === "release"
          ? { kind: "released", callback }
          : { kind: "retry", callback, attempt, due: at + 20 }
    ])
  })
  const read = Effect.fnUntraced(function* (subscriber: (typeof subscribers)[number], reader: Reader, limit: number) {
    const page = yield* callbacks.list(subscriber.key, { after: reader.after, limit })
    for (const { body, sequence } of page.callbacks) {
      assert.strictEqual(sequence, reader.after + 1)
      see(subscriber, ++reader.after, body)
      reader.books.take(body)
    }
    return page.hasMore
  })

  const happen: Readonly<
    Record<
      keyof typeof operations,
      (which: number) => Effect.Effect<unknown, { readonly _tag: string }, Database | Subscriptions>
    >
  > = {
    mine: (which) => {
      fake.mine(Array.from({ length: which % 3 }, () => ({ from: 9, to: 0 })))
      return follow
    },
    fork: (which) => {
      branches.push([...fake.blocks])
      const other = branches[which % branches.length]!
      if (which % 2 === 0 && other.length > start) fake.blocks = [...other]
      else {
        fake.drop(Math.min(1 + (which % 4), fake.tip.height - start))
        fake.mine(Array.from({ length: which % 2 }, () => ({ from: 9, to: 0 })))
      }
      return follow
    },
    rewind: Effect.fnUntraced(function* (which) {
      const { height } = (yield* store.cursor)!
      yield* store.rewind(Math.max(start, height - 1 - (which % 4)))
      if (which % 3 === 0) {
        fake.drop(Math.min(1 + (which % 4), fake.tip.height - start))
        fake.mine([{ from: 9, to: 0 }])
      }
      if (which % 2 === 0) yield* follow
    }),
    lease: () => lease,
    accept: (which) => answer(which, "accept"),
    loseAnswer: (which) => answer(which, "loseAnswer"),
    fail: (which) => answer(which, "fail"),
    release: (which) => answer(which, "release"),
    wait: (which) => TestClock.adjust(which % 50),
    read: Effect.fnUntraced(function* (which) {
      const subscriber = subscribers[which % subscribers.length]!
      const { entries, readers } = subscriber
      if (which % 5 === 0) readers.push(new Reader(which % (entries.size + 1)))
      yield* read(subscriber, readers[which % readers.length]!, 1 + (which % 4))
    })
  }

  /** Everything is told, accepted and read; what is believed then is what the chain has. */
  const end = Effect.gen(function* () {
    for (let i = 0; i < 3; i++) fake.mine([])
    yield* follow
    do {
      while (leased.length > 0) yield* answer(0, "accept")
      yield* TestClock.adjust(200)
    } while ((yield* lease) > 0)
    for (const subscriber of subscribers) {
      const { books, entries, kind, readers, retractions } = subscriber
      const expected = expectedOf(fake.blocks, start, kind)
      const believed = (of: Books) => [...of.booked.values()].map(nameOf).sort()
      const about = `${kind.event} ${kind.confirmations}, retractions ${retractions ? "on" : "off"}`
      const check = (of: Books, wanted: ReadonlyArray<string>, who: string) => {
        const has = believed(of)
        assert.strictEqual(
          new Set([...of.booked.values()].map(eventOf)).size,
          has.length,
          `${who} books once: ${about}`
        )
        // Without retractions nobody takes back what a block told that has left.
        const known = retractions ? has : has.filter((name) => wanted.includes(name))
        assert.deepStrictEqual(known, wanted, `${who}: ${about}`)
      }
      check(books, expected, "receiver")
      const all = new Reader(0)
      for (const reader of [...readers, all]) {
        while (yield* read(subscriber, reader, 7));
        const told = new Books()
        for (const [sequence, body] of [...entries].sort(([a], [b]) => a - b))
          if (sequence > reader.from) told.take(body)
        const since = new Set(believed(told))
        check(reader.books, reader === all ? expected : expected.filter((name) => since.has(name)), "reader")
      }
      assert.deepStrictEqual(
        [...entries.keys()].sort((a, b) => a - b),
        Array.from({ length: all.after }, (_, i) => i + 1)
      )
    }
    for (const { key } of subscribers) yield* subscriptions.remove(key)
    return subscribers.reduce((sum, { entries }) => sum + entries.size, 0)
  })
  return { happen, end }
})

for (const store of takenStores(import.meta.url)) {
  describe(`What subscriptions are told on ${store.name}`, () => {
    it.effect(`is what the chain has in the end (seed ${seed})`, () =>
      Effect.gen(function* () {
        const fake = new FakeChain(Seed.chain)
        const chain = yield* ChainStore.open(Seed.chain, { record: "watched", undoDepth })
        yield* chain.commit([fake.tip])
        const histories = fc.sample(history, { numRuns: store.name === "sqlite" ? runs : Math.ceil(runs / 4), seed })
        let told = 0
        for (const [number, events] of histories.entries()) {
          const { end, happen } = yield* world(chain, fake)
          for (const { operation, which } of events) yield* happen[operation](which)
          told += yield* end.pipe(
            Effect.catchDefect((defect) =>
              Effect.die(new Error(`History ${number} of seed ${seed}: ${String(defect)}`))
            )
          )
        }
        console.log(`${store.name}: ${histories.length} histories, ${told} entries, 0 wrong`)
      }).pipe(Effect.scoped, Effect.provide(services.pipe(Layer.provideMerge(store.layer))))
    )
  })
}
