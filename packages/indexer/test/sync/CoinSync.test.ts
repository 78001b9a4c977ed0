/** Subscriptions to addresses that were paid before: every movement is told as it was, or is in doubt. */
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { hash160 } from "@headwater/core/utxo/BitcoinHash"
import { keyOf } from "@headwater/core/utxo/Coin"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import type { Unlocking } from "@headwater/core/utxo/Unlocking"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"
import { type Find, interruptedSearch, type Payment, searching, UtxoChain } from "../families/utxo/UtxoChain.ts"
import * as Seed from "../store/Seed.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))

const signature = new Uint8Array(71).fill(0x30)
const keyNumber = (number: number) => Uint8Array.of(2, ...new Uint8Array(31), number)

/** A script, and what an input shows that spends its coins. */
interface Owner {
  readonly script: Address.AddressBytes
  readonly unlocking: Unlocking
  /** Nobody can tell by the input whose coins it spends. */
  readonly isSilent: boolean
}

const witnessKey = (number: number): Owner => ({
  script: Address.fromBytes(LockingScript.witness(0, hash160(keyNumber(number)))),
  unlocking: { scriptSig: new Uint8Array(), witness: [signature, keyNumber(number)] },
  isSilent: false
})
const keyHash = (number: number): Owner => ({
  script: Address.fromBytes(LockingScript.pubKeyHash(hash160(keyNumber(number)))),
  unlocking: {
    scriptSig: Uint8Array.of(signature.length, ...signature, keyNumber(number).length, ...keyNumber(number)),
    witness: []
  },
  isSilent: false
})
const taproot = (number: number): Owner => ({
  script: Address.fromBytes(LockingScript.witness(1, new Uint8Array(32).fill(number))),
  unlocking: { scriptSig: new Uint8Array(), witness: [new Uint8Array(64).fill(number)] },
  isSilent: true
})

/** Those who may be watched, and strangers. */
const people = [witnessKey(1), witnessKey(2), keyHash(3), keyHash(4), taproot(5)]
const owners = [...people, witnessKey(6), keyHash(7), taproot(8)]
const byScript = new Map(owners.map((owner) => [Bytes.key(owner.script), owner]))

const showing = () => new UtxoChain(chain, (script) => byScript.get(Bytes.key(script))?.unlocking)

/** What every transaction of a chain moves, with all of its inputs known. */
class Oracle {
  readonly #coins = new Map<string, { readonly owner: Owner; readonly amount: bigint }>()

  learn(block: Block) {
    for (const transfer of block.transfers) {
      if (transfer.kind !== "coin" || transfer.to === undefined) continue
      const outpoint = { transactionId: block.transactions[transfer.transaction]!, index: transfer.position }
      this.#coins.set(keyOf(outpoint), { owner: byScript.get(Bytes.key(transfer.to))!, amount: transfer.amount })
    }
    return block
  }

  /** The movements of an address in a block, with the owners of the inputs. */
  movements(block: Block, { script }: Owner) {
    return block.transactions.flatMap((id, transaction) => {
      const inputs = block.spends
        .filter((spend) => spend.transaction === transaction)
        .map(({ outpoint }) => this.#coins.get(keyOf(outpoint))!)
      const received = block.transfers.flatMap((transfer) =>
        transfer.kind === "coin" && transfer.transaction === transaction && Bytes.equal(transfer.to!, script)
          ? [transfer.amount]
          : []
      )
      const spent = inputs.filter(({ owner }) => owner.script === script).map(({ amount }) => amount)
      if (received.length + spent.length === 0) return []
      const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)
      const net = sum(received) - sum(spent)
      const direction = net > 0n ? "incoming" : "outgoing"
      const amount = Amount.format(net < 0n ? -net : net, chain.decimals)
      return [
        {
          ...{ id: Hash.encode(chain, id), event: `${Hash.encode(chain, id)} ${direction} ${amount}` },
          ...{ isReceiver: received.length > 0, payers: inputs.map(({ owner }) => owner) }
        }
      ]
    })
  }
}

