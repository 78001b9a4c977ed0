import { setTimeout } from "node:timers/promises"
import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Filter } from "@headwater/core/events/Filter"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { type Coin, keyOf } from "@headwater/core/utxo/Coin"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { Mempool, MempoolTransaction, Output } from "@headwater/indexer/families/SideSources"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as UtxoSet from "@headwater/indexer/store/chain/UtxoSet"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import * as Activation from "@headwater/indexer/store/subscriptions/internal/Activation"
import * as Gaps from "@headwater/indexer/store/subscriptions/internal/Gaps"
import * as ListActivation from "@headwater/indexer/store/subscriptions/ListActivation"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as MempoolWatch from "@headwater/indexer/sync/MempoolWatch"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as References from "effect/References"
import * as Result from "effect/Result"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"
import { chain, chainOf, owner } from "../families/utxo/Owners.ts"
import { UtxoChain } from "../families/utxo/UtxoChain.ts"

const script = (number: number): AddressBytes =>
  Address.fromBytes(Uint8Array.from([0x00, 0x14, ...new Array(19).fill(7), number]))
const text = (number: number) => Address.encode(chain, script(number))
const idOf = (number: number) => {
  const id = new Uint8Array(32)
  new DataView(id.buffer).setUint32(0, number)
  return id
}
const hex = (number: number) => Buffer.from(idOf(number)).toString("hex")

/** A transaction: outputs by owner and amount; inputs by the number and output of the transaction that they spend. */
const transaction = (
  number: number,
  spends: ReadonlyArray<readonly [number, number]>,
  pays: ReadonlyArray<readonly [number, bigint]>
): MempoolTransaction => ({
  id: idOf(number),
  transfers: pays.map(([owner, amount], position) => ({
    ...{ kind: "coin", transaction: 0, position, from: undefined },
    ...{ to: script(owner), amount }
  })),
  spends: spends.map(([spent, index], position) => ({
    transaction: 0,
    position,
    outpoint: { transactionId: idOf(spent), index }
  }))
})

/** A node's mempool and mined outputs, as a test fills them. */
class Node {
  readonly waiting = new Map<string, MempoolTransaction>()
  readonly mined = new Map<string, Output>()
  readonly times = new Map<string, number>()
  hasOutputs = true
  tip: Uint8Array = new Uint8Array(32)
  fetched: Array<string> = []
  /** Runs while transactions are fetched. */
  meanwhile: () => void = () => {}
  broken = false
  /** Ids that are listed beside those that wait. */
  listed: ReadonlyArray<string> = []

  add(number: number, ...rest: [Parameters<typeof transaction>[1], Parameters<typeof transaction>[2]]) {
    this.waiting.set(hex(number), transaction(number, ...rest))
    this.times.set(hex(number), 1_000)
  }
  mine(number: number) {
    const { id, transfers } = this.waiting.get(hex(number))!
    this.waiting.delete(hex(number))
    for (const { amount, position, to } of transfers) this.coin(Buffer.from(id), position, to!, amount)
  }
  coin(id: Uint8Array, index: number, owner: AddressBytes, amount: bigint) {
    this.mined.set(`${Buffer.from(id).toString("hex")}:${index}`, { script: owner, amount })
  }
  get mempool(): Mempool {
    return {
      ids: Effect.suspend(() =>
        this.broken
          ? Effect.fail(new NodeUnreachable({ node: "fake", method: "getrawmempool", message: "gone" }))
          : Effect.succeed([...new Set([...this.waiting.keys(), ...this.listed])])
      ),
      transactions: (ids) =>
        Effect.sync(() => {
          this.fetched.push(...ids)
          const found = ids.flatMap((id) => this.waiting.get(id) ?? [])
          this.meanwhile()
          return found
        }),
      tip: Effect.sync(() => this.tip),
      timeOf: (id) => Effect.sync(() => this.times.get(id)),
      outputs: (outpoints) =>
        Effect.sync(() =>
          this.hasOutputs
            ? outpoints.map(({ index, transactionId }) =>
                this.mined.get(`${Buffer.from(transactionId).toString("hex")}:${index}`)
              )
            : undefined
        )
    }
  }
}

