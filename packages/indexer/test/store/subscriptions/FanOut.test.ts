import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as EventAbi from "@headwater/core/evm/EventAbi"
import { defaultMaxima, Limits } from "@headwater/indexer/store/accounts/Limits"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { sql } from "kysely"
import { takenStores } from "../../../../../test/Stores.ts"
import * as DeferredMatches from "../../../src/store/subscriptions/internal/DeferredMatches.ts"
import * as Seed from "../Seed.ts"

/** The same blocks on two chains: callbacks of one are written in small steps, of the other by the commits. */
const chains = ["ethereum", "polygon"].map((name) => Result.getOrThrow(Chain.find(name, "devnet")))
/** Steps end within everything, or not. */
const little = fc.record({
  ...{ commit: fc.nat(3), address: fc.nat(2), undo: fc.integer({ min: 1, max: 3 }) },
  ...{ step: fc.integer({ min: 1, max: 60 }), turn: fc.integer({ min: 1, max: 10 }) }
})
const everything = { commit: 1_000_000, address: 1_000_000, undo: 1_000_000, step: 1_000_000, turn: 1_000_000 }

const address = (which: number) => new Uint8Array(20).fill(which + 1) as AddressBytes
const events: ReadonlyArray<readonly [EventType, number]> = [
  ["ADDRESS_COINS_TRANSACTION_CONFIRMED", 1],
  ["ADDRESS_COINS_TRANSACTION_CONFIRMED", 1],
  ["ADDRESS_COINS_TRANSACTION_CONFIRMED", 2],
  ["ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 3],
  ["ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", 1],
  ["CONTRACT_EVENT", 1],
  ["TRANSACTION_MINED", 1],
  ["BLOCK_MINED", 1],
  ["BLOCK_REVERTED", 1]
]

const withoutAddress: ReadonlySet<EventType> = new Set(["TRANSACTION_MINED", "BLOCK_MINED", "BLOCK_REVERTED"])

/** Ids of transactions that blocks have again and again. */
const idOf = (which: number) => new Uint8Array(32).fill(which + 1)

const abi = "event Paid(uint256 number)"

let nonce = 0
const hash = () => {
  const made = new Uint8Array(32)
  new DataView(made.buffer).setUint32(0, ++nonce)
  return made
}

type Action =
  | {
      readonly kind: "subscribe"
      readonly who: number
      readonly where: number
      readonly what: number
      readonly meansLater: boolean
    }
  | { readonly kind: "mine"; readonly pays: ReadonlyArray<number> }
  | { readonly kind: "step"; readonly times: number }
  | { readonly kind: "kill step" }
  | { readonly kind: "send" }
  | { readonly kind: "start again" }
  | { readonly kind: "reorganise"; readonly depth: number; readonly pays: ReadonlyArray<number> }
  | { readonly kind: "deactivate" | "activate" | "remove"; readonly which: number }

/** A payment is to one of the addresses, in one of six forms. */
const places = 6
const pays = fc.array(fc.nat(6 * places - 1), { maxLength: 10 })
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("subscribe" as const),
      ...{ who: fc.nat(2), where: fc.nat(places - 1), what: fc.nat(events.length - 1), meansLater: fc.boolean() }
    })
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("mine" as const), pays }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("step" as const), times: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "kill step" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "send" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "start again" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("reorganise" as const), depth: fc.integer({ min: 1, max: 4 }), pays })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("deactivate" as const, "activate" as const, "remove" as const),
      which: fc.nat(20)
    })
  }
)
const subscribed = fc.array(
  fc.record({
    kind: fc.constant("subscribe" as const),
    who: fc.nat(2),
    where: fc.nat(places - 1),
    what: fc.nat(events.length - 1),
    meansLater: fc.boolean()
  }),
  { minLength: 5, maxLength: 20 }
)
const story = fc.record({
  bounds: little,
  before: subscribed,
  actions: fc.array(action, { minLength: 10, maxLength: 40 })
})

type Story = typeof story extends fc.Arbitrary<infer A> ? A : never

/** How often there was something left to steps; the test would show nothing without. */
let wasBehind = 0

