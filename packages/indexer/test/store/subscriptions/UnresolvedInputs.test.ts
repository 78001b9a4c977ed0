import { assert, describe, it } from "@effect/vitest"
import * as Amount from "@headwater/core/Amount"
import * as Address from "@headwater/core/address/Address"
import type { CoinTransfer } from "@headwater/core/Block"
import type { Coin } from "@headwater/core/utxo/Coin"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import { chain, chainOf, owner } from "../../families/utxo/Owners.ts"
import * as CoinEvents from "./CoinEvents.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const owners = Array.from({ length: 40 }, (_, number) => owner(number))
const scriptOf = (owner: number) => owners[owner]!.script
const addressOf = (owner: number) => Address.encode(chain, scriptOf(owner))!
const pay = (owner: number, amount: bigint) => ({ to: scriptOf(owner), amount })
const subscribe = (owner: number, confirmations?: number) => CoinEvents.subscribe(chain, scriptOf(owner), confirmations)

const logged = (lines: Array<string>) =>
  Logger.layer([
    Logger.make<unknown, void>(({ fiber, message }) => {
      lines.push(`${fiber.getRef(References.CurrentLogAnnotations).chain} ${message}`)
    })
  ])

for (const store of takenStores(import.meta.url)) {
  describe(`unresolved inputs on ${store.name}`, () => {
    const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))
    const opened = ChainStore.open(chain, { record: "watched", undoDepth: 100 })

    it.live("a net in doubt is no callback and a warning; a stranger's deposit is told at once", () => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const [alice, bob, stranger] = [0, 1, 2]
        const fake = chainOf(owners)
        const chainStore = yield* opened
        const mine = (...payments: Parameters<typeof fake.mine>[0]) => chainStore.commit([fake.mine(payments)])
        yield* chainStore.commit([fake.tip])
        yield* mine({ spends: [], pays: [pay(alice, 5_0000n), pay(alice, 6_0000n), pay(stranger, 9_0000n)] })
        const [first, second, theirs] = fake.coins.map(({ outpoint }) => outpoint)
        yield* subscribe(alice)
        yield* subscribe(alice, 2)
        yield* subscribe(bob)

        const id = fake.nextId(0)
        const { callbacks } = yield* mine(
          { spends: [first!], pays: [pay(bob, 1_0000n), pay(alice, 3_9998n)] },
          { spends: [theirs!], pays: [pay(alice, 7_0000n)] }
        )
        const deposit = `${addressOf(alice)} ${hex(fake.tip.transactions[1]!)} incoming 0.0007`
        const received = `${addressOf(bob)} ${hex(id)} incoming 0.0001`
        assert.strictEqual(callbacks, 2)
        assert.sameMembers([...(yield* CoinEvents.told)], [received, deposit])
        assert.lengthOf(lines, 1)
        for (const part of ["litecoin/regtest ", addressOf(alice), hex(id), "block 2:", "docs/chains/utxo.md"]) {
          assert.include(lines[0], part)
        }
        const doubtful = fake.tip

        // The change is known; beside a coin that is not, it decides nothing.
        const change = fake.coins.find(({ amount }) => amount === 3_9998n)!.outpoint
        yield* mine({ spends: [change, second!], pays: [pay(alice, 9_0000n)] })
        assert.deepStrictEqual((yield* CoinEvents.told).slice(2), [deposit], "the second confirmation")
        assert.lengthOf(lines, 2)
        const whole = fake.coins.find(({ amount }) => amount === 9_0000n)!.outpoint
        yield* mine({ spends: [whole], pays: [pay(stranger, 2_0000n), pay(alice, 6_9998n)] })
        const outgoing = `${addressOf(alice)} ${hex(fake.tip.transactions[0]!)} outgoing 0.00020002`
        assert.deepStrictEqual((yield* CoinEvents.told).slice(3), [outgoing])

        const again = { callbacks: true, internalFrom: 0 }
        assert.strictEqual(yield* chainStore.reprocess(doubtful, again), 0)
        assert.lengthOf(lines, 3)
        const prevout: CoinTransfer = {
          ...{ kind: "coin", transaction: 0, position: 0, from: scriptOf(alice), to: undefined, amount: 5_0000n }
        }
        const shown = { ...doubtful, transfers: [prevout, ...doubtful.transfers] }
        assert.strictEqual(yield* chainStore.reprocess(shown, again), 2, "from a node that shows prevouts")
        const left = `${addressOf(alice)} ${hex(id)} outgoing 0.00010002`
        assert.deepStrictEqual((yield* CoinEvents.told).slice(4), [left, left])
        assert.lengthOf(lines, 3)
      }).pipe(Effect.provide(Layer.merge(layer, logged(lines))))
    })

    it.live("nothing is guessed of coins that are forgotten when the chain is rewound to before they were spent", () =>
      Effect.gen(function* () {
        const [alice, stranger] = [0, 2]
        const fake = chainOf(owners)
        const chainStore = yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
        yield* subscribe(alice)
        fake.mine([{ spends: [], pays: [pay(alice, 5_0000n), pay(stranger, 9_0000n)] }])
        const [own, theirs] = fake.coins.map(({ outpoint }) => outpoint)
        while (fake.tip.height < 84) fake.mine([])
        fake.mine([{ spends: [own!], pays: [pay(alice, 4_0000n)] }])
        const left = `${addressOf(alice)} ${hex(fake.tip.transactions[0]!)} outgoing 0.0001`
        while (fake.tip.height < 100) fake.mine([])
        yield* chainStore.commit(fake.blocks)
        assert.include(yield* CoinEvents.told, left)

        // In two steps, of which neither is deeper than what an undo may take back.
        yield* chainStore.rewind(91)
        yield* chainStore.rewind(82)
        const { query } = yield* Database
        yield* query((db) => db.deleteFrom("callback"))
        yield* chainStore.commit(fake.blocks.slice(83))
        assert.deepStrictEqual(yield* CoinEvents.told, [])
        assert.deepStrictEqual(
          (yield* UnresolvedEvents.list(chain, 9)).map(({ height }) => height),
          [85]
        )
        yield* chainStore.reprocess(fake.blocks[85]!, { callbacks: true, internalFrom: 0 })
        assert.deepStrictEqual(yield* CoinEvents.told, [])
        yield* chainStore.commit([fake.mine([{ spends: [theirs!], pays: [pay(alice, 9_0000n)] }])])
        assert.deepStrictEqual(yield* CoinEvents.told, [
          `${addressOf(alice)} ${hex(fake.tip.transactions[0]!)} incoming 0.0009`
        ])
      }).pipe(Effect.provide(layer))
    )

    it.live("a payment without change is in doubt also where another process has undone the search", () =>
      Effect.gen(function* () {
        const [alice, stranger] = [0, 2]
        const fake = chainOf(owners)
        const [one, other] = [yield* opened, yield* opened]
        fake.mine([{ spends: [], pays: [{ to: scriptOf(alice), amount: 5_0000n }] }])
        yield* one.commit(fake.blocks)
        yield* subscribe(alice)
        const { transaction } = yield* Database
        yield* transaction(
          Effect.gen(function* () {
            const { id } = yield* ChainRow.lockAndBumpRevisionOf(chain)
            yield* Completeness.prove(id, "coins", [scriptOf(alice)], 4)
          })
        )
        const strangersPay = () => {
          const coin = fake.coins.find(({ script }) => hex(script) === hex(scriptOf(stranger)))
          const spends = coin === undefined ? [] : [coin.outpoint]
          return { spends, pays: [{ to: scriptOf(stranger), amount: 5n }] }
        }
        fake.mine([strangersPay()])
        fake.mine([strangersPay()])
        fake.mine([strangersPay()])
        // A coin that nobody has recorded: the input shows its owner.
        yield* other.commit(fake.blocks.slice(2))
        yield* one.undo(2)
        fake.drop(2)
        fake.mine([])
        yield* one.commit([fake.tip])
        yield* other.commit([
          fake.mine([{ spends: [fake.coins[0]!.outpoint], pays: [{ to: scriptOf(stranger), amount: 4n }] }])
        ])
        assert.deepStrictEqual(yield* CoinEvents.told, [])
        assert.deepStrictEqual(
          (yield* UnresolvedEvents.list(chain, 9)).map(({ height }) => height),
          [4]
        )
      }).pipe(Effect.provide(layer))
    )

    it.live("warns 20 times a block, and of subscriptions to the same address once", () => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const fake = chainOf(owners)
        const chainStore = yield* opened
        yield* chainStore.commit([fake.tip])
        fake.mine(owners.map(({ script }) => ({ spends: [], pays: [{ to: script, amount: 5n }] })))
        yield* chainStore.commit([fake.tip])
        for (const owner of [...owners.keys(), 0, 0]) yield* subscribe(owner)
        fake.mine(
          fake.coins.map(({ outpoint, script }) => ({ spends: [outpoint], pays: [{ to: script, amount: 4n }] }))
        )
        yield* chainStore.commit([fake.tip])
        assert.deepStrictEqual(yield* CoinEvents.told, [])
        assert.lengthOf(lines, 21)
        assert.lengthOf(new Set(lines), 21)
        assert.include(lines[20], "20 more callbacks are not made in block 2")
      }).pipe(Effect.provide(Layer.merge(layer, logged(lines))))
    })

    it.live("tells of each address that was subscribed to meanwhile what is certain, and nothing else", () =>
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
        const step = fc.record({
          subscribe: fc.option(fc.nat(count - 1), { nil: undefined }),
          payments: fc.array(payment, { maxLength: 4 })
        })
        const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), (steps) =>
          Effect.runPromiseWith(context)(
            Effect.gen(function* () {
              const { query } = yield* Database
              for (const table of ["callback", "subscription", "unspent_output", "spent_output", "block"] as const) {
                yield* query((db) => db.deleteFrom(table))
              }
              yield* query((db) => db.deleteFrom("chain"))
              const fake = chainOf(owners)
              const chainStore = yield* opened
              yield* chainStore.commit([fake.tip])
              /** The height at which each owner was subscribed to. */
              const since = new Map<number, number>()
              const expected: Array<string> = []
              for (const { payments, subscribe: owner } of steps) {
                if (owner !== undefined && !since.has(owner)) {
                  yield* subscribe(owner)
                  since.set(owner, fake.tip.height)
                }
                const free = [...fake.coins]
                const spending = payments.map(({ pays, spends }) => ({
                  coins: spends.flatMap(
                    (choice): ReadonlyArray<Coin> => (free.length === 0 ? [] : free.splice(choice % free.length, 1))
                  ),
                  pays: pays.map(({ amount, owner }) => ({ to: scriptOf(owner), amount: BigInt(amount) }))
                }))
                const block = fake.mine(
                  spending.map(({ coins, pays }) => ({ spends: coins.map(({ outpoint }) => outpoint), pays }))
                )
                yield* chainStore.commit([block])
                spending.forEach(({ coins, pays }, index) => {
                  for (const [owner, subscribed] of since) {
                    const isOwn = (script: Uint8Array) => hex(script) === hex(scriptOf(owner))
                    const spent = coins.filter(({ script }) => isOwn(script))
                    const paid = pays.filter(({ to }) => isOwn(to))
                    if (spent.length + paid.length === 0 || spent.some(({ height }) => height <= subscribed)) continue
                    const total = (of: ReadonlyArray<{ readonly amount: bigint }>) =>
                      of.reduce((sum, { amount }) => sum + amount, 0n)
                    const net = total(paid) - total(spent)
                    expected.push(
                      CoinEvents.summary({
                        address: addressOf(owner),
                        transactionId: hex(block.transactions[index]!),
                        direction: net > 0n ? "incoming" : "outgoing",
                        amount: Amount.format(net < 0n ? -net : net, 8)
                      })
                    )
                  }
                })
              }
              assert.sameMembers([...(yield* CoinEvents.told)], expected)
            }).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error"))
          )
        )
        yield* Effect.promise(() => fc.assert(property, { numRuns: store.name === "sqlite" ? 40 : 10 }))
      }).pipe(Effect.provide(layer))
    )
  })
}