const subscribe = Effect.fnUntraced(function* (owner: number, filter?: Filter) {
  const subscriptions = yield* Subscriptions
  return yield* subscriptions.create({
    account: 1,
    chain,
    event: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED",
    address: script(owner),
    filter,
    callbackUrl: "https://receiver.test/",
    secret: undefined,
    confirmations: 1,
    allowDuplicates: true
  })
})

const newList = Effect.gen(function* () {
  const { createList } = yield* Subscriptions
  return yield* createList({
    ...{ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED", address: undefined, confirmations: 0 },
    ...{ callbackUrl: "https://receiver.test/", secret: undefined, allowDuplicates: true }
  })
})
const addTo = Effect.fnUntraced(function* (list: Subscription, addresses: ReadonlyArray<AddressBytes>) {
  const { transaction } = yield* Database
  const key = { account: 1, chain, referenceId: list.referenceId }
  yield* transaction(AddressLists.add(key, addresses, () => Effect.void))
})

/** `<reference> <transaction> <direction> <amount>` of every callback, in order. */
const told = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query((db) => db.selectFrom("callback").selectAll().orderBy("id"))
  return rows.map((row) => {
    const { data, referenceId } = JSON.parse(row.body)
    assert.isNull(row.height)
    assert.strictEqual(row.state, "due")
    assert.strictEqual(data.event, "ADDRESS_COINS_TRANSACTION_UNCONFIRMED")
    const { address, amount, direction, firstSeenInMempoolTimestamp, transactionId, unit } = data.item
    assert.strictEqual(unit, "LTC")
    assert.strictEqual(firstSeenInMempoolTimestamp, 1_000)
    return { referenceId, event: `${address} ${transactionId} ${direction} ${amount}` }
  })
})

const event = (owner: number, number: number, direction: string, amount: string) =>
  `${text(owner)} ${hex(number)} ${direction} ${amount}`

const options = { pollInterval: Duration.seconds(1) }

/** The first block, committed. */
const enterBlock = Effect.gen(function* () {
  const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 10 })
  // Not the first block, which would prove every coin.
  const block = new UtxoChain(chain).mine([])
  yield* chainStore.commit([block])
  return block
})

/** Owners of P2WPKH addresses. */
const owners = [0, 2, 4, 6, 8].map(owner)
const ownerOf = (address: AddressBytes) => owners.findIndex(({ script }) => Bytes.equal(script, address))

/** What happens between two looks at the mempool. */
const moment = fc.record({
  subscribe: fc.option(fc.nat(2), { nil: undefined }),
  /** The coins of an owner are searched for at the node. */
  search: fc.option(fc.nat(2), { nil: undefined }),
  payments: fc.array(
    fc.record({
      spends: fc.array(fc.nat(1000), { maxLength: 3 }),
      pays: fc.array(fc.record({ owner: fc.nat(4), amount: fc.integer({ min: 1, max: 9 }) }), {
        minLength: 1,
        maxLength: 3
      })
    }),
    { maxLength: 4 }
  ),
  /** Payments that the node has mined, and whose block the store does not have yet. */
  ahead: fc.array(fc.nat(4), { maxLength: 2 }),
  hasOutputs: fc.boolean(),
  /** Whether the transactions are mined and committed while they are fetched. */
  overtaken: fc.boolean()
})
type Moment = typeof moment extends fc.Arbitrary<infer A> ? A : never