const run = Effect.fnUntraced(function* ({ actions, before, bounds }: Story) {
  const { query, read, transaction } = yield* Database
  const subscriptions = yield* Subscriptions
  const accounts = [yield* Seed.account, yield* Seed.account, yield* Seed.account]
  for (const account of accounts.slice(0, 2)) {
    yield* query((db) => db.updateTable("account").set({ retractions: 1 }).where("id", "=", account))
  }
  const open = Effect.forEach([bounds, everything], (bounds, i) =>
    ChainStore.open(chains[i]!, { record: "watched", undoDepth: 100 }).pipe(
      Effect.provideService(FanOut.Bounds, bounds)
    )
  )
  let opened = yield* open
  const blocks: Array<Block> = []
  const pairs: Array<ReadonlyArray<Subscription>> = []
  const gone = new Set<number>()
  const inactive = new Set<number>()
  /** Confirmations that were not told when blocks left the chain are told in the order of the blocks that came instead. */
  let isInOrder = true

  const isBehind = Effect.gen(function* () {
    const left = yield* read((db) => db.selectFrom("matched").select("id").limit(1))
    const due = yield* read((db) =>
      db
        .selectFrom("waiting")
        .innerJoin("chain", "chain.id", "waiting.chain")
        .select("waiting.id")
        .whereRef("waiting.due_height", "<=", "chain.height")
        .limit(1)
    )
    const undoing = yield* read((db) => db.selectFrom("undoing").select("undone").limit(1))
    return left.length + due.length + undoing.length > 0
  })
  const drain = Effect.gen(function* () {
    for (let i = 0; ; i++) {
      assert.isBelow(i, 10_000)
      const { more } = yield* opened[0]!.fanOut
      if (!more) return
    }
  })
  /** Each once in a block. */
  const idsOf = (pays: ReadonlyArray<number>) =>
    pays.map((pay, i) =>
      pays.findIndex((other) => other % places === pay % places) === i ? idOf(pay % places) : hash()
    )
  const mine = Effect.fnUntraced(function* (pays: ReadonlyArray<number>) {
    const transfers = pays.map((pay, transaction): Transfer => {
      const common = { transaction, from: undefined, to: address(pay % places), amount: BigInt(++nonce) }
      return pay % 6 === 5
        ? { ...common, kind: "internal", from: address(70), operation: "call_0", operationType: "call" }
        : { ...common, kind: "coin", position: 0 }
    })
    const logs = pays.map((pay, transaction) => ({
      ...{ transaction, position: transaction, contract: address(pay % places) },
      ...{ topics: pay % 6 < 4 ? [EventAbi.topicOf(abi)!] : [], data: `0x${pay.toString(16).padStart(64, "0")}` }
    }))
    const last = blocks.at(-1)
    const block: Block = {
      ...{ height: last === undefined ? 10 : last.height + 1, hash: hash(), parent: last?.hash ?? hash() },
      ...{ time: ++nonce, transactions: idsOf(pays), transfers, logs, spends: [] }
    }
    for (const store of opened) yield* store.commit([block])
    blocks.push(block)
    if (yield* isBehind) wasBehind++
  })
  const keyOf = (which: number, i: number) => ({
    ...{ chain: chains[i]!, referenceId: pairs[which]![i]!.referenceId },
    account: accounts[which % 3]!
  })

  const act = Effect.fnUntraced(function* (action: Action) {
    switch (action.kind) {
      case "subscribe": {
        // The account is found again by the number of the subscription.
        const account = accounts[pairs.length % 3]!
        const [event, confirmations] = events[action.what]!
        const pair = yield* Effect.forEach(chains, (chain) =>
          subscriptions.create({
            ...{ account, chain, event, confirmations, secret: undefined, allowDuplicates: true },
            // Amounts grow with the number of things that happened.
            filter: !action.meansLater
              ? undefined
              : event === "CONTRACT_EVENT"
                ? { abi }
                : { minimumAmount: Amount.format(BigInt(nonce + 20), chain.decimals) },
            address: withoutAddress.has(event) ? undefined : address(action.where),
            transactionId: event === "TRANSACTION_MINED" ? idOf(action.where) : undefined,
            callbackUrl: "https://example.com/"
          })
        )
        pairs.push(pair)
        return
      }
      case "mine":
        return yield* mine(action.pays)
      case "step":
        for (let i = 0; i < action.times; i++) yield* opened[0]!.fanOut
        return
      case "kill step":
        yield* Effect.exit(transaction(Effect.andThen(opened[0]!.fanOut, Effect.die("killed"))))
        opened = yield* open
        return
      case "send":
        // As much as a sender may take of the commits' callbacks is written by the steps as well.
        yield* drain
        yield* query((db) =>
          db
            .updateTable("callback")
            .set({ state: "delivered", sequence: sql<number>`id`, attempts: 1 })
            .where("state", "=", "due")
        )
        return
      case "start again":
        opened = yield* open
        return
      case "reorganise": {
        const depth = Math.min(action.depth, blocks.length - 1)
        if (depth < 1) return
        blocks.splice(-depth)
        if (yield* isBehind) isInOrder = false
        for (const store of opened) yield* store.undo(blocks.at(-1)!.height)
        for (let i = 0; i <= depth; i++) yield* mine(i === 0 ? action.pays : [])
        return
      }
      default: {
        const which = action.which % Math.max(1, pairs.length)
        if (pairs[which] === undefined || gone.has(which)) return
        if (action.kind === "deactivate") {
          for (const { id } of pairs[which]!) yield* subscriptions.deactivate(id, "test")
          inactive.add(which)
        } else if (action.kind === "activate") {
          if (!inactive.delete(which)) return
          // While an address has matches to be told, what it activates for is a little more than a commit would have told.
          yield* drain
          for (const i of [0, 1]) yield* subscriptions.activate(keyOf(which, i))
        } else {
          for (const i of [0, 1]) yield* subscriptions.remove(keyOf(which, i))
          gone.add(which)
        }
      }
    }
  })

  for (const action of [...before, ...actions]) yield* act(action)
  yield* drain

  const told = Effect.fnUntraced(function* ({ id }: Subscription) {
    const rows = yield* query((db) =>
      db.selectFrom("callback").selectAll().where("subscription", "=", id).orderBy("id")
    )
    return rows.map(({ body, event, height, state }) => {
      const {
        blockchain: _,
        unit: __,
        revertedIdempotencyKey,
        restoresIdempotencyKey,
        ...item
      } = JSON.parse(body).data.item
      const [isRetraction, isReturn] = [revertedIdempotencyKey, restoresIdempotencyKey].map((key) => key !== undefined)
      return { event, height, state, item, isRetraction, isReturn }
    })
  })
  const inOrder = (all: ReadonlyArray<unknown>) => (isInOrder ? all : all.map((one) => JSON.stringify(one)).sort())
  for (const [steps, commits] of pairs) {
    assert.deepStrictEqual(inOrder(yield* told(steps!)), inOrder(yield* told(commits!)))
  }
  for (const table of ["matched", "fan_out", "undoing", "undone_block"] as const) {
    assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [])
  }
  const pending = yield* query((db) =>
    db
      .selectFrom("waiting")
      .innerJoin("chain", "chain.id", "waiting.chain")
      .select(["chain.name", "waiting.due_height", "waiting.confirmation", "waiting.occurrence"])
      .orderBy("waiting.occurrence")
      .orderBy("waiting.due_height")
      .orderBy("waiting.confirmation")
  )
  const [a, b] = chains.map((chain) =>
    pending.filter(({ name }) => name === Chain.nameOf(chain)).map(({ name: _, ...row }) => row)
  )
  assert.deepStrictEqual(a, b)
}, Effect.scoped)

