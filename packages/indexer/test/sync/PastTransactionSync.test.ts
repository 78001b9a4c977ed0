/** Subscriptions to transactions: told by the commit of the block, or, where that came before them, once the nodes have said so. */
import { assert, describe, layer } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { type Located, ofAny } from "@headwater/indexer/families/Broadcasting"
import {
  BlockMissing,
  type NodeError,
  NodeInconsistent,
  NodeUnreachable
} from "@headwater/indexer/families/node/NodeError"
import * as AccountExport from "@headwater/indexer/store/accounts/AccountExport"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as KnownCoins from "@headwater/indexer/store/chain/KnownCoins"
import { Filling } from "@headwater/indexer/store/chain/WatchedAddresses"
import { Database } from "@headwater/indexer/store/database/Database"
import type { CallbackState } from "@headwater/indexer/store/database/tables/CallbackTables"
import { Bounds } from "@headwater/indexer/store/subscriptions/FanOut"
import { type NewSubscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as PastTransactionSync from "@headwater/indexer/sync/PastTransactionSync"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"
import * as Seed from "../store/Seed.ts"
import { FakeChain } from "./FakeChain.ts"

const { chain } = Seed

const paid = [{ from: 1, to: 2 }]
const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
/** An id that no block of a {@link FakeChain} has. */
const unknown = new Uint8Array(32).fill(0xee)

for (const store of takenStores(import.meta.url)) {
  const services = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))
  describe(`Subscriptions to transactions on ${store.name}`, () => {
    const startOn = Effect.fnUntraced(function* (of: Chain.Chain) {
      const fake = new FakeChain(of)
      const open = ChainStore.open(of, { record: "watched", undoDepth: 64 })
      const chainStore = yield* open
      yield* chainStore.commit([fake.tip])
      const account = yield* Seed.account
      const subscriptions = yield* Subscriptions
      const wanted = (transactionId: Uint8Array, more: Partial<NewSubscription> = {}): NewSubscription => ({
        ...{ account, chain: of, event: "TRANSACTION_MINED", address: undefined, transactionId, secret: undefined },
        ...{ callbackUrl: "https://example.com/mined", confirmations: 1, allowDuplicates: false, ...more }
      })
      const node = {
        ...{ asked: 0, read: 0, isDown: false, isConfused: false, isPruned: false, upTo: -1 },
        /** Says something else than what its blocks have. */
        says: undefined as Located | undefined,
        meanwhile: Effect.void as Effect.Effect<unknown>,
        /** What it was asked for, in turn. */
        ids: [] as Array<string>
      }
      const sync = yield* PastTransactionSync.make(
        {
          ...fake.source,
          blockAt: (height) =>
            Effect.suspend((): Effect.Effect<Block, NodeError> => {
              node.read++
              return node.isPruned
                ? Effect.fail(new BlockMissing({ node: "node", block: String(height) }))
                : fake.source.blockAt(height)
            })
        },
        {
          find: (id, upTo) =>
            Effect.suspend((): Effect.Effect<Located, NodeError> => {
              node.asked++
              node.ids.push(hex(id))
              node.upTo = upTo
              if (node.isDown) return Effect.fail(new NodeUnreachable({ node: "node", method: "m", message: "down" }))
              if (node.isConfused) {
                return Effect.fail(new NodeInconsistent({ node: "node", method: "m", message: "nonsense" }))
              }
              const block = fake.blocks.find(({ transactions }) => transactions.some((one) => Bytes.equal(one, id)))
              const own: Located = block === undefined ? { state: "absent" } : { state: "mined", ...block }
              return Effect.as(node.meanwhile, node.says ?? own)
            })
        },
        { pollInterval: "1 second" } as never
      )
      const mine = Effect.fnUntraced(function* (payments: Parameters<FakeChain["mine"]>[0] = []) {
        const block = fake.mine(payments)
        yield* chainStore.commit([block])
        return block
      })
      /** So many steps, each with a block behind. */
      const steps = Effect.fnUntraced(function* (count: number) {
        for (let i = 0; i < count; i++) {
          yield* sync.step
          yield* mine()
        }
      })
      /** Block and state of each callback. */
      const told = ({ id }: { readonly id: number }) =>
        Effect.map(Seed.rows(id), (rows) =>
          rows.map(({ body, event, state }) => {
            const { minedInBlock, transactionId } = JSON.parse(body).data.item
            return { event, state, transactionId, hash: minedInBlock.hash, height: minedInBlock.height }
          })
        )
      const left = Effect.flatMap(Database, ({ query }) =>
        Effect.map(
          query((db) => db.selectFrom("transaction_look").selectAll()),
          (rows) => rows.length
        )
      )
      return { account, chainStore, fake, left, mine, node, open, subscriptions, steps, sync, told, wanted }
    })
    const start = startOn(chain)

    const of = (block: Block, state: CallbackState = "due") => ({
      ...{ event: "TRANSACTION_MINED", state, transactionId: hex(block.transactions[0]!) },
      ...{ hash: hex(block.hash), height: block.height }
    })

    layer(Layer.empty, { excludeTestServices: true })((it) => {
      it.effect("are told by the commit of the block, once, and are looked for no longer than it takes to know", () =>
        Effect.gen(function* () {
          const { chainStore, fake, left, mine, node, subscriptions, sync, told, wanted } = yield* start
          const block = fake.mine(paid)
          fake.drop(1)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          assert.deepStrictEqual([made.address, made.transactionId], [undefined, block.transactions[0]])
          yield* sync.step
          yield* sync.step
          assert.deepStrictEqual([node.asked, node.upTo, yield* left], [1, 0, 1])
          assert.deepStrictEqual(yield* told(made), [])
          fake.blocks.push(block)
          yield* chainStore.commit([block])
          assert.deepStrictEqual(yield* told(made), [of(block)])
          yield* sync.step
          assert.deepStrictEqual([node.asked, yield* left], [2, 0])
          yield* mine(paid)
          yield* sync.step
          assert.deepStrictEqual([node.asked, node.read, yield* told(made)], [2, 1, [of(block)]])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are told of a block from before them once, also where it comes again, or steps are killed", () =>
        Effect.gen(function* () {
          const { chainStore, left, mine, node, subscriptions, sync, told, wanted } = yield* start
          const block = yield* mine(paid)
          yield* mine()
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          // Not by a replay, which tells what there was of subscriptions at the block.
          assert.strictEqual(yield* chainStore.reprocess(block, { callbacks: true, internalFrom: undefined }), 0)
          const { transaction } = yield* Database
          yield* Effect.exit(transaction(Effect.andThen(sync.step, Effect.die("killed"))))
          assert.deepStrictEqual([yield* told(made), yield* left], [[], 1])
          yield* sync.step
          assert.deepStrictEqual([yield* told(made), yield* left], [[of(block)], 0])
          const keys = (yield* Seed.rows(made.id)).map(({ idempotency_key }) => idempotency_key)
          // An operator's rewind, after which the blocks come again and are matched: what was not sent is taken back and told again.
          yield* chainStore.rewind(block.height - 1)
          yield* chainStore.commit([block])
          const rows = yield* Seed.rows(made.id)
          assert.deepStrictEqual(
            rows.filter(({ state }) => state === "due").map(({ idempotency_key }) => idempotency_key),
            keys
          )
          assert.strictEqual(node.read, 2)
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not asked for with each block of a chain that catches up with theirs", () =>
        Effect.gen(function* () {
          const { chainStore, fake, left, node, subscriptions, sync, told, wanted } = yield* start
          const blocks = Array.from({ length: 110 }, () => fake.mine(paid))
          const made = yield* subscriptions.create(wanted(blocks.at(-1)!.transactions[0]!))
          for (const block of blocks.slice(0, 9)) {
            yield* sync.step
            yield* chainStore.commit([block])
          }
          assert.deepStrictEqual([node.asked, yield* left], [1, 1])
          for (const block of blocks.slice(9)) yield* chainStore.commit([block])
          yield* sync.step
          assert.deepStrictEqual([yield* told(made), node.asked, yield* left], [[of(blocks.at(-1)!)], 2, 0])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not given up at once where a node is down that may be the one that finds them", () =>
        Effect.gen(function* () {
          const { left, mine, node, subscriptions, steps, told, wanted } = yield* start
          const block = yield* mine(paid)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          const other = yield* subscriptions.create(wanted(unknown))
          const down = Effect.fail(new NodeUnreachable({ node: "node", method: "m", message: "down" }))
          node.says = yield* ofAny([down, Effect.succeed<Located>({ state: "absent" })], (one) => one)
          yield* steps(4)
          node.says = undefined
          yield* steps(2)
          assert.deepStrictEqual([yield* told(made), yield* told(other), yield* left], [[of(block)], [], 0])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are looked for during an outage of minutes, and not for ever, however soon blocks follow one another",
        () =>
          Effect.gen(function* () {
            const fast = Result.getOrThrow(Chain.find("polygon", "mainnet"))
            const { left, mine, node, subscriptions, steps, sync, told, wanted } = yield* startOn(fast)
            const block = yield* mine(paid)
            const made = yield* subscriptions.create(wanted(block.transactions[0]!))
            yield* subscriptions.create(wanted(unknown))
            const passes = (seconds: number) => steps(seconds / fast.blockSeconds)
            node.says = { state: "absent", isPartial: true }
            yield* passes(60)
            // A block that does not have it is no better.
            node.says = { state: "mined", height: 0, hash: block.parent }
            yield* passes(140)
            assert.isBelow(node.asked, 2 * 80)
            node.says = undefined
            yield* passes(40)
            assert.deepStrictEqual([(yield* told(made)).length, yield* left], [1, 0])
            const other = yield* subscriptions.create(wanted(unknown, { allowDuplicates: true }))
            node.says = { state: "absent", isPartial: true }
            yield* passes(30)
            assert.strictEqual(yield* left, 1)
            for (let blocks = 0; blocks < 600 / fast.blockSeconds; blocks++) yield* mine()
            yield* sync.step
            assert.deepStrictEqual([yield* told(other), yield* left], [[], 0])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not given up within seconds at nodes that are some blocks behind one another", () =>
        Effect.gen(function* () {
          for (const name of ["tron", "xrp"]) {
            const { left, mine, node, subscriptions, steps, sync, told, wanted } = yield* startOn(
              Result.getOrThrow(Chain.find(name, "mainnet"))
            )
            const block = yield* mine(paid)
            const made = yield* subscriptions.create(wanted(block.transactions[0]!))
            node.says = { state: "absent" }
            yield* steps(4)
            node.says = undefined
            yield* sync.step
            assert.deepStrictEqual([(yield* told(made)).length, yield* left], [1, 0])
          }
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are told by the node that is on the chain, where one that comes first is on another branch", () =>
        Effect.gen(function* () {
          const { left, mine, node, subscriptions, sync, told, wanted } = yield* start
          const block = yield* mine(paid)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          const places = [{ ...block, hash: unknown }, block].map((place) =>
            Effect.succeed<Located>({ state: "mined", hash: place.hash, height: place.height })
          )
          node.says = yield* ofAny(places, (one) => one)
          yield* sync.step
          assert.deepStrictEqual([yield* told(made), yield* left], [[of(block)], 0])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not given up at once where one node has them waiting still, and another one is down", () =>
        Effect.gen(function* () {
          const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "regtest"))
          const { left, mine, node, subscriptions, steps, sync, told, wanted } = yield* startOn(bitcoin)
          const block = yield* mine(paid)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          const down = Effect.fail(new NodeUnreachable({ node: "node", method: "m", message: "down" }))
          node.says = yield* ofAny([Effect.succeed<Located>({ state: "waiting" }), down], (one) => one)
          yield* steps(4)
          node.says = undefined
          yield* sync.step
          assert.deepStrictEqual([(yield* told(made)).length, yield* left], [1, 0])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("read each block once, in whatever order they are for its transactions", () =>
        Effect.gen(function* () {
          const { account, left, mine, node, subscriptions, sync, told, wanted } = yield* start
          const blocks = [yield* mine([...paid, ...paid, ...paid]), yield* mine([...paid, ...paid, ...paid])]
          const ids = [0, 1, 2].flatMap((i) => blocks.map(({ transactions }) => transactions[i]!))
          yield* subscriptions.createMany(
            account,
            chain,
            ids.map((id) => wanted(id)),
            Effect.succeed
          )
          yield* sync.step
          assert.deepStrictEqual([node.read, yield* left], [2, 0])
          const { subscriptions: made } = yield* subscriptions.list({ account, chain }, { limit: 10, offset: 0 })
          for (const one of made) assert.lengthOf(yield* told(one), 1)
          // Also where a node is on another branch, and names its own block for each.
          node.says = { state: "mined", height: blocks[0]!.height, hash: unknown }
          const more = ids.map((id) => wanted(id, { allowDuplicates: true }))
          yield* subscriptions.createMany(account, chain, more, Effect.succeed)
          yield* sync.step
          assert.deepStrictEqual([node.read, yield* left], [3, 6])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are looked for before those that were looked for already, also where they come in the midst of these",
        () =>
          Effect.gen(function* () {
            const { account, mine, node, subscriptions, sync, told, wanted } = yield* start
            const block = yield* mine(paid)
            const many = Array.from({ length: 150 }, (_, i) => wanted(unknown.map((byte, at) => (at === 5 ? i : byte))))
            yield* subscriptions.createMany(account, chain, many, Effect.succeed)
            yield* sync.step
            yield* mine()
            node.ids = []
            const late = yield* Effect.cached(Effect.orDie(subscriptions.create(wanted(block.transactions[0]!))))
            node.meanwhile = late
            yield* sync.step
            assert.lengthOf(node.ids, 151)
            assert.isBelow(node.ids.indexOf(hex(block.transactions[0]!)), 60)
            assert.deepStrictEqual(yield* told(yield* late), [of(block)])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are not given up within two blocks at a node that names their block and cannot show it", () =>
        Effect.gen(function* () {
          const { left, mine, node, subscriptions, steps, sync, told, wanted } = yield* start
          const block = yield* mine(paid)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          // A block that was never committed, as one from before the first of the record.
          node.says = { state: "mined", height: block.height, hash: unknown }
          node.isPruned = true
          yield* steps(5)
          assert.strictEqual(yield* left, 1)
          node.isPruned = false
          node.says = undefined
          yield* sync.step
          assert.deepStrictEqual([yield* told(made), yield* left], [[of(block)], 0])
          // Not for ever.
          yield* subscriptions.create(wanted(unknown))
          node.says = { state: "mined", height: block.height, hash: unknown }
          node.isPruned = true
          yield* steps(60)
          assert.strictEqual(yield* left, 0)
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "have their turn beside those of another account, however many these are, and however slow nodes are",
        () =>
          Effect.gen(function* () {
            const { account, left, mine, node, subscriptions, sync, told, wanted } = yield* start
            const block = yield* mine(paid)
            const many = Array.from({ length: 300 }, (_, i) =>
              wanted(unknown.map((byte, at) => (at === 5 ? i % 256 : at === 6 ? i >> 8 : byte)))
            )
            yield* subscriptions.createMany(account, chain, many, Effect.succeed)
            const other = yield* Seed.account
            const made = yield* subscriptions.create(wanted(block.transactions[0]!, { account: other }))
            const asked = () => node.ids.indexOf(hex(block.transactions[0]!))
            yield* sync.step
            assert.strictEqual(asked(), 1)
            assert.deepStrictEqual([yield* told(made), node.asked, yield* left], [[of(block)], 301, 300])
            // Also where it comes in the midst of those of the other.
            yield* mine()
            node.ids = []
            const late = yield* Effect.cached(
              Effect.orDie(
                subscriptions.create(wanted(block.transactions[0]!, { account: other, allowDuplicates: true }))
              )
            )
            node.meanwhile = Effect.andThen(Effect.sleep("60 millis"), late)
            yield* sync.step
            assert.isBelow(asked(), 30)
            assert.deepStrictEqual([node.ids.length, yield* told(yield* late)], [301, [of(block)]])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are looked for as often behind an outage as without one, until nodes that have none are believed",
        () =>
          Effect.gen(function* () {
            const { left, mine, node, subscriptions, steps, sync, told, wanted } = yield* start
            const block = yield* mine(paid)
            const made = yield* subscriptions.create(wanted(block.transactions[0]!))
            node.says = { state: "absent", isPartial: true }
            yield* steps(9)
            // The node that is back is a block behind for a moment.
            node.says = { state: "absent" }
            yield* steps(1)
            assert.strictEqual(yield* left, 1)
            node.says = undefined
            yield* sync.step
            assert.deepStrictEqual([yield* told(made), yield* left], [[of(block)], 0])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are asked for ever less often at nodes that refuse for good to say where they are", () =>
        Effect.gen(function* () {
          const { mine, node, subscriptions, steps, told, wanted } = yield* start
          const block = yield* mine(paid)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          node.isConfused = true
          const askedIn = Effect.fnUntraced(function* (count: number) {
            const before = node.asked
            yield* steps(count)
            return node.asked - before
          })
          assert.strictEqual(yield* askedIn(32), 32)
          assert.isBelow(yield* askedIn(160), 80)
          node.isConfused = false
          yield* askedIn(20)
          assert.deepStrictEqual(yield* told(made), [of(block)])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("lose nothing and hear nothing twice where blocks are committed while nodes are asked", () =>
        Effect.gen(function* () {
          const { chainStore, fake, left, mine, node, subscriptions, sync, told, wanted } = yield* start
          const block = fake.mine(paid)
          // The node has the block, and the chain does not yet.
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          node.meanwhile = Effect.andThen(
            Effect.sync(() => {
              node.meanwhile = Effect.void
            }),
            Effect.orDie(chainStore.commit([block]))
          )
          yield* sync.step
          assert.deepStrictEqual(yield* told(made), [of(block)])
          yield* mine()
          yield* sync.step
          assert.deepStrictEqual([yield* told(made), yield* left], [[of(block)], 0])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are told of blocks of the chain alone, and of the next one where theirs has left it", () =>
        Effect.gen(function* () {
          const { chainStore, fake, left, mine, node, subscriptions, sync, told, wanted } = yield* start
          const block = yield* mine(paid)
          const made = yield* subscriptions.create(wanted(block.transactions[0]!))
          // A node names a block that does not have it, and then is on another branch.
          node.says = { state: "mined", height: 0, hash: fake.blocks[0]!.hash }
          yield* sync.step
          node.says = { state: "mined", height: block.height, hash: unknown }
          for (let blocks = 0; blocks < 3; blocks++) {
            yield* mine()
            yield* sync.step
          }
          assert.deepStrictEqual([yield* told(made), yield* left], [[], 1])
          // A block in its place has the same transaction.
          fake.drop(4)
          yield* chainStore.undo(block.height - 1)
          const other = fake.mine(paid)
          const again = { ...other, transactions: block.transactions }
          fake.blocks[again.height] = again
          yield* chainStore.commit([again])
          node.says = undefined
          for (let blocks = 0; blocks < 4; blocks++) yield* mine()
          yield* sync.step
          assert.deepStrictEqual([yield* told(made), yield* left], [[of(again)], 0])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "believe no node that is ahead on another branch: neither its block, nor that the transaction is yet to come",
        () =>
          Effect.gen(function* () {
            const { chainStore, fake, left, mine, node, subscriptions, sync, told, wanted } = yield* start
            const stays = yield* mine(paid)
            const leaves = yield* mine()
            const early = yield* subscriptions.create(wanted(stays.transactions[0]!))
            // The node has another block in place of the last one, with a transaction, and says of the first that it is to come.
            fake.drop(1)
            const comes = fake.mine(paid)
            const late = yield* subscriptions.create(wanted(comes.transactions[0]!))
            node.says = { state: "mined", height: leaves.height + 5, hash: unknown }
            yield* sync.step
            node.says = undefined
            assert.strictEqual(yield* left, 2)
            // Both are looked for again once the chain has gone on, for now on its own branch.
            const before = fake.blocks
            fake.blocks = [...before.slice(0, leaves.height), leaves]
            yield* mine()
            fake.blocks = before
            yield* sync.step
            assert.deepStrictEqual([yield* told(early), yield* told(late), yield* left], [[of(stays)], [], 1])
            yield* chainStore.undo(stays.height)
            yield* chainStore.commit([comes])
            for (let blocks = 0; blocks < 3; blocks++) yield* mine()
            yield* sync.step
            assert.deepStrictEqual([yield* told(early), yield* told(late), yield* left], [[of(stays)], [of(comes)], 0])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are taken back with their block: what was not sent is never sent, and what was sent is retracted",
        () =>
          Effect.gen(function* () {
            const { account, chainStore, fake, mine, subscriptions, sync, told, wanted } = yield* start
            const { query } = yield* Database
            yield* query((db) => db.updateTable("account").set({ retractions: 1 }).where("id", "=", account))
            const block = yield* mine(paid)
            const id = block.transactions[0]!
            const made = yield* subscriptions.create(wanted(id))
            yield* sync.step
            yield* chainStore.undo(block.height - 1)
            assert.deepStrictEqual(yield* told(made), [])
            /** Mined again, in another block. */
            const again = Effect.gen(function* () {
              fake.blocks.length = block.height
              const other = { ...fake.mine(paid), transactions: [id] }
              fake.blocks[other.height] = other
              yield* chainStore.commit([other])
              return other
            })
            const second = yield* again
            assert.deepStrictEqual(yield* told(made), [of(second)])
            yield* query((db) =>
              db
                .updateTable("callback")
                .set({ state: "delivered", sequence: 1, attempts: 1 })
                .where("state", "=", "due")
            )
            yield* chainStore.undo(block.height - 1)
            const third = yield* again
            assert.deepStrictEqual(yield* told(made), [
              of(second, "retracted"),
              { ...of(second), event: "TRANSACTION_MINED_REVERTED" },
              of(third)
            ])
            const keys = (yield* Seed.rows(made.id)).map(({ idempotency_key }) => idempotency_key)
            assert.strictEqual(new Set(keys).size, 3)
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "wait for a node that is down, and for no other transaction, and not for ever for a block that is gone",
        () =>
          Effect.gen(function* () {
            const { left, mine, node, subscriptions, sync, told, wanted } = yield* start
            const block = yield* mine(paid)
            const made = yield* subscriptions.create(wanted(block.transactions[0]!))
            const other = yield* subscriptions.create(wanted(unknown))
            node.isDown = true
            assert.isTrue(Exit.isFailure(yield* Effect.exit(sync.step)))
            assert.deepStrictEqual([node.asked, yield* left], [2, 2])
            node.isDown = false
            // What nobody understands is asked again at the next block, however often.
            node.isConfused = true
            for (let blocks = 0; blocks < 12; blocks++) {
              yield* sync.step
              yield* sync.step
              yield* mine()
            }
            assert.deepStrictEqual([node.asked, yield* left], [26, 2])
            node.isConfused = false
            node.isPruned = true
            for (let blocks = 0; blocks < 3; blocks++) {
              yield* sync.step
              yield* mine()
            }
            // By the node's word, as the block that it names is one of the chain.
            assert.deepStrictEqual([yield* told(made), yield* told(other), yield* left], [[of(block)], [], 0])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are told once what the store has of their block is taken back, though no node shows the block any more",
        () =>
          Effect.gen(function* () {
            const { left, mine, node, subscriptions, steps, sync, told, wanted } = yield* start
            const block = yield* mine(paid)
            const made = yield* subscriptions.create(wanted(block.transactions[0]!))
            const { query } = yield* Database
            const [own] = yield* query((db) => db.selectFrom("transaction_look").select("chain"))
            const undone = { chain: own!.chain, height: block.height, hash: null, time: 0, tip: unknown, revision: 0 }
            yield* query((db) =>
              db
                .insertInto("undone_block")
                .values({ ...undone, rewound: 0, callbacks_before: 0, pending_before: 0, at: 0 })
            )
            node.isPruned = true
            yield* steps(4)
            assert.deepStrictEqual([yield* told(made), yield* left], [[], 1])
            yield* query((db) => db.deleteFrom("undone_block"))
            yield* sync.step
            assert.deepStrictEqual([yield* told(made), yield* left], [[of(block)], 0])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are refused twice, made in bulk, removed with what is left to be looked for, and exported by their ids",
        () =>
          Effect.gen(function* () {
            const { account, left, mine, subscriptions, sync, told, wanted } = yield* start
            const block = yield* mine(paid)
            const id = block.transactions[0]!
            const first = yield* subscriptions.create(wanted(id))
            const refused = yield* Effect.flip(subscriptions.create(wanted(id)))
            assert.deepInclude(refused, { _tag: "DuplicateSubscription", referenceId: first.referenceId })
            const many = [wanted(id), wanted(unknown), wanted(unknown), wanted(id, { allowDuplicates: true })]
            const made = yield* subscriptions.createMany(account, chain, many, Effect.succeed)
            assert.deepStrictEqual(made.map(Result.isSuccess), [false, true, false, true])
            assert.strictEqual(yield* left, 3)
            const listed = yield* subscriptions.list({ account, chain }, { limit: 10, offset: 0 })
            assert.deepStrictEqual(
              listed.subscriptions.map(({ transactionId }) => transactionId),
              [id, unknown, id]
            )
            yield* subscriptions.remove({ account, chain, referenceId: listed.subscriptions[1]!.referenceId })
            assert.strictEqual(yield* left, 2)
            yield* sync.step
            for (const one of [first, listed.subscriptions[2]!]) assert.deepStrictEqual(yield* told(one), [of(block)])
            const lines: Array<AccountExport.Line> = []
            yield* AccountExport.run(account, (line) => Effect.sync(() => lines.push(line)))
            assert.deepStrictEqual(
              lines
                .filter(({ kind }) => kind === "subscription")
                .map(({ address, transaction_id }) => [address, transaction_id]),
              [
                [null, hex(id)],
                [null, hex(id)]
              ]
            )
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect(
        "are parked while inactive, and found by a chain that is opened anew and fills its set behind the blocks",
        () =>
          Effect.gen(function* () {
            const { account, fake, open, subscriptions, told, wanted } = yield* start
            const block = fake.mine(paid)
            const made = yield* subscriptions.create(wanted(block.transactions[0]!))
            yield* subscriptions.deactivate(made.id, "test")
            // Nothing is in the set when the block comes.
            const never = { atOnce: 0, pause: Effect.never }
            const later = yield* Effect.provideService(open, Filling, never)
            yield* later.commit([block])
            assert.deepStrictEqual(yield* told(made), [of(block, "held")])
            yield* subscriptions.activate({ account, chain, referenceId: made.referenceId })
            assert.deepStrictEqual(yield* told(made), [of(block)])
          }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("are told in steps where very many have the same one", () =>
        Effect.gen(function* () {
          const { fake, open, subscriptions, told, wanted } = yield* start
          const block = fake.mine(paid)
          const made = yield* Effect.forEach(Array.from({ length: 7 }), () =>
            subscriptions.create(wanted(block.transactions[0]!, { allowDuplicates: true }))
          )
          const little = { commit: 3, address: 2, undo: 1, step: 5, turn: 2 }
          const stepped = yield* Effect.provideService(open, Bounds, little)
          yield* stepped.commit([block])
          assert.deepStrictEqual(yield* told(made[6]!), [])
          while ((yield* stepped.fanOut).more);
          for (const one of made) assert.deepStrictEqual(yield* told(one), [of(block)])
        }).pipe(Effect.provide(services), Effect.scoped)
      )

      it.effect("have no coins that a node would be searched for", () =>
        Effect.gen(function* () {
          const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "regtest"))
          const { subscriptions, wanted } = yield* startOn(bitcoin)
          yield* subscriptions.create(wanted(unknown))
          const { query } = yield* Database
          const [row] = yield* query((db) =>
            db.selectFrom("chain").selectAll().where("name", "=", Chain.nameOf(bitcoin))
          )
          const { addresses } = yield* KnownCoins.unknown(row!.id, { after: 0, last: row!.revision })
          assert.deepStrictEqual(addresses, [])
          assert.lengthOf(yield* query((db) => db.selectFrom("completeness").selectAll()), 0)
        }).pipe(Effect.provide(services), Effect.scoped)
      )
    })
  })
}