/** A coin of an address that is watched for unconfirmed coins alone is mined, and spent by the next transaction with others. */
const stillWatched: ReadonlyArray<Moment> = [
  { subscribe: 1, search: 1, payments: [], ahead: [1], hasOutputs: false, overtaken: false },
  {
    ...{ subscribe: undefined, search: undefined, ahead: [0], hasOutputs: false, overtaken: false },
    payments: [{ spends: [], pays: [{ owner: 1, amount: 1 }] }]
  },
  {
    ...{ subscribe: undefined, search: undefined, ahead: [], hasOutputs: false, overtaken: false },
    payments: [{ spends: [0, 0, 0], pays: [{ owner: 0, amount: 1 }] }]
  }
]

const agreesOver = Effect.fnUntraced(
  function* (moments: ReadonlyArray<Moment>) {
    const { query, transaction: within } = yield* Database
    const tables = ["callback", "subscription", "unspent_output", "spent_output", "unresolved_event"] as const
    for (const table of ["address_list", "listed_address"] as const) yield* query((db) => db.deleteFrom(table))
    for (const table of [...tables, "completeness", "block"] as const) yield* query((db) => db.deleteFrom(table))
    yield* query((db) => db.deleteFrom("chain"))
    const fake = chainOf(owners)
    const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 10 })
    const { id } = (yield* ChainRow.present(chain))!
    yield* chainStore.commit([fake.tip])
    const subscribed = new Set<number>()
    let waiting: ReadonlyArray<MempoolTransaction> = []
    let outputs = new Map<string, Output>()
    let hasOutputs = true
    let meanwhile: Effect.Effect<void> = Effect.void
    const { step } = yield* MempoolWatch.make(
      chain,
      {
        ids: Effect.sync(() => waiting.map(({ id }) => Buffer.from(id).toString("hex"))),
        transactions: (ids) =>
          Effect.andThen(
            meanwhile,
            Effect.sync(() => waiting.filter(({ id }) => ids.includes(Buffer.from(id).toString("hex"))))
          ),
        tip: Effect.sync(() => fake.tip.hash),
        timeOf: () => Effect.succeed(2_000_000_000),
        outputs: (outpoints) =>
          Effect.sync(() => (hasOutputs ? outpoints.map((outpoint) => outputs.get(keyOf(outpoint))) : undefined))
      },
      { pollInterval: Duration.seconds(1) }
    )
    const expected = new Set<string>()
    const list = yield* newList

    for (const { ahead, payments, search, subscribe: owner, ...now } of moments) {
      if (owner !== undefined && !subscribed.has(owner)) {
        subscribed.add(owner)
        if (owner > 0) yield* addTo(list, [owners[owner]!.script])
        else
          yield* (yield* Subscriptions).create({
            ...{ account: 1, chain, address: owners[owner]!.script, callbackUrl: "https://receiver.test/" },
            ...{ event: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED", secret: undefined, confirmations: 1 },
            allowDuplicates: true
          })
      }
      if (search !== undefined && subscribed.has(search)) {
        const { script } = owners[search]!
        const { coins, height } = fake.search([script])
        yield* within(Effect.andThen(UtxoSet.add(id, coins, []), Completeness.prove(id, "coins", [script], height + 1)))
      }
      const lag = fake.mine(
        ahead.map((owner) => ({ spends: [], pays: [{ to: owners[owner]!.script, amount: 1_000n }] }))
      )
      if (ahead.length === 0) yield* chainStore.commit([lag])

      hasOutputs = now.hasOutputs
      outputs = new Map(fake.coins.map((coin) => [keyOf(coin.outpoint), coin]))
      const free: Array<Omit<Coin, "height">> = [...fake.coins]
      const made = payments.map(({ pays, spends }, number) => {
        const coins = spends.flatMap((choice) => (free.length === 0 ? [] : free.splice(choice % free.length, 1)))
        const paid = pays.map(({ amount, owner }) => ({ to: owners[owner]!.script, amount: BigInt(amount) }))
        const transactionId = fake.nextId(number)
        free.push(
          ...paid.map(({ amount, to: script }, index) => ({ outpoint: { transactionId, index }, script, amount }))
        )
        return { coins, pays: paid, transactionId }
      })
      waiting = made.map(({ coins, pays, transactionId }) => ({
        id: transactionId,
        transfers: pays.map(({ amount, to }, position) => ({
          ...{ kind: "coin", transaction: 0, position, from: undefined, to, amount }
        })),
        spends: coins.map(({ outpoint, script }, position) => ({
          ...{ transaction: 0, position, outpoint, unlocking: () => owners[ownerOf(script)]!.unlocking }
        }))
      }))
      const enter = Effect.suspend(() => {
        const block = fake.mine(
          made.map(({ coins, pays }) => ({ spends: coins.map(({ outpoint }) => outpoint), pays }))
        )
        return chainStore.commit(ahead.length === 0 ? [block] : [lag, block])
      }).pipe(Effect.orDie)
      let entered = false
      meanwhile = Effect.suspend(() => {
        if (!now.overtaken || entered) return Effect.void
        entered = true
        outputs = new Map()
        return Effect.asVoid(enter)
      })
      yield* step
      const all = (yield* query((db) => db.selectFrom("callback").select("body"))).map(({ body }) => {
        const { address, amount, direction, transactionId } = JSON.parse(body).data.item
        return `${address} ${transactionId} ${direction} ${amount}`
      })
      const told = new Set(all)
      assert.lengthOf(all, told.size, "each once")
      for (const { coins, pays, transactionId } of made) {
        for (const owner of subscribed) {
          const { script } = owners[owner]!
          const spent = coins.filter((coin) => ownerOf(coin.script) === owner)
          const paid = pays.filter(({ to }) => ownerOf(to) === owner)
          if (spent.length + paid.length === 0) continue
          const total = (of: ReadonlyArray<{ readonly amount: bigint }>) =>
            of.reduce((sum, { amount }) => sum + amount, 0n)
          const net = total(paid) - total(spent)
          const line = [
            ...[Address.encode(chain, script), Buffer.from(transactionId).toString("hex")],
            ...[net > 0n ? "incoming" : "outgoing", Amount.format(net < 0n ? -net : net, 8)]
          ].join(" ")
          expected.add(line)
          if (spent.length === 0 || (hasOutputs && !now.overtaken)) assert.isTrue(told.has(line), `${line} is told`)
        }
      }
      for (const line of told) assert.isTrue(expected.has(line), `${line} is true`)
      if (!entered) yield* enter
      waiting = []
    }
  },
  Effect.scoped,
  Effect.provideService(References.MinimumLogLevel, "Error")
)