const follow = Effect.fnUntraced(function* (
  node: UtxoChain,
  { find, record, start }: { readonly record: RecordingMode; readonly start: number; readonly find?: Find }
) {
  const store = yield* ChainStore.open(chain, { record, undoDepth: 100 })
  const { step } = yield* Follow.make(node.source, store, {
    ...{ start, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 100 }
  })
  const sync = yield* CoinSync.make(
    node.source,
    searching(find ?? ((addresses) => Effect.sync(() => node.search(addresses)))),
    store,
    { pollInterval: Duration.millis(1), gapLimit: 20 }
  )
  return { step, sync: sync.step, run: sync.run, store }
})

const watch = (account: number, { script }: Owner) =>
  Effect.flatMap(Subscriptions, (subscriptions) =>
    subscriptions.create({
      ...{ account, chain, address: script, callbackUrl: "https://receiver.test/", secret: undefined },
      ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
    })
  )

const newList = (account: number) =>
  Effect.flatMap(Subscriptions, (subscriptions) =>
    subscriptions.createList({
      ...{ account, chain, address: undefined, callbackUrl: "https://receiver.test/", secret: undefined },
      ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: true }
    })
  )

/** What a subscription is told of the blocks that stand; of a list, of one owner. */
const told = Effect.fnUntraced(function* ({ id }: Subscription, owner?: Owner) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db.selectFrom("callback").select("body").where("subscription", "=", id).where("state", "=", "due")
  )
  return rows.flatMap(({ body }) => {
    const { address, amount, direction, transactionId } = JSON.parse(body).data.item
    if (owner !== undefined && address !== Address.encode(chain, owner.script)) return []
    return [`${transactionId} ${direction} ${amount}`]
  })
})

/** The clock, whose sleeps last no longer than a millisecond, after what happens `before` each. */
const hurried = (before: () => Effect.Effect<unknown> = () => Effect.void) =>
  Effect.map(
    Clock.Clock,
    (live): Clock.Clock =>
      Object.create(live, {
        sleep: {
          value: (duration: Duration.Duration) =>
            Effect.andThen(Effect.suspend(before), live.sleep(Duration.min(duration, Duration.millis(1))))
        }
      })
  )

/** Waits until the coins of an owner are known. */
const isKnown = ({ script }: Owner) =>
  Completeness.of(chain, [script]).pipe(
    Effect.map((found) => [...found.values()].some(({ coins }) => coins !== undefined)),
    Effect.repeat({ until: Boolean, schedule: Schedule.spaced("5 millis") })
  )