for (const store of takenStores(import.meta.url)) {
  describe(`FanOut on ${store.name}`, () => {
    const services = Subscriptions.layer.pipe(
      Layer.provide(Layer.succeed(HostPermission, () => Effect.succeed(true))),
      Layer.provideMerge(store.layer)
    )
    it("writes in steps what the commits would have written, through kills and reorganisations", {
      timeout: 600_000
    }, async () => {
      wasBehind = 0
      await fc.assert(
        fc.asyncProperty(story, fc.integer({ min: 1, max: 5 }), (told, most) =>
          Effect.runPromise(
            Effect.provideService(Effect.provide(run(told), services), DeferredMatches.MatchesOfRow, most)
          )
        ),
        { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 2) }
      )
      assert.isAbove(wasBehind, 0)
    })

    it.live("gives every account its turn, and leaves what is little to no step", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const [many, one, elsewhere] = [yield* Seed.account, yield* Seed.account, yield* Seed.account]
        const subscribe = (account: number, where: number) =>
          subscriptions.create({
            ...{ account, chain: chains[0]!, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
            ...{
              secret: undefined,
              allowDuplicates: true,
              address: address(where),
              callbackUrl: "https://example.com/"
            }
          })
        for (let i = 0; i < 30; i++) yield* subscribe(many, 0)
        const { id: second } = yield* subscribe(one, 0)
        const { id: third } = yield* subscribe(elsewhere, 1)
        const opened = yield* Effect.provideService(
          ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { commit: 10, address: 5, undo: 10, step: 20, turn: 10 }
        )
        const toFirst = Array.from({ length: 10 }, (): Transfer => {
          const to = address(0)
          return { kind: "coin", transaction: 0, position: nonce++, from: undefined, to, amount: 1n }
        })
        const toSecond = { ...toFirst[0]!, position: nonce++, to: address(1) } as Transfer
        const block = { height: 1, hash: hash(), parent: hash(), time: 1, transactions: [hash()], spends: [] }
        const written = (subscription: number) =>
          Effect.map(
            query((db) => db.selectFrom("callback").select("id").where("subscription", "=", subscription)),
            (found) => found.length
          )
        const all = Effect.map(
          query((db) => db.selectFrom("callback").select("id")),
          (found) => found.length
        )
        yield* opened.commit([{ ...block, transfers: [...toFirst, toSecond] }])
        assert.strictEqual(yield* written(third), 1)
        assert.strictEqual(yield* all, 1)
        const { callbacks, more } = yield* opened.fanOut
        assert.deepStrictEqual({ callbacks, more }, { callbacks: 20, more: true })
        assert.strictEqual(yield* written(second), 10)
        // The next block's are few and of an address for which nothing is left.
        const next = { ...block, height: 2, hash: hash(), parent: block.hash }
        yield* opened.commit([{ ...next, transfers: [toSecond] }])
        assert.strictEqual(yield* written(third), 2)
        let steps = 1
        while ((yield* opened.fanOut).more) steps++
        assert.strictEqual(yield* all, 312)
        assert.isAtLeast(steps, 15)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("tells the next subscription everything where one is removed that has a part of its callbacks", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const [first, second] = yield* Effect.replicateEffect(
          subscriptions.create({
            ...{ account, chain: chains[0]!, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
            ...{ secret: undefined, allowDuplicates: true, address: address(0), callbackUrl: "https://example.com/" }
          }),
          2
        )
        const opened = yield* Effect.provideService(
          ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { commit: 1, address: 1, undo: 10, step: 3, turn: 3 }
        )
        const transfers = Array.from({ length: 5 }, (): Transfer => {
          return { kind: "coin", transaction: 0, position: nonce++, from: undefined, to: address(0), amount: 1n }
        })
        const block = { height: 1, hash: hash(), parent: hash(), time: 1, transactions: [hash()], spends: [] }
        yield* opened.commit([{ ...block, transfers }])
        assert.strictEqual((yield* opened.fanOut).callbacks, 3)
        yield* subscriptions.remove({ account, chain: chains[0]!, referenceId: first!.referenceId })
        while ((yield* opened.fanOut).more);
        const told = yield* query((db) => db.selectFrom("callback").select("id").where("subscription", "=", second!.id))
        assert.strictEqual(told.length, 5)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("keeps no more of one address in a row than a text can have", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const { id } = yield* subscriptions.create({
          ...{ account: yield* Seed.account, chain: chains[0]!, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" },
          ...{ confirmations: 1, secret: undefined, allowDuplicates: true, address: address(0) },
          callbackUrl: "https://example.com/"
        })
        const opened = yield* ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 })
        const count = 2_500
        const transfers = Array.from({ length: count }, (_, position): Transfer => {
          return { kind: "coin", transaction: 0, position, from: undefined, to: address(0), amount: BigInt(position) }
        })
        const block = { height: 1, hash: hash(), parent: hash(), time: 1, transactions: [hash()], spends: [] }
        yield* opened.commit([{ ...block, transfers }])
        const rows = yield* query((db) => db.selectFrom("matched").select("occurrences"))
        assert.isAbove(rows.length, 1)
        for (const { occurrences } of rows) assert.isBelow(occurrences.length, 2 ** 20)
        while ((yield* opened.fanOut).more);
        const told = yield* query((db) =>
          db.selectFrom("callback").select("body").where("subscription", "=", id).orderBy("id")
        )
        assert.deepStrictEqual(
          told.map(({ body }) => JSON.parse(body).data.item.amount),
          transfers.map((_, position) => Amount.format(BigInt(position), 18))
        )
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("a replay of a block tells nothing that steps or later blocks are still to tell", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const common = { account, chain: chains[0]!, secret: undefined, allowDuplicates: true, address: address(0) }
        const callbackUrl = "https://example.com/"
        const [once, each] = yield* Effect.all([
          subscriptions.create({
            ...{ ...common, callbackUrl, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 }
          }),
          subscriptions.create({
            ...{ ...common, callbackUrl, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION" },
            confirmations: 2
          })
        ])
        const opened = yield* Effect.provideService(
          ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { commit: 1, address: 1, undo: 10, step: 1, turn: 1 }
        )
        const blocks: Array<Block> = []
        for (const height of [1, 2, 3]) {
          const paid: Transfer = {
            ...{ kind: "coin", transaction: 0, position: 0, from: undefined, to: address(0), amount: BigInt(height) }
          }
          const parent = blocks.at(-1)?.hash ?? hash()
          const made = { height, hash: hash(), parent, time: height, transactions: [hash()], spends: [] }
          blocks.push({ ...made, transfers: [paid] })
        }
        yield* opened.commit(blocks.slice(0, 2))
        const replayed = () => opened.reprocess(blocks[1]!, { callbacks: true, internalFrom: undefined })
        const told = (subscription: number) =>
          Effect.map(
            query((db) =>
              db.selectFrom("callback").select("height").where("subscription", "=", subscription).orderBy("id")
            ),
            (found) => found.map(({ height }) => height)
          )
        // Between any two steps, what is left of the second block comes behind the first one's.
        for (let more = true; more; more = (yield* opened.fanOut).more) assert.strictEqual(yield* replayed(), 0)
        yield* opened.commit(blocks.slice(2))
        for (let more = true; more; more = (yield* opened.fanOut).more) assert.strictEqual(yield* replayed(), 0)
        assert.deepStrictEqual(yield* told(once!.id), [1, 2, 3])
        assert.deepStrictEqual(yield* told(each!.id), [1, 1, 2, 2, 3])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("serves all accounts that have little in one step", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        for (let i = 0; i < 8; i++) {
          const account = yield* Seed.account
          const common = { account, chain: chains[0]!, secret: undefined, allowDuplicates: true }
          const callbackUrl = "https://example.com/"
          const blocks = { event: "BLOCK_MINED" as const, confirmations: 1, address: undefined }
          const coins = { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const, confirmations: 2, address: address(0) }
          yield* subscriptions.create({ ...common, ...blocks, callbackUrl })
          yield* subscriptions.create({ ...common, ...coins, callbackUrl })
        }
        const opened = yield* Effect.provideService(
          ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { commit: 10, address: 5, undo: 10, step: 30, turn: 15 }
        )
        const paid: Transfer = {
          ...{ kind: "coin", transaction: 0, position: 0, from: undefined, to: address(0), amount: 1n }
        }
        const first = { height: 1, hash: hash(), parent: hash(), time: 1, transactions: [hash()], spends: [] }
        yield* opened.commit([{ ...first, transfers: [paid, { ...paid, position: 1 }] }])
        assert.strictEqual((yield* opened.fanOut).callbacks, 8)
        yield* opened.commit([{ ...first, height: 2, hash: hash(), parent: first.hash, transfers: [] }])
        // A block that has come, and two confirmations, for each.
        assert.strictEqual((yield* opened.fanOut).callbacks, 8 + 16)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("asks the store for the subscriptions to many addresses together", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const addresses = 60
        // Two for each address: of one the commit tells all.
        const paid = Array.from({ length: 2 * addresses }, (_, i): Transfer => {
          return { kind: "coin", transaction: 0, position: i, from: undefined, to: address(i % addresses), amount: 1n }
        })
        for (let i = 0; i < addresses; i++) {
          const own = { account, chain: chains[0]!, address: address(i), callbackUrl: "https://example.com/" }
          const rest = { confirmations: 1, secret: undefined, allowDuplicates: false }
          yield* subscriptions.create({ ...own, ...rest, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" })
        }
        let statements = 0
        const counted = Effect.sync(() => statements++)
        const database = yield* Database
        const counting: typeof database = Database.of({
          ...database,
          query: (build) => Effect.andThen(counted, database.query(build)),
          selectEach: <A>(...each: Parameters<typeof database.selectEach>) =>
            Effect.andThen(counted, database.selectEach<A>(...each)),
          transaction: (self) => database.transaction(Effect.provideService(self, Database, counting))
        })
        const opened = yield* ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }).pipe(
          Effect.provideService(FanOut.Bounds, { commit: 10, address: 5, undo: 10, step: 100, turn: 25 }),
          Effect.provideService(Database, counting)
        )
        const first = { height: 1, hash: hash(), parent: hash(), time: 1, transactions: [hash()], spends: [] }
        yield* opened.commit([{ ...first, transfers: paid }])
        statements = 0
        assert.strictEqual((yield* opened.fanOut).callbacks, 2 * (addresses - 10))
        assert.isBelow(statements, addresses / 2)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("tells one account's confirmations while another has very many, of lower blocks, at a busy address", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const [many, one] = [yield* Seed.account, yield* Seed.account]
        const subscribe = (account: number, where: number, event: EventType, confirmations: number) =>
          subscriptions.create({
            ...{ account, chain: chains[0]!, event, confirmations, address: address(where) },
            ...{ secret: undefined, allowDuplicates: true, callbackUrl: "https://example.com/" }
          })
        for (let i = 0; i < 30; i++)
          yield* subscribe(many, 0, "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 9)
        const { id } = yield* subscribe(one, 1, "ADDRESS_COINS_TRANSACTION_CONFIRMED", 2)
        const opened = yield* Effect.provideService(
          ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { commit: 10, address: 5, undo: 10, step: 20, turn: 10 }
        )
        const written = (account: number) =>
          Effect.map(
            query((db) => db.selectFrom("callback").select("subscription").where("account", "=", account)),
            (found) => found.length
          )
        let parent = hash()
        const mine = Effect.fnUntraced(function* (height: number, paid: ReadonlyArray<number>) {
          const own = hash()
          const transfers = paid.map((where): Transfer => {
            const to = address(where)
            return { kind: "coin", transaction: 0, position: nonce++, from: undefined, to, amount: 1n }
          })
          const block = { height, hash: own, parent, time: height, transactions: [hash()], spends: [] }
          yield* opened.commit([{ ...block, transfers }])
          parent = own
        })
        const busy = Array.from({ length: 10 }, () => 0)
        // Three blocks of the busy address are far from told when the other one is paid, and there are more with each.
        for (let height = 1; height <= 3; height++) yield* mine(height, busy)
        yield* mine(4, [...busy, 1])
        yield* mine(5, busy)
        yield* opened.fanOut
        yield* opened.fanOut
        assert.deepStrictEqual(
          yield* query((db) => db.selectFrom("callback").select("subscription").where("account", "=", one)),
          [{ subscription: id }]
        )
        assert.isBelow(yield* written(many), 1_000)
        assert.isTrue((yield* opened.fanOut).more)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("leaves callbacks to steps where a block has a thousand beyond one of each address", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        for (const [where, count] of [2, 1, 1, 1].entries()) {
          for (let i = 0; i < count; i++) {
            yield* subscriptions.create({
              ...{ account, chain: chains[0]!, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
              ...{
                address: address(where),
                callbackUrl: "https://example.com/",
                secret: undefined,
                allowDuplicates: true
              }
            })
          }
        }
        const opened = yield* ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 })
        let parent = hash()
        /** How many callbacks the commit of a block with so many payments to each address has written, and left. */
        const written = Effect.fnUntraced(function* (height: number, payments: ReadonlyArray<number>) {
          const transfers = payments.flatMap((count, where) =>
            Array.from({ length: count }, (): Transfer => {
              return {
                kind: "coin",
                transaction: 0,
                position: nonce++,
                from: undefined,
                to: address(where),
                amount: 1n
              }
            })
          )
          const block = { height, hash: hash(), parent, time: 1, transactions: [hash()], transfers, spends: [] }
          parent = block.hash
          yield* opened.commit([block])
          const found = yield* query((db) => db.selectFrom("callback").select("id").where("height", "=", height))
          while ((yield* opened.fanOut).more);
          const all = yield* query((db) => db.selectFrom("callback").select("id").where("height", "=", height))
          return [found.length, all.length - found.length]
        })
        assert.deepStrictEqual(yield* written(1, [0, 1_001]), [1_001, 0])
        assert.deepStrictEqual(yield* written(2, [0, 1_002]), [0, 1_002])
        assert.deepStrictEqual(yield* written(3, [500, 1, 1, 1]), [1_003, 0])
        assert.deepStrictEqual(yield* written(4, [501, 1, 1, 1]), [3, 1_002])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect("passes over an account of which too many callbacks wait, until they are fewer, and nobody else", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const subscriptions = yield* Subscriptions
        const [many, one] = [yield* Seed.account, yield* Seed.account]
        const subscribe = (account: number, event: EventType, confirmations: number) =>
          subscriptions.create({
            ...{ account, chain: chains[0]!, event, confirmations, secret: undefined, allowDuplicates: true },
            ...{ address: address(0), callbackUrl: "https://example.com/" }
          })
        for (let i = 0; i < 8; i++) yield* subscribe(many, "ADDRESS_COINS_TRANSACTION_CONFIRMED", 1)
        for (let i = 0; i < 2; i++) yield* subscribe(many, "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 2)
        yield* subscribe(one, "ADDRESS_COINS_TRANSACTION_CONFIRMED", 1)
        yield* subscribe(one, "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", 2)
        const opened = yield* ChainStore.open(chains[0]!, { record: "watched", undoDepth: 100 }).pipe(
          Effect.provideService(FanOut.Bounds, { commit: 10, address: 5, undo: 10, step: 4, turn: 2 }),
          Effect.provideService(Limits, { ...defaultMaxima, waitingCallbacks: 12 })
        )
        const written = Effect.fnUntraced(function* (account: number) {
          const found = yield* query((db) => db.selectFrom("callback").select("id").where("account", "=", account))
          return found.length
        })
        const steps = Effect.gen(function* () {
          while (true) {
            const { full, more } = yield* opened.fanOut
            // What is known of an account is asked anew.
            yield* TestClock.adjust("2 seconds")
            if (!more) return full
          }
        })
        let parent = hash()
        const mine = Effect.fnUntraced(function* (height: number, payments: number) {
          const transfers = Array.from({ length: payments }, (): Transfer => {
            return { kind: "coin", transaction: 0, position: nonce++, from: undefined, to: address(0), amount: 1n }
          })
          const block = { height, hash: hash(), parent, time: 1, transactions: [hash()], transfers, spends: [] }
          parent = block.hash
          yield* opened.commit([block])
        })
        yield* mine(1, 3)
        assert.strictEqual(yield* steps, 1)
        assert.isAtLeast(yield* written(many), 12)
        assert.isBelow(yield* written(many), 16)
        // What one block has, and both confirmations, for the other account, with its order and without a wait.
        yield* mine(2, 1)
        assert.strictEqual(yield* steps, 1)
        assert.strictEqual(yield* written(one), 3 + 3 + 1 + 3 + 1)
        assert.isBelow(yield* written(many), 16)
        for (let i = 0; i < 40 && (yield* written(many)) < 32 + 8 + 6; i++) {
          yield* query((db) => db.updateTable("callback").set({ state: "delivered" }))
          yield* steps
        }
        assert.strictEqual(yield* written(many), 8 * 4 + 2 * (3 + 3 + 1))
        for (const table of ["matched", "fan_out"] as const) {
          assert.deepStrictEqual(yield* query((db) => db.selectFrom(table).selectAll()), [])
        }
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
}