for (const store of takenStores(import.meta.url)) {
  const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))
  const start = Effect.fnUntraced(function* (node: Node) {
    yield* TestClock.setTime(1_000_000)
    yield* ChainStore.open(chain, { record: "watched", undoDepth: 10 })
    return yield* MempoolWatch.make(chain, node.mempool, options)
  })

  describe(`MempoolWatch on ${store.name}`, () => {
    it.effect("does not ask the node where nobody wants to know", () =>
      Effect.gen(function* () {
        const node = new Node()
        node.broken = true
        const { step } = yield* start(node)
        yield* step
        const subscription = yield* subscribe(1)
        assert.strictEqual((yield* Effect.flip(step))._tag, "NodeUnreachable")
        yield* (yield* Subscriptions).remove({ account: 1, chain, referenceId: subscription.referenceId })
        yield* step
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("tells the net of each address once, over restarts, whatever the inputs spend", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { size, step } = yield* start(node)
        yield* subscribe(1)
        yield* subscribe(2)
        // A mined coin of 1, 50: 20 to 2, 29 back; then its change and that of an unconfirmed parent on to 2.
        node.coin(idOf(100), 3, script(1), 50n)
        node.add(
          1,
          [[100, 3]],
          [
            [2, 20n],
            [1, 29n]
          ]
        )
        yield* step
        node.add(
          2,
          [[1, 1]],
          [
            [9, 9n],
            [2, 19n]
          ]
        )
        node.add(3, [[2, 0]], [[1, 8n]])
        yield* step
        yield* step
        const expected = [
          event(2, 1, "incoming", "0.0000002"),
          event(1, 1, "outgoing", "0.00000021"),
          event(1, 2, "outgoing", "0.00000029"),
          event(2, 2, "incoming", "0.00000019"),
          event(1, 3, "incoming", "0.00000008")
        ]
        assert.deepStrictEqual((yield* told).map(({ event }) => event).sort(), [...expected].sort())
        assert.strictEqual(size(), 3)
        const restarted = yield* MempoolWatch.make(chain, node.mempool, options)
        yield* restarted.step
        assert.strictEqual((yield* told).length, expected.length)
        assert.strictEqual(restarted.size(), 3)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("forgets what is mined, replaced or evicted, and fetches nothing twice", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { size, step } = yield* start(node)
        yield* subscribe(1)
        node.coin(idOf(9_000), 0, script(5), 50n)
        for (let number = 1; number <= 1_200; number++) node.add(number, [], [[number === 7 ? 1 : 3, 5n]])
        node.add(2_000, [[9_000, 0]], [[1, 10n]])
        yield* step
        assert.strictEqual(size(), 1_201)
        assert.strictEqual(node.fetched.length, 1_201)
        node.waiting.delete(hex(2_000))
        node.add(2_001, [[9_000, 0]], [[1, 11n]])
        for (let number = 1; number <= 1_000; number++) node.mine(number)
        yield* step
        assert.strictEqual(size(), 201)
        assert.strictEqual(node.fetched.length, 1_202)
        assert.deepStrictEqual(
          (yield* told).map(({ event }) => event),
          [
            event(1, 7, "incoming", "0.00000005"),
            event(1, 2_000, "incoming", "0.0000001"),
            event(1, 2_001, "incoming", "0.00000011")
          ]
        )
        // Evicted and back again: it is the same transaction.
        node.waiting.delete(hex(2_001))
        yield* step
        node.add(2_001, [[9_000, 0]], [[1, 11n]])
        yield* step
        assert.strictEqual((yield* told).length, 3)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect(
      "looks again at what is listed and not shown: the answers may be of two nodes, or a block leaves meanwhile",
      () =>
        Effect.gen(function* () {
          const node = new Node()
          const { step } = yield* start(node)
          yield* subscribe(1)
          node.coin(idOf(9_000), 0, script(5), 50n)
          node.add(1, [[9_000, 0]], [[1, 5n]])
          const shown = node.waiting.get(hex(1))!
          node.waiting.delete(hex(1))
          node.listed = [hex(1)]
          yield* step
          assert.deepStrictEqual(yield* told, [])
          node.waiting.set(hex(1), shown)
          yield* step
          assert.deepStrictEqual(
            (yield* told).map(({ event }) => event),
            [event(1, 1, "incoming", "0.00000005")]
          )
        }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("makes no event of half of a transaction: it waits until every input is known", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { step } = yield* start(node)
        yield* subscribe(1)
        node.coin(idOf(100), 0, script(1), 50n)
        node.add(
          1,
          [[100, 0]],
          [
            [2, 30n],
            [1, 19n]
          ]
        )
        yield* step
        // The parent is mined between the two answers of the node, whose outputs do not show it yet.
        node.add(2, [[1, 1]], [[1, 18n]])
        node.meanwhile = () => {
          node.waiting.delete(hex(1))
        }
        yield* step
        const first = event(1, 1, "outgoing", "0.00000031")
        assert.deepStrictEqual(
          (yield* told).map(({ event }) => event),
          [first]
        )
        node.meanwhile = () => {}
        node.coin(idOf(1), 1, script(1), 19n)
        yield* step
        assert.deepStrictEqual(
          (yield* told).map(({ event }) => event),
          [first, event(1, 2, "outgoing", "0.00000001")]
        )
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect(
      "of inputs that nobody knows, and may be the address's own, makes no event until all of its coins are known",
      () =>
        Effect.gen(function* () {
          const { insertMany, query } = yield* Database
          const node = new Node()
          node.hasOutputs = false
          const { step } = yield* start(node)
          const { height, hash } = yield* enterBlock
          yield* subscribe(1)
          node.tip = hash
          yield* insertMany("unspent_output", [
            { chain: 1, transaction_id: idOf(100), output_index: 0, script: script(1), amount: "50", height }
          ])
          node.add(
            1,
            [
              [100, 0],
              [101, 0]
            ],
            [[1, 20n]]
          )
          yield* step
          assert.deepStrictEqual(yield* told, [])
          yield* query((db) => db.updateTable("completeness").set({ coins: height + 1 }))
          // The node has a block more, which may have had the coin.
          node.tip = idOf(9)
          yield* step
          assert.deepStrictEqual(yield* told, [])
          node.tip = hash
          yield* step
          assert.deepStrictEqual(
            (yield* told).map(({ event }) => event),
            [event(1, 1, "outgoing", "0.0000003")]
          )
        }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("over random histories tells nothing but the truth, and a stranger's deposit at once", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Database | Subscriptions>()
        const property = fc.asyncProperty(fc.array(moment, { minLength: 3, maxLength: 10 }), (moments) =>
          Effect.runPromiseWith(context)(agreesOver(moments))
        )
        const numRuns = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 8)
        yield* Effect.promise(() => fc.assert(property, { numRuns, examples: [[stillWatched]] }))
      }).pipe(Effect.provide(layer))
    )

    it.effect("tells a subscription of what arrives after it, and not of what waited already", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { step } = yield* start(node)
        yield* subscribe(2)
        node.add(1, [], [[1, 5n]])
        yield* step
        yield* TestClock.adjust("2 hours")
        const late = yield* subscribe(1)
        node.add(2, [], [[1, 6n]])
        yield* step
        const expected = [{ referenceId: late.referenceId, event: event(1, 2, "incoming", "0.00000006") }]
        assert.deepStrictEqual(yield* told, expected)
        // Nor after a restart, when both are new to the process.
        node.waiting.delete(hex(2))
        yield* (yield* MempoolWatch.make(chain, node.mempool, options)).step
        assert.deepStrictEqual(yield* told, expected)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("tells a subscription that was made while the node listed what waits", () =>
      Effect.gen(function* () {
        const node = new Node()
        yield* start(node)
        yield* subscribe(2)
        const asked = yield* Deferred.make<void>()
        const answered = yield* Deferred.make<void>()
        const ids = Deferred.done(asked, Exit.void).pipe(
          Effect.andThen(Deferred.await(answered)),
          Effect.andThen(node.mempool.ids)
        )
        const { step } = yield* MempoolWatch.make(chain, { ...node.mempool, ids }, options)
        const looking = yield* Effect.forkScoped(step)
        yield* Deferred.await(asked)
        const meanwhile = yield* subscribe(1)
        node.add(1, [], [[1, 5n]])
        yield* Deferred.done(answered, Exit.void)
        yield* Fiber.join(looking)
        yield* step
        assert.deepStrictEqual(yield* told, [
          { referenceId: meanwhile.referenceId, event: event(1, 1, "incoming", "0.00000005") }
        ])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("tells a list of each of its addresses what arrives after that address", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { step } = yield* start(node)
        const list = yield* newList
        const tell = (owner: number, number: number, amount: string) => ({
          referenceId: list.referenceId,
          event: event(owner, number, "incoming", amount)
        })
        yield* addTo(list, [script(1), script(2)])
        // Two of the list's addresses in one transaction, paid alike.
        node.add(
          1,
          [],
          [
            [1, 5n],
            [2, 5n],
            [3, 5n]
          ]
        )
        yield* step
        const first = [tell(1, 1, "0.00000005"), tell(2, 1, "0.00000005")]
        assert.sameDeepMembers([...(yield* told)], first)
        yield* TestClock.adjust("2 hours")
        yield* addTo(list, [script(3)])
        node.add(2, [], [[3, 6n]])
        yield* step
        assert.deepStrictEqual((yield* told).slice(2), [tell(3, 2, "0.00000006")])
        // After a restart, when all are new to the process: nothing twice, and nothing of before an address came.
        node.waiting.delete(hex(2))
        yield* (yield* MempoolWatch.make(chain, node.mempool, options)).step
        assert.lengthOf(yield* told, 3)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("tells a subscription on an extended public key where below it the address is", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const node = new Node()
        const { step } = yield* start(node)
        const { createKey } = yield* Subscriptions
        const tpub =
          "tpubDDXFHr67Ro2tHKVWG2gNjjijKUH1Lyv5NKFYdJnuaLGVNBVwyV5AbykhR43iy8wYozEMbw2QfmAqZhb8gnuL5mm9sZh8YsR6FjGAbew1xoT"
        const key = Result.getOrThrow(ExtendedPublicKey.decode(chain, tpub))
        yield* createKey(
          {
            ...{ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_UNCONFIRMED", address: undefined },
            ...{ callbackUrl: "https://receiver.test/", secret: undefined, confirmations: 0, allowDuplicates: true }
          },
          {
            ...{ publicKey: tpub, derivation: "account", format: "P2WPKH", window: 2 },
            branches: [{ type: "change", furthestUsedIndex: undefined }]
          }
        )
        const change = Result.getOrThrow(Derivation.branch(chain, key, { type: "change" }))
        const own = Derivation.derive(change, 0, 3).map((one) => Result.getOrThrow(one))
        node.add(1, [], [])
        node.waiting.set(hex(1), {
          ...node.waiting.get(hex(1))!,
          transfers: own.map(({ bytes }, position) => ({
            ...{ kind: "coin", transaction: 0, position, from: undefined, to: bytes, amount: 5n }
          }))
        })
        yield* step
        const rows = yield* query((db) => db.selectFrom("callback").select("body"))
        // The third is beyond the window.
        assert.sameDeepMembers(
          rows.map(({ body }) => {
            const { address, derivation } = JSON.parse(body).data.item
            return { address, derivation }
          }),
          own.slice(0, 2).map(({ address, index }) => ({ address, derivation: { type: "change", index } }))
        )
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("tells a list that is activated again, once its addresses have begun again", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { step } = yield* start(node)
        const list = yield* newList
        yield* addTo(list, [script(1)])
        yield* step
        const { deactivate } = yield* Subscriptions
        yield* deactivate(list.id, "test")
        yield* Gaps.begin({ parkedCount: 0, parkedMillis: 0 })
        node.add(1, [], [[1, 5n]])
        yield* step
        const { transaction } = yield* Database
        const key = { account: 1, chain, referenceId: list.referenceId }
        yield* transaction(Activation.activate(key, () => Effect.succeed(true)))
        node.add(2, [], [[1, 6n]])
        yield* step
        assert.deepStrictEqual(yield* told, [])
        yield* transaction(ListActivation.some())
        node.add(3, [], [[1, 7n]])
        yield* step
        const { referenceId } = list
        assert.deepStrictEqual(yield* told, [{ referenceId, event: event(1, 3, "incoming", "0.00000007") }])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("tells a subscription with a filter of what passes", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { step } = yield* start(node)
        const large = yield* subscribe(1, { minimumAmount: "0.00000006", direction: "incoming" })
        yield* subscribe(1, { direction: "outgoing" })
        node.add(1, [], [[1, 5n]])
        node.add(2, [], [[1, 6n]])
        yield* step
        const { referenceId } = large
        assert.deepStrictEqual(yield* told, [{ referenceId, event: event(1, 2, "incoming", "0.00000006") }])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("asks for the times of several transactions at once", () =>
      Effect.gen(function* () {
        const node = new Node()
        const { timeOf } = node.mempool
        let [asking, most] = [0, 0]
        const mempool: Mempool = {
          ...node.mempool,
          timeOf: Effect.fnUntraced(function* (id) {
            most = Math.max(most, ++asking)
            yield* Effect.yieldNow
            asking--
            return yield* timeOf(id)
          })
        }
        yield* TestClock.setTime(1_000_000)
        yield* ChainStore.open(chain, { record: "watched", undoDepth: 10 })
        const { step } = yield* MempoolWatch.make(chain, mempool, options)
        yield* subscribe(1)
        for (const number of [1, 2, 3]) node.add(number, [], [[1, BigInt(number)]])
        yield* step
        assert.strictEqual(most, 3)
        assert.lengthOf(yield* told, 3)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("looks when a transaction is announced, without waiting for the next poll", () =>
      Effect.gen(function* () {
        const node = new Node()
        yield* start(node)
        const announcements = yield* Queue.sliding<void>(1)
        const { exclusive, signals } = yield* Database
        // Of what was told before anybody listened.
        if (!exclusive) yield* Effect.flatten(signals.next("callbacks"))
        const mempool = { ...node.mempool, announced: Queue.take(announcements) }
        const { run } = yield* MempoolWatch.make(chain, mempool, { pollInterval: Duration.hours(1) })
        yield* subscribe(1)
        // The clock stands still.
        yield* Effect.forkScoped(run)
        for (const number of [1, 2, 3]) {
          const recorded = yield* signals.next("callbacks")
          node.add(number, [], [[1, 5n]])
          yield* Queue.offer(announcements, undefined)
          yield* recorded
        }
        assert.strictEqual((yield* told).length, 3)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("rests ten times as long as the list has taken, however long the rest of a look takes", () =>
      Effect.gen(function* () {
        const node = new Node()
        yield* start(node)
        const looks: Array<number> = []
        const { mempool } = node
        const slow: Mempool = {
          ...mempool,
          announced: Effect.void,
          ids: Effect.gen(function* () {
            looks.push(yield* Clock.currentTimeMillis)
            node.add(looks.length, [], [[1, 5n]])
            yield* Effect.sleep(7)
            return yield* mempool.ids
          }),
          transactions: (ids) => Effect.delay(mempool.transactions(ids), 300)
        }
        const { run } = yield* MempoolWatch.make(chain, slow, { pollInterval: Duration.hours(1) })
        yield* subscribe(1)
        yield* Effect.forkScoped(run)
        for (let step = 0; looks.length < 3; step++) {
          assert.isBelow(step, 10_000)
          yield* TestClock.adjust(1)
          // The store takes real time.
          yield* Effect.promise(() => setTimeout(1))
        }
        for (const [i, at] of looks.slice(1).entries()) {
          assert.isAtLeast(at - looks[i]!, 377)
          assert.isBelow(at - looks[i]!, 3_000)
        }
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.effect("parks what inactive subscriptions are to be told", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const node = new Node()
        const { step } = yield* start(node)
        const one = yield* subscribe(1)
        const two = yield* subscribe(1)
        yield* subscriptions.deactivate(one.id, "test")
        node.add(1, [], [[1, 5n]])
        yield* step
        const states = (yield* Database).query((db) =>
          db.selectFrom("callback").select(["subscription", "state"]).orderBy("id")
        )
        assert.deepStrictEqual(yield* states, [
          { subscription: one.id, state: "held" },
          { subscription: two.id, state: "due" }
        ])
        yield* subscriptions.activate({ account: 1, chain, referenceId: one.referenceId })
        assert.deepStrictEqual(
          (yield* states).map(({ state }) => state),
          ["due", "due"]
        )
      }).pipe(Effect.provide(layer), Effect.scoped)
    )
  })
}