for (const store of takenStores(import.meta.url)) {
  describe(`CoinSync on ${store.name}`, () => {
    const services = Layer.mergeAll(Subscriptions.layer, ChainStatus.layer)
    const layer = services.pipe(Layer.provideMerge(store.layer))

    it.live("reads no more who waits while a node can find no coins, and searches once it can", () =>
      Effect.gen(function* () {
        const node = showing()
        node.mine([{ spends: [], pays: [{ to: people[0]!.script, amount: 1n }] }])
        let asked = 0
        let searches = 0
        const { run, step } = yield* follow(node, {
          ...{ record: "watched", start: 0 },
          find: (addresses) =>
            Effect.sync(() => {
              if (addresses.length > 0) searches++
              else asked++
              return asked < 4 ? undefined : node.search(addresses)
            })
        })
        yield* step
        yield* watch(yield* Seed.account, people[0]!)
        yield* Effect.forkScoped(Effect.provideService(run, Clock.Clock, yield* hurried()))
        yield* isKnown(people[0]!)
        assert.deepStrictEqual([asked, searches], [4, 2])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("takes one search for two who come together, at whichever look into the store the first comes", () =>
      Effect.gen(function* () {
        const node = showing()
        const context = yield* Effect.context<Subscriptions | Database>()
        const account = yield* Seed.account
        const database = yield* Database
        let searches: Array<number> = []
        let looks = 0
        let first: Effect.Effect<unknown> = Effect.void
        let second: Effect.Effect<unknown> = Effect.void
        const comes = (number: number) => Effect.orDie(Effect.provide(watch(account, witnessKey(number)), context))
        const clock = yield* hurried(() => second)
        // What goes on beside the search looks into the store, too, by another clock.
        const look = Effect.flatMap(Clock.Clock, (by) => (by === clock && --looks === 0 ? first : Effect.void))
        const read: (typeof database)["read"] = (build) => Effect.andThen(look, database.read(build))
        const { run, step } = yield* follow(node, {
          ...{ record: "watched", start: 0 },
          find: (addresses) =>
            Effect.sync(() => {
              searches.push(addresses.length)
              return node.search(addresses)
            })
        }).pipe(Effect.provideService(Database, { ...database, read }))
        yield* step
        for (let number = 1; number <= 12; number++) {
          searches = []
          looks = number
          const [one, other] = [2 * number + 10, 2 * number + 11]
          first = Effect.andThen(
            comes(one),
            Effect.sync(() => {
              second = Effect.suspend(() => {
                second = Effect.void
                return comes(other)
              })
            })
          )
          const fiber = yield* Effect.forkChild(Effect.provideService(run, Clock.Clock, clock))
          yield* isKnown(witnessKey(other))
          yield* Fiber.interrupt(fiber)
          assert.deepStrictEqual(searches, [2], `where the first comes at look ${number}`)
        }
      }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"), Effect.provide(layer), Effect.scoped)
    )

    it.live("takes one search for all that wait, and decides what came while it ran", () =>
      Effect.gen(function* () {
        const node = showing()
        const [alice, bob, carol] = people
        node.mine([1n, 2n, 4n].map((amount, i) => ({ spends: [], pays: [{ to: people[i]!.script, amount }] })))
        const coins = node.coins.map(({ outpoint }) => outpoint)
        const account = yield* Seed.account
        let searches = 0
        let meanwhile: Effect.Effect<unknown> = Effect.void
        const { step, sync } = yield* follow(node, {
          ...{ record: "watched", start: 0 },
          find: (addresses) =>
            Effect.suspend(() => {
              if (addresses.length > 0) searches++
              return Effect.as(meanwhile, node.search(addresses))
            })
        })
        yield* step
        assert.strictEqual(yield* sync, "nothing")
        const [hers, his] = [yield* watch(account, alice!), yield* watch(account, bob!)]
        // Before the search has begun: in doubt, since the node does not show what is spent.
        node.mine([{ spends: [coins[0]!], pays: [{ to: alice!.script, amount: 1n }] }])
        yield* step
        meanwhile = Effect.suspend(() => {
          meanwhile = Effect.void
          // While it runs, so that its result does not have it.
          node.mine([{ spends: [coins[1]!], pays: [{ to: bob!.script, amount: 1n }] }])
          return Effect.orDie(Effect.andThen(step, Effect.provide(watch(account, carol!), context)))
        })
        const context = yield* Effect.context<Subscriptions>()
        // Of the block before.
        const before = node.search([alice!.script, bob!.script])
        const search = node.search.bind(node)
        node.search = (addresses) => (addresses.length === 2 ? before : search(addresses))
        assert.strictEqual(yield* sync, "searched")
        assert.strictEqual(searches, 1)
        assert.deepStrictEqual(
          (yield* told(his)).map((event) => event.split(" ").slice(1)),
          [["outgoing", "0.00000001"]]
        )
        assert.deepStrictEqual(yield* told(hers), [], "only a node can tell")
        assert.deepStrictEqual(
          (yield* UnresolvedEvents.list(chain, 9)).map(({ height }) => height),
          [2]
        )
        assert.strictEqual(yield* sync, "searched", "for carol, who came while it ran")
        assert.strictEqual(yield* sync, "nothing")
        const found = yield* Completeness.of(
          chain,
          people.slice(0, 3).map(({ script }) => script)
        )
        assert.deepStrictEqual([...found.values()].map(({ coins }) => coins).sort(), [3, 3, 4])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    const number = fc.nat(1_000_000)
    const action = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ kind: fc.constant("mine" as const), picks: fc.array(number, { maxLength: 6 }) })
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant("garble" as const), picks: fc.array(number, { maxLength: 6 }) })
      },
      {
        weight: 2,
        arbitrary: fc.record({ kind: fc.constant("fork" as const), depth: fc.integer({ min: 1, max: 5 }) })
      },
      {
        weight: 4,
        arbitrary: fc.record({
          kind: fc.constant("watch" as const),
          ...{ who: fc.nat(people.length - 1), byList: fc.boolean() }
        })
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant("unwatch" as const), which: fc.nat(9) }) },
      { weight: 3, arbitrary: fc.constant({ kind: "follow" as const }) },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant("sync" as const), moves: fc.nat(3), forks: fc.boolean() })
      }
    )
    const scenario = fc.record({
      record: fc.constantFrom<RecordingMode>("watched", "all"),
      start: fc.constantFrom(0, 3),
      actions: fc.array(action, { minLength: 5, maxLength: 30 })
    })

    it.live(
      "tells every movement as it was or keeps it as in doubt, whenever an address is watched",
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Database>()
          const counts = { told: 0, listed: 0, unresolved: 0, silent: 0, notUnderstood: 0 }
          yield* Effect.promise(() =>
            fc.assert(
              fc.asyncProperty(scenario, ({ actions, record, start }) =>
                Effect.gen(function* () {
                  const { query } = yield* Database
                  for (const table of [
                    ...(["chain", "block", "unspent_output", "spent_output", "completeness"] as const),
                    ...(["unresolved_event", "subscription", "callback", "waiting", "reorganisation"] as const),
                    ...(["address_list", "listed_address"] as const)
                  ]) {
                    yield* query((db) => db.deleteFrom(table))
                  }
                  const account = yield* Seed.account
                  const node = showing()
                  const oracle = new Oracle()
                  let amount = 0n
                  const mine = (picks: ReadonlyArray<number>) => {
                    const free = [...node.coins]
                    const payments = picks.map((pick): Payment => {
                      const spends = Array.from({ length: pick % 3 }, (_, i) =>
                        free.length > 0 ? free.splice((pick >> i) % free.length, 1)[0]! : undefined
                      ).filter((coin) => coin !== undefined)
                      // Often back to the payer, as change is.
                      const back = spends[0]?.script
                      const first = pick % 5 < 2 && back !== undefined ? back : owners[pick % owners.length]!.script
                      const pays = [first, owners[(pick >> 4) % owners.length]!.script].map((to) => ({
                        to,
                        amount: ++amount
                      }))
                      return { spends: spends.map(({ outpoint }) => outpoint), pays }
                    })
                    oracle.learn(node.mine(payments))
                  }
                  for (let i = 0; i < 4; i++) mine([i, i + 1, i + 2, i * 2 + 1])
                  const { during, find } = interruptedSearch(node, mine)
                  const { step, sync, store } = yield* follow(node, { record, start, find })
                  /** With the hashes of blocks that were committed by then. */
                  const watched: Array<{
                    readonly subscription: Subscription
                    readonly owner: Owner
                    readonly seen: Set<string>
                    readonly isListed: boolean
                  }> = []
                  /** Lists, and who was ever on them: who comes back comes to another one. */
                  const lists: Array<{ readonly list: Subscription; readonly owners: Set<Owner> }> = []
                  let committed = new Set<string>()
                  const stepped = Effect.gen(function* () {
                    yield* step
                    committed = new Set(node.blocks.map(({ hash }) => Bytes.key(hash)))
                  })
                  const listFor = Effect.fnUntraced(function* (owner: Owner) {
                    const before = lists.find(({ owners }) => !owners.has(owner))
                    const { list, owners } = before ?? { list: yield* newList(account), owners: new Set() }
                    if (before === undefined) lists.push({ list, owners })
                    owners.add(owner)
                    return list
                  })
                  const add = Effect.fnUntraced(function* (owner: Owner, isListed: boolean) {
                    const subscription = yield* isListed ? listFor(owner) : watch(account, owner)
                    if (isListed) {
                      const { transaction } = yield* Database
                      const key = { account, chain, referenceId: subscription.referenceId }
                      yield* transaction(AddressLists.add(key, [owner.script], () => Effect.void))
                    }
                    watched.push({ owner, subscription, isListed, seen: committed })
                  })
                  for (const one of actions) {
                    if (one.kind === "mine") mine(one.picks)
                    else if (one.kind === "garble") {
                      mine(one.picks)
                      node.garble()
                    } else if (one.kind === "follow") yield* stepped
                    else if (one.kind === "watch") yield* add(people[one.who]!, one.byList)
                    else if (one.kind === "unwatch") {
                      const [removed] = watched.splice(one.which, 1)
                      if (removed === undefined) continue
                      const key = { account, chain, referenceId: removed.subscription.referenceId }
                      const { transaction } = yield* Database
                      yield* removed.isListed
                        ? transaction(AddressLists.remove(key, [removed.owner.script]))
                        : (yield* Subscriptions).remove(key)
                    } else if (one.kind === "fork") {
                      node.drop(one.depth)
                      for (let i = 0; i <= one.depth; i++) mine([one.depth * 7919 + i, i])
                    } else yield* during(sync, stepped, one)
                  }
                  for (let i = 0; i < 3; i++) {
                    yield* stepped
                    yield* sync
                  }
                  const searched = node.tip.height
                  for (let i = 0; i < 3; i++) mine([i * 41 + 1, i * 7 + 5, i * 3 + 2, i * 29 + 11])
                  yield* stepped
                  assert.strictEqual((yield* store.cursor)?.height, node.tip.height)

                  const doubts = yield* UnresolvedEvents.list(chain, 1_000)
                  const doubtOf = (id: string, { script }: Owner) =>
                    doubts.find(
                      ({ address, transactionId }) =>
                        Hash.encode(chain, transactionId) === id && Bytes.equal(address, script)
                    )
                  for (const { isListed, owner, seen, subscription } of watched) {
                    const all = yield* told(subscription, owner)
                    const events = new Set(all)
                    assert.strictEqual(events.size, all.length, "each once")
                    if (isListed) counts.listed += all.length
                    for (const block of node.blocks) {
                      for (const { event, id, isReceiver, payers } of oracle.movements(block, owner)) {
                        if (block.height < start || seen.has(Bytes.key(block.hash))) continue
                        const doubt = doubtOf(id, owner)
                        if (events.delete(event)) {
                          counts.told++
                          continue
                        }
                        const shown = node.shown(block).notUnderstood ?? []
                        if (shown.some(({ transactionId }) => Hash.encode(chain, transactionId!) === id)) {
                          counts.notUnderstood++
                          continue
                        }
                        assert.isAtMost(block.height, searched, "everything is known after the search")
                        const isOwn = payers.includes(owner)
                        // Such a payment that brings nothing back shows nobody.
                        if (!isReceiver && owner.isSilent) {
                          assert.isTrue(isOwn)
                          counts.silent++
                          continue
                        }
                        assert.isDefined(doubt, `${event} is neither told nor in doubt`)
                        assert.isTrue(
                          isOwn || (owner.isSilent && payers.some(({ isSilent }) => isSilent)),
                          "no deposit waits"
                        )
                        counts.unresolved++
                      }
                    }
                    assert.deepStrictEqual([...events], [], "told and untrue")
                  }
                }).pipe(
                  Effect.provideService(References.MinimumLogLevel, "Error"),
                  Effect.provide(services),
                  Effect.scoped,
                  Effect.provideContext(context),
                  Effect.runPromise
                )
              ),
              { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 8) }
            )
          )
          assert.isAbove(counts.told, 0)
          assert.isAbove(counts.listed, 0)
          console.log(JSON.stringify(counts))
        }).pipe(Effect.provide(store.layer), Effect.scoped),
      300_000
    )
  })
}
