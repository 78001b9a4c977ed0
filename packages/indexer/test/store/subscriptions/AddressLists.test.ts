import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import * as ListActivation from "@headwater/indexer/store/subscriptions/ListActivation"
import * as Activation from "@headwater/indexer/store/subscriptions/internal/Activation"
import * as Gaps from "@headwater/indexer/store/subscriptions/internal/Gaps"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import * as Removal from "@headwater/indexer/store/subscriptions/Removal"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed
const bounds = { commit: 3, address: 2, undo: 2, step: 5, turn: 2 }
const address = (which: number) => new Uint8Array(20).fill(which + 1) as AddressBytes

let nonce = 0
const hash = () => {
  const made = new Uint8Array(32)
  new DataView(made.buffer).setUint32(0, ++nonce)
  return made
}

const addresses = 8
type Action =
  | { readonly kind: "add" | "remove"; readonly list: number; readonly which: ReadonlyArray<number> }
  | { readonly kind: "mine"; readonly pays: ReadonlyArray<ReadonlyArray<number>> }
  | { readonly kind: "reorganise"; readonly depth: number }
  | { readonly kind: "step" | "start again" }
  | { readonly kind: "deactivate" | "activate"; readonly list: number }
  | { readonly kind: "end parking" | "begin" }

const some = fc.array(fc.nat(addresses - 1), { minLength: 1, maxLength: 6 })
const list = fc.nat(2)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom("add" as const, "remove" as const), list, which: some }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("mine" as const), pays: fc.array(some, { maxLength: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reorganise" as const), depth: fc.nat(3) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("step" as const, "start again" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("deactivate" as const, "activate" as const), list }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("end parking" as const, "begin" as const) }) }
)

const newList = Effect.fnUntraced(function* (account: number, confirmations = 1) {
  const { createList } = yield* Subscriptions
  return yield* createList({
    ...{ account, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations, secret: undefined },
    ...{ address: undefined, callbackUrl: "https://example.com/", allowDuplicates: true }
  })
})

/** So that every run has a list that is activated again while its addresses are left to steps. */
const beginning: ReadonlyArray<Action> = [
  { kind: "add", list: 0, which: [0, 1, 2, 3] },
  {
    kind: "mine",
    pays: [
      [0, 1, 2, 3],
      [0, 1],
      [0, 5]
    ]
  },
  { kind: "deactivate", list: 0 },
  { kind: "end parking" },
  { kind: "mine", pays: [[0, 1, 2, 3]] },
  { kind: "activate", list: 0 },
  { kind: "begin" },
  { kind: "mine", pays: [[0, 1, 2, 3]] }
]

/** How often something was left to steps, and how often a list's addresses took part that had begun again, or did not yet. */
let wasBehind = 0
let begunAgain = 0
let notBegun = 0

const run = Effect.fnUntraced(function* (actions: ReadonlyArray<Action>) {
  const { query, transaction } = yield* Database
  const subscriptions = yield* Subscriptions
  const accounts = [yield* Seed.account, yield* Seed.account]
  const ownerOf = (list: number) => accounts[list === 0 ? 0 : 1]!
  const lists: ReadonlyArray<Subscription> = [
    yield* newList(accounts[0]!),
    yield* newList(accounts[1]!),
    yield* newList(accounts[1]!, 2)
  ]
  // Beside the lists an address has a subscription of its own.
  yield* subscriptions.create({
    ...{ account: accounts[0]!, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1 },
    ...{ secret: undefined, address: address(0), callbackUrl: "https://example.com/", allowDuplicates: false }
  })
  const open = Effect.provideService(
    ChainStore.open(chain, { record: "watched", undoDepth: 100 }),
    FanOut.Bounds,
    bounds
  )
  let opened = yield* open
  const members = lists.map(() => new Set<number>())
  const inactive = new Set<number>()
  /** Of these inactive ones nothing is parked any more. */
  const ended = new Set<number>()
  const blocks: Array<{
    readonly block: Block
    readonly expected: ReadonlyArray<string>
    /** What a list that was not matched has missed, unless steps tell it still. */
    readonly missed: ReadonlyArray<string>
  }> = []
  let reorganised = false

  /** Addresses of a list that take part in blocks: of one that was activated again, those that have begun again. */
  const taking = Effect.fnUntraced(function* (list: number) {
    if (ended.has(list)) return new Set<number>()
    const rows = yield* query((db) =>
      db
        .selectFrom("listed_address")
        .innerJoin("subscription", "subscription.id", "listed_address.subscription")
        .select(["listed_address.address", "listed_address.revision", "active_from"])
        .where("subscription", "=", lists[list]!.id)
        .where("left_revision", "is", null)
    )
    assert.sameMembers(
      rows.map(({ address }) => address[0]! - 1),
      [...members[list]!]
    )
    const begun = rows.filter(({ active_from, revision }) => revision >= active_from)
    return new Set(begun.map(({ address }) => address[0]! - 1))
  })

  const mine = Effect.fnUntraced(function* (pays: ReadonlyArray<ReadonlyArray<number>>) {
    const last = blocks.at(-1)?.block
    const height = last === undefined ? 10 : last.height + 1
    const transactions = pays.map(hash)
    // A transaction may pay several addresses, alike.
    const transfers = pays.flatMap((to, transaction) =>
      [...new Set(to)].map((which): Transfer => {
        const from = undefined
        return { kind: "coin", transaction, position: 0, from, to: address(which), amount: 1n }
      })
    )
    const block = {
      height,
      hash: hash(),
      parent: last?.hash ?? hash(),
      time: height,
      transactions,
      transfers,
      spends: []
    }
    const part = yield* Effect.forEach([...lists.keys()], taking)
    yield* opened.commit([block])
    const of = (isMeant: (list: number, which: number) => boolean) =>
      lists.flatMap(({ id }, list) =>
        pays.flatMap((to, transaction) =>
          [...new Set(to)]
            .filter((which) => isMeant(list, which))
            .map((which) => `${id} ${height} ${Buffer.from(transactions[transaction]!).toString("hex")} ${which}`)
        )
      )
    const expected = of((list, which) => part[list]!.has(which))
    const missed = of((list, which) => members[list]!.has(which) && !part[list]!.has(which))
    blocks.push({ block, expected, missed })
    notBegun += missed.length
    wasBehind += (yield* query((db) => db.selectFrom("matched").select("id"))).length
  })

  const drain = Effect.gen(function* () {
    for (let i = 0; (yield* opened.fanOut).more; i++) assert.isBelow(i, 10_000)
  })

  const act = Effect.fnUntraced(function* (action: Action) {
    switch (action.kind) {
      case "add":
      case "remove": {
        const { referenceId } = lists[action.list]!
        const key = { account: ownerOf(action.list), chain, referenceId }
        const own = members[action.list]!
        const before = own.size
        for (const which of action.which) action.kind === "add" ? own.add(which) : own.delete(which)
        const edited = yield* transaction(
          action.kind === "add"
            ? AddressLists.add(key, action.which.map(address), () => Effect.void)
            : AddressLists.remove(key, action.which.map(address))
        )
        assert.deepStrictEqual(edited, { changed: Math.abs(own.size - before), total: own.size })
        return
      }
      case "mine":
        return yield* mine(action.pays)
      case "reorganise": {
        const depth = Math.min(action.depth, blocks.length - 1)
        if (depth < 1) return
        reorganised = true
        blocks.splice(-depth)
        yield* opened.undo(blocks.at(-1)!.block.height)
        for (let i = 0; i <= depth; i++) yield* mine([[i, i + 1]])
        return
      }
      case "step":
        yield* opened.fanOut
        return
      case "start again":
        opened = yield* open
        return
      case "deactivate":
        inactive.add(action.list)
        return yield* subscriptions.deactivate(lists[action.list]!.id, "test")
      case "end parking":
        yield* Gaps.begin({ parkedMillis: 1, parkedCount: 0 })
        for (const list of inactive) ended.add(list)
        return
      case "activate": {
        if (!inactive.delete(action.list)) return
        ended.delete(action.list)
        const key = { account: ownerOf(action.list), chain, referenceId: lists[action.list]!.referenceId }
        // Without the steps, which are actions of their own.
        yield* transaction(Activation.activate(key, () => Effect.succeed(true)))
        return
      }
      case "begin":
        begunAgain += (yield* transaction(ListActivation.some(2))) ? 1 : 0
    }
  })
  for (const action of actions) yield* act(action)
  yield* ListActivation.rest
  // What wants a second confirmation gets it.
  yield* mine([])
  yield* drain

  const told = yield* query((db) =>
    db
      .selectFrom("callback")
      .select(["subscription", "height", "body", "event"])
      .where("state", "in", ["due", "held", "expired"])
      .where(
        "subscription",
        "in",
        lists.map(({ id }) => id)
      )
  )
  const gaps = told.flatMap(({ body, event, subscription }) =>
    event === "BLOCKS_MISSED" ? [{ subscription, ...JSON.parse(body).data.item }] : []
  )
  const isEvent = ({ event }: (typeof told)[number]) => event !== "BLOCKS_MISSED"
  const found = told.filter(isEvent).map(({ body, height, subscription }) => {
    const { address, transactionId } = JSON.parse(body).data.item
    return `${subscription} ${height} ${transactionId.slice(2)} ${Number.parseInt(address.slice(2, 4), 16) - 1}`
  })
  const missed = new Set(blocks.flatMap(({ missed }) => missed))
  assert.deepStrictEqual(
    found.filter((event) => !missed.has(event)).sort(),
    blocks.flatMap(({ expected }) => expected).sort()
  )
  assert.strictEqual(new Set(found).size, found.length, "each once")
  // A list that is active again has an entry for what it has missed.
  for (const event of [...missed].filter((one) => !found.includes(one))) {
    const [subscription, height] = event.split(" ", 2).map(Number)
    const list = lists.findIndex(({ id }) => id === subscription)
    if (reorganised || inactive.has(list)) continue
    const isNamed = gaps.some(
      (gap) => gap.subscription === subscription && gap.fromHeight <= height! && height! <= gap.toHeight
    )
    assert.isTrue(isNamed, `${event} is missed, and nobody says so`)
  }
  for (const [i, { referenceId }] of lists.entries()) {
    const key = { account: ownerOf(i), chain, referenceId }
    const { addresses, total } = yield* AddressLists.list(key, { after: 0, limit: 100 })
    assert.sameMembers(
      addresses.map(({ address }) => address[0]! - 1),
      [...members[i]!]
    )
    assert.strictEqual(total, members[i]!.size)
  }
}, Effect.scoped)

for (const store of takenStores(import.meta.url)) {
  const services = Subscriptions.layer.pipe(
    Layer.provide(Layer.succeed(HostPermission, () => Effect.succeed(true))),
    Layer.provideMerge(store.layer)
  )
  describe(`AddressLists on ${store.name}`, () => {
    it("are told what a list has at each block, through edits, steps, restarts and reorganisations", {
      timeout: 600_000
    }, async () => {
      wasBehind = begunAgain = notBegun = 0
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 20, maxLength: 60 }), (actions) =>
          Effect.runPromise(Effect.provide(run([...beginning, ...actions]), services))
        ),
        { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 5) }
      )
      for (const count of [wasBehind, begunAgain, notBegun]) assert.isAbove(count, 0)
    })

    it.effect("are told each confirmation in the order of the chain, where steps are behind", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const subscriptions = yield* Subscriptions
        const account = yield* Seed.account
        const common = { account, chain, secret: undefined, callbackUrl: "https://example.com/", allowDuplicates: true }
        // Steps write these first.
        for (let i = 0; i < 30; i++) {
          const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
          yield* subscriptions.create({ ...common, event, confirmations: 1, address: address(0) })
        }
        const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        const { id, referenceId } = yield* subscriptions.createList({
          ...{ ...common, event, confirmations: 3, address: undefined }
        })
        const key = { account, chain, referenceId }
        yield* transaction(AddressLists.add(key, [address(0)], () => Effect.void))
        const opened = yield* Effect.provideService(
          ChainStore.open(chain, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { ...bounds, commit: 4 }
        )
        const paid: Transfer = {
          ...{ kind: "coin", transaction: 0, position: 0, from: undefined, to: address(0), amount: 1n }
        }
        let parent = hash()
        const mine = Effect.fnUntraced(function* (height: number) {
          const block = { height, hash: hash(), parent, time: 1, transactions: [hash()], transfers: [paid], spends: [] }
          parent = block.hash
          yield* opened.commit([block])
        })
        const drain = Effect.gen(function* () {
          while ((yield* opened.fanOut).more);
        })
        yield* mine(1)
        yield* drain
        for (const height of [2, 3]) yield* mine(height)
        yield* drain
        const told = (yield* Seed.rows(id)).map(({ body }) => {
          const { currentConfirmations, minedInBlock } = JSON.parse(body).data.item
          return [minedInBlock.height, currentConfirmations]
        })
        assert.deepStrictEqual(told, [
          [1, 1],
          [1, 2],
          [2, 1],
          [1, 3],
          [2, 2],
          [3, 1]
        ])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.effect("begin the record of an address where it comes, and leave nothing when the subscription is removed", () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        const account = yield* Seed.account
        const { id, referenceId } = yield* newList(account)
        const key = { account, chain, referenceId }
        const opened = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
        const block = { height: 41, hash: hash(), parent: hash(), time: 1, transactions: [], transfers: [], spends: [] }
        yield* opened.commit([block])
        yield* transaction(AddressLists.add(key, [address(1), address(1), address(2)], () => Effect.void))
        const of = () =>
          Effect.map(Completeness.of(chain, [address(1)]), (found) => [...found.values()].map(({ history }) => history))
        assert.deepStrictEqual(yield* of(), [42])
        yield* transaction(AddressLists.remove(key, [address(1)]))
        assert.deepStrictEqual(yield* of(), [])
        // Of what has left, nothing stays where no block is to be told.
        const rows = query((db) => db.selectFrom("listed_address").select("address").where("subscription", "=", id))
        assert.deepStrictEqual(
          (yield* rows).map(({ address }) => address[0]),
          [3]
        )
        const { remove } = yield* Subscriptions
        yield* remove(key)
        yield* Removal.rest
        assert.deepStrictEqual(yield* rows, [])
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("address_list").selectAll()), [])
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
}
