import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import * as ConsumerChanges from "@headwater/indexer/store/consumers/ConsumerChanges"
import * as Consumers from "@headwater/indexer/store/consumers/Consumers"
import * as UnresolvedMovements from "@headwater/indexer/store/consumers/UnresolvedMovements"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as EventResolution from "@headwater/indexer/sync/EventResolution"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"
import { chain, IndexedNode, owner, taprootOwner } from "../families/utxo/Owners.ts"
import type { Payment } from "../families/utxo/UtxoChain.ts"
import * as CoinEvents from "../store/subscriptions/CoinEvents.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** Two of them have a taproot address each. */
const taproots = [40, 41]
const owners = [...Array.from({ length: 40 }, (_, number) => owner(number)), ...taproots.map(taprootOwner)]
const scriptOf = (owner: number) => owners[owner]!.script
const addressOf = (owner: number) => Address.encode(chain, scriptOf(owner))!
const pay = (owner: number, amount: bigint) => ({ to: scriptOf(owner), amount })
const subscribe = (owner: number) => CoinEvents.subscribe(chain, scriptOf(owner))
const quiet = Effect.provideService(References.MinimumLogLevel, "Error")

for (const store of takenStores(import.meta.url)) {
  describe(`EventResolution on ${store.name}`, () => {
    const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))
    const opened = ChainStore.open(chain, { record: "watched", undoDepth: 100 })
    const start = Effect.fnUntraced(function* (fake: IndexedNode) {
      const chainStore = yield* opened
      yield* chainStore.commit([fake.chain.tip])
      const { step } = yield* EventResolution.make(fake.chain.source, fake.minedOutputs, chainStore, {
        pollInterval: Duration.seconds(1)
      })
      return {
        chainStore,
        step,
        mine: (...payments: ReadonlyArray<Payment>) => {
          const block = fake.mine(payments)
          return Effect.as(chainStore.commit([block]), block)
        }
      }
    })
    const inDoubt = Effect.map(UnresolvedEvents.count(chain), (count) => count?.events ?? 0)

    it.effect("completes blocks for consumers by what nodes show, and by nothing that was not in doubt", () =>
      Effect.gen(function* () {
        const [own, foreign] = taproots as [number, number]
        const later = 3
        const fake = new IndexedNode(owners)
        fake.hasIndex = false
        const addresses = ConsumedAddresses.make([])
        const chainStore = yield* Effect.provideService(opened, ConsumedAddresses.Current, {
          ...{ addresses, onRecorded: Effect.void }
        })
        const { step } = yield* EventResolution.make(fake.chain.source, fake.minedOutputs, chainStore, {
          movements: { ...UnresolvedMovements, tidy: () => Effect.void },
          pollInterval: Duration.seconds(1)
        })
        const first = fake.mine([{ spends: [], pays: [pay(own, 5_0000n), pay(foreign, 9_0000n)] }])
        yield* chainStore.commit([...fake.chain.blocks.slice(0, -1), first])
        addresses.add([scriptOf(own)])
        const second = fake.mine([
          { spends: [fake.coin(foreign)], pays: [pay(own, 1_0000n)] },
          { spends: [fake.coin(own)], pays: [pay(foreign, 2_0000n), pay(own, 2_0000n), pay(later, 1n)] }
        ])
        yield* chainStore.commit([second])
        addresses.add([scriptOf(later)])
        yield* step
        const consumer = yield* Consumers.open(chain, "one", "first")
        const before = (yield* ConsumerChanges.next(consumer, consumer.acknowledged))!
        const ids = second.transactions.map(hex)
        assert.sameMembers(
          before.blocks.at(-1)!.unresolved.map(({ transactionId }) => transactionId),
          ids
        )
        // Asked for again by a clock that is ahead, which is put right then.
        yield* TestClock.setTime(86_400_000)
        yield* step
        yield* TestClock.setTime(0)
        fake.hasIndex = true
        yield* TestClock.adjust("1 hour")
        yield* step
        const after = (yield* ConsumerChanges.next(consumer, before.progress))!
        assert.deepStrictEqual(after.blocks, [])
        const [completed, ...more] = after.completed
        assert.deepStrictEqual([completed!.height, completed!.unresolved, more], [second.height, [], []])
        assert.sameMembers(
          completed!.events.map(({ item }) => CoinEvents.summary(item as CoinEvents.Item)),
          [`${addressOf(own)} ${ids[0]} incoming 0.0001`, `${addressOf(own)} ${ids[1]} outgoing 0.0003`]
        )
        const { length } = fake.asked
        yield* TestClock.adjust("1 hour")
        yield* step
        assert.strictEqual(fake.asked.length, length, "nothing is in doubt any more")
      }).pipe(Effect.provide(layer), quiet, Effect.scoped)
    )

    it.effect("keeps what a taproot address gets by a key path, which shows no owner, until a node shows one", () =>
      Effect.gen(function* () {
        const [own, foreign] = taproots as [number, number]
        const fake = new IndexedNode(owners)
        const { mine, step } = yield* start(fake)
        yield* mine({ spends: [], pays: [pay(own, 5_0000n), pay(foreign, 9_0000n)] })
        yield* subscribe(own)
        // A stranger's deposit, and a payment of its own with change: the inputs look alike.
        const block = yield* mine(
          { spends: [fake.coin(foreign)], pays: [pay(own, 1_0000n)] },
          { spends: [fake.coin(own)], pays: [pay(foreign, 2_0000n), pay(own, 2_0000n)] }
        )
        const ids = block.transactions.map(hex)
        fake.hasIndex = false
        yield* step
        assert.deepStrictEqual(yield* CoinEvents.told, [])
        const doubts = yield* UnresolvedEvents.list(chain, 9)
        assert.sameMembers(
          doubts.map(({ transactionId }) => hex(transactionId)),
          ids
        )
        for (const { reason } of doubts) assert.match(reason, /^an input may spend coins of the address/)

        fake.hasIndex = true
        yield* TestClock.adjust("1 hour")
        yield* step
        assert.deepStrictEqual(yield* UnresolvedEvents.list(chain, 9), [])
        assert.sameMembers(yield* CoinEvents.told, [
          `${addressOf(own)} ${ids[0]} incoming 0.0001`,
          `${addressOf(own)} ${ids[1]} outgoing 0.0003`
        ])
      }).pipe(Effect.provide(layer), quiet, Effect.scoped)
    )

    it.effect("sends the event under its key once a node shows what was spent", () =>
      Effect.gen(function* () {
        const [alice, bob, stranger] = [0, 1, 2]
        const fake = new IndexedNode(owners)
        const { chainStore, mine, step } = yield* start(fake)
        yield* mine({ spends: [], pays: [pay(alice, 5_0000n), pay(stranger, 9_0000n)] })
        yield* subscribe(alice)
        yield* subscribe(bob)
        yield* step
        assert.deepStrictEqual(fake.asked, [], "nothing is in doubt")

        const block = yield* mine({
          spends: [fake.coin(alice), fake.coin(stranger)],
          pays: [pay(bob, 10_0000n), pay(alice, 3_0000n)]
        })
        const id = hex(block.transactions[0]!)
        assert.deepStrictEqual(yield* CoinEvents.told, [`${addressOf(bob)} ${id} incoming 0.001`])
        assert.strictEqual(yield* inDoubt, 1)

        fake.hasIndex = false
        yield* step
        assert.strictEqual(yield* inDoubt, 1)
        assert.deepStrictEqual(fake.asked, [1], "the stranger's input is not asked for")

        fake.hasIndex = true
        yield* TestClock.adjust("1 hour")
        yield* step
        assert.strictEqual(yield* inDoubt, 0)
        assert.deepStrictEqual((yield* CoinEvents.told).slice(1), [`${addressOf(alice)} ${id} outgoing 0.0002`])
        const replayed = yield* chainStore.reprocess(fake.shown(block), { callbacks: true, internalFrom: undefined })
        assert.strictEqual(replayed, 0, "a node with prevouts would have made it under the same key")
        fake.asked = []
        yield* TestClock.adjust("1 hour")
        yield* step
        assert.deepStrictEqual(fake.asked, [])
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.effect("adds no other event of the block: what was sent and forgotten since is not sent again", () =>
      Effect.gen(function* () {
        const [alice, bob] = [0, 1]
        const fake = new IndexedNode(owners)
        const { mine, step } = yield* start(fake)
        yield* mine({ spends: [], pays: [pay(alice, 5_0000n)] })
        for (const owner of [alice, bob]) yield* subscribe(owner)
        yield* (yield* Subscriptions).create({
          ...{ account: 1, chain, address: undefined, callbackUrl: "https://receiver.test/", secret: undefined },
          ...{ event: "BLOCK_MINED", confirmations: 1, allowDuplicates: true }
        })
        yield* mine(
          { spends: [fake.coin(alice)], pays: [pay(bob, 1_0000n), pay(alice, 3_0000n)] },
          { spends: [], pays: [pay(alice, 7n)] }
        )
        const { query } = yield* Database
        assert.lengthOf(yield* query((db) => db.selectFrom("callback").select("id")), 3)
        yield* query((db) => db.deleteFrom("callback"))
        yield* step
        assert.lengthOf(yield* query((db) => db.selectFrom("callback").select("id")), 1)
        assert.include((yield* CoinEvents.told)[0], "outgoing 0.0002")
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.effect("asks again ever more seldom, a few blocks at a time, and all at once when one was decided", () =>
      Effect.gen(function* () {
        const fake = new IndexedNode(owners)
        fake.hasIndex = false
        const { mine, step } = yield* start(fake)
        yield* mine(...owners.map((_, owner) => ({ spends: [], pays: [pay(owner, 5n)] })))
        for (const owner of owners.keys()) yield* subscribe(owner)
        for (const owner of owners.keys()) yield* mine({ spends: [fake.coin(owner)], pays: [pay(owner, 4n)] })
        for (let looks = 0; looks < 3; looks++) yield* step
        assert.lengthOf(fake.asked, owners.length, "each block once")
        fake.asked = []
        for (let seconds = 0; seconds < 7_200; seconds += 60) {
          yield* step
          yield* TestClock.adjust("1 minute")
        }
        // 12 times ten minutes, and some sooner; 8, 16 and 16 blocks in turn.
        assert.isBelow(fake.asked.length, 22 * 16)
        assert.isAbove(fake.asked.length, 10 * 13)

        // Of one that is new, at once.
        fake.asked = []
        yield* mine({ spends: [fake.coin(0)], pays: [pay(0, 3n)] })
        assert.strictEqual(yield* inDoubt, owners.length, "its own coin was recorded")
        yield* mine({ spends: [], pays: [pay(0, 50n)] })
        fake.hasIndex = true
        yield* TestClock.adjust("10 minutes")
        for (let looks = 0; looks < 4; looks++) yield* step
        assert.strictEqual(yield* inDoubt, 0)
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.effect("goes on where a node or a block fails, and follows a reorganisation", () =>
      Effect.gen(function* () {
        const [alice, bob] = [0, 1]
        const fake = new IndexedNode(owners)
        const { chainStore, mine, step } = yield* start(fake)
        yield* mine({ spends: [], pays: [pay(alice, 5_0000n), pay(bob, 6_0000n)] })
        for (const owner of [alice, bob]) yield* subscribe(owner)
        const first = yield* mine({ spends: [fake.coin(alice)], pays: [pay(alice, 3_0000n)] })
        yield* mine({ spends: [fake.coin(bob)], pays: [pay(bob, 4_0000n)] })
        fake.broken = true
        assert.strictEqual((yield* Effect.flip(step))._tag, "NodeUnreachable")
        fake.broken = false
        // The node has another block there than the store.
        const { hash } = first
        fake.chain.blocks[2] = { ...first, hash: new Uint8Array(32).fill(9) }
        yield* step
        assert.strictEqual(yield* inDoubt, 1, "of the other block")
        fake.chain.blocks[2] = { ...first, hash }

        yield* chainStore.undo(1)
        assert.strictEqual(yield* inDoubt, 0)
        fake.chain.drop(2)
        yield* mine({ spends: [fake.coin(alice)], pays: [pay(alice, 2_0000n)] })
        assert.strictEqual(yield* inDoubt, 1)
        yield* step
        assert.strictEqual(yield* inDoubt, 0)
        assert.include(
          (yield* CoinEvents.told).at(-1),
          `${addressOf(alice)} ${hex(fake.chain.tip.transactions[0]!)} outgoing 0.0003`
        )
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.effect("forgets movements of an address that nobody is subscribed to any more", () =>
      Effect.gen(function* () {
        const fake = new IndexedNode(owners)
        fake.hasIndex = false
        const { mine, step } = yield* start(fake)
        yield* mine({ spends: [], pays: [pay(0, 5n)] })
        const { referenceId } = yield* subscribe(0)
        yield* mine({ spends: [fake.coin(0)], pays: [pay(0, 4n)] })
        yield* step
        assert.strictEqual(yield* inDoubt, 1)
        yield* (yield* Subscriptions).remove({ account: 1, chain, referenceId })
        yield* TestClock.adjust("1 hour")
        yield* step
        assert.strictEqual(yield* inDoubt, 0)
        assert.deepStrictEqual(yield* CoinEvents.told, [])
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.effect("parks the event of a deactivated subscription, or keeps it in doubt where no more is parked", () =>
      Effect.gen(function* () {
        const subscriptions = yield* Subscriptions
        const fake = new IndexedNode(owners)
        fake.hasIndex = false
        const { chainStore, mine, step } = yield* start(fake)
        yield* mine({ spends: [], pays: [pay(0, 5n)] })
        const { id, referenceId } = yield* subscribe(0)
        const block = yield* mine({ spends: [fake.coin(0)], pays: [pay(0, 4n)] })
        yield* subscriptions.deactivate(id, "test")
        assert.strictEqual(yield* inDoubt, 1)
        yield* (yield* Database).query((db) => db.updateTable("subscription").set({ parking: 0, gap_from: 1000 }))
        fake.hasIndex = true
        yield* step
        assert.strictEqual(yield* inDoubt, 0, "nobody hears of what is in doubt")
        yield* chainStore.reprocess(fake.shown(block), { callbacks: true, internalFrom: undefined })
        assert.deepStrictEqual(yield* CoinEvents.told, [])
        yield* subscriptions.activate({ account: 1, chain, referenceId })
        assert.strictEqual(yield* inDoubt, 1)
        yield* step
        assert.strictEqual(yield* inDoubt, 0)
        assert.include((yield* CoinEvents.told)[0], "outgoing 0.00000001")
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("of random histories every event is the oracle's in the end", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Database | Subscriptions>()
        const count = 6
        const payment = fc.record({
          spends: fc.array(fc.nat(1000), { maxLength: 3 }),
          pays: fc.array(fc.record({ owner: fc.nat(count - 1), amount: fc.integer({ min: 1, max: 9 }) }), {
            minLength: 1,
            maxLength: 4
          })
        })
        const history = fc.array(
          fc.record({
            subscribe: fc.option(fc.nat(count - 1), { nil: undefined }),
            payments: fc.array(payment, { maxLength: 4 }),
            index: fc.boolean()
          }),
          { minLength: 3, maxLength: 12 }
        )
        const property = fc.asyncProperty(history, (steps) =>
          Effect.runPromiseWith(context)(
            Effect.gen(function* () {
              const { query } = yield* Database
              const tables = ["callback", "subscription", "unspent_output", "spent_output", "unresolved_event"] as const
              for (const table of [...tables, "completeness", "block"] as const)
                yield* query((db) => db.deleteFrom(table))
              yield* query((db) => db.deleteFrom("chain"))
              const fake = new IndexedNode(owners)
              const { mine, step } = yield* start(fake)
              const since = new Map<number, number>()
              const expected: Array<string> = []
              for (const { index, payments, subscribe: owner } of steps) {
                if (owner !== undefined && !since.has(owner)) {
                  yield* subscribe(owner)
                  since.set(owner, fake.chain.tip.height)
                }
                const free = [...fake.chain.coins]
                const spending = payments.map(({ pays, spends }) => ({
                  coins: spends.flatMap(
                    (choice): ReadonlyArray<Coin> => (free.length === 0 ? [] : free.splice(choice % free.length, 1))
                  ),
                  pays: pays.map(({ amount, owner }) => pay(owner, BigInt(amount)))
                }))
                const block = yield* mine(
                  ...spending.map(({ coins, pays }) => ({ spends: coins.map(({ outpoint }) => outpoint), pays }))
                )
                fake.hasIndex = index
                yield* step
                spending.forEach(({ coins, pays }, number) => {
                  for (const owner of since.keys()) {
                    const isOwn = (script: Uint8Array) => Bytes.key(script) === Bytes.key(scriptOf(owner))
                    const spent = coins.filter(({ script }) => isOwn(script))
                    const paid = pays.filter(({ to }) => isOwn(to))
                    if (paid.length === 0 && spent.length === 0) continue
                    const total = (of: ReadonlyArray<{ readonly amount: bigint }>) =>
                      of.reduce((sum, { amount }) => sum + amount, 0n)
                    const net = total(paid) - total(spent)
                    expected.push(
                      CoinEvents.summary({
                        address: addressOf(owner),
                        transactionId: hex(block.transactions[number]!),
                        direction: net > 0n ? "incoming" : "outgoing",
                        amount: Amount.format(net < 0n ? -net : net, 8)
                      })
                    )
                  }
                })
                const events = yield* CoinEvents.told
                assert.includeMembers(expected, [...events], "nothing but the truth")
                assert.lengthOf(events, expected.length - (yield* inDoubt))
              }
              const again = yield* EventResolution.make(fake.chain.source, fake.minedOutputs, yield* opened, {
                pollInterval: Duration.seconds(1)
              })
              fake.hasIndex = true
              yield* again.step
              assert.sameMembers([...(yield* CoinEvents.told)], expected)
            }).pipe(Effect.scoped, quiet)
          )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 6) }))
      }).pipe(Effect.provide(layer))
    )
  })
}
