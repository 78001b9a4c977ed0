import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import type { Filter } from "@headwater/core/events/Filter"
import * as Matcher from "@headwater/core/events/Matcher"
import type { Source } from "@headwater/indexer/families/Source"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as UtxoSet from "@headwater/indexer/store/chain/UtxoSet"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import * as CallbackState from "@headwater/indexer/store/subscriptions/CallbackState"
import * as CoinSubscribers from "@headwater/indexer/store/subscriptions/CoinSubscribers"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import * as ListedOccurrence from "@headwater/indexer/store/subscriptions/ListedOccurrence"
import { Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import * as PendingConfirmations from "@headwater/indexer/store/subscriptions/PendingConfirmations"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as CallbackAudit from "@headwater/indexer/sync/CallbackAudit"
import * as Replay from "@headwater/indexer/sync/Replay"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"
import { chain, IndexedNode, owner } from "../families/utxo/Owners.ts"
import type { Payment } from "../families/utxo/UtxoChain.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const owners = Array.from({ length: 8 }, (_, number) => owner(number))
const [alice, bob, stranger] = [0, 1, 2] as const
const scriptOf = (owner: number) => owners[owner]!.script
const pay = (owner: number, amount: bigint) => ({ to: scriptOf(owner), amount })
const metadata = () => ({ name: "", symbol: "", decimals: undefined })

const subscribe = (owner: number, event: EventType, confirmations: number, filter?: Filter) =>
  Effect.flatMap(Subscriptions, (subscriptions) =>
    subscriptions.create({
      ...{ account: 1, chain, address: scriptOf(owner), callbackUrl: "https://receiver.test/", secret: undefined },
      ...{ event, confirmations, filter, allowDuplicates: true }
    })
  )

const newList = (event: EventType, confirmations: number) =>
  Effect.flatMap(Subscriptions, (subscriptions) =>
    subscriptions.createList({
      ...{ account: 1, chain, address: undefined, callbackUrl: "https://receiver.test/", secret: undefined },
      ...{ event, confirmations, allowDuplicates: true }
    })
  )
const addTo = Effect.fnUntraced(function* ({ referenceId }: Subscription, owners: ReadonlyArray<number>) {
  const { transaction } = yield* Database
  const key = { account: 1, chain, referenceId }
  yield* transaction(AddressLists.add(key, owners.map(scriptOf), () => Effect.void))
})

const coins = "ADDRESS_COINS_TRANSACTION_CONFIRMED"
const each = "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"

/**
 * Enters blocks as release 0.1 did: an input that the UTXO set does not know is left out of the net. What the present
 * program leaves in their place is taken away, with the completeness that 0.1 did not record.
 */
const released = Effect.fnUntraced(function* (store: ChainStore.ChainStore, block: Block) {
  const { query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("chain").selectAll().where("name", "=", Chain.nameOf(chain)))
  yield* store.commit([block])
  yield* query((db) => db.deleteFrom("unresolved_event"))
  yield* query((db) => db.deleteFrom("completeness"))
  yield* query((db) => db.deleteFrom("callback").where("height", "=", block.height))
  yield* query((db) => db.deleteFrom("waiting").where("height", "=", block.height))
  const known = yield* UtxoSet.recall(row!.id, block)
  const byAddress = yield* CoinSubscribers.of(
    chain,
    owners.map(({ script }) => script)
  )
  const found = Matcher.match(chain, known, { byAddress, blockMined: [], metadata, hasCoins: () => true })
  const occurrences = found.occurrences.map((one) => ({
    ...one,
    occurrence: ListedOccurrence.nameFor(one.subscription, one.occurrence)
  }))
  const { due, pending } = PendingConfirmations.schedule(row!.id, block, occurrences, block.height, 1)
  yield* CallbackState.enter("matched", due)
  yield* PendingConfirmations.add(pending)
  // The next commit has to look for what is due.
  yield* ChainRow.lockAndBumpRevision(row!.id)
})

interface Item {
  readonly address: string
  readonly transactionId: string
  readonly direction: string
  readonly amount: string
  readonly currentConfirmations?: number
  readonly correctedIdempotencyKey?: string
}

const callbacks = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query((db) => db.selectFrom("callback").selectAll().orderBy("id"))
  return rows.map((row) => ({ ...row, item: JSON.parse(row.body).data.item as Item }))
})
const pending = Effect.gen(function* () {
  const { query } = yield* Database
  return yield* query((db) => db.selectFrom("waiting").selectAll().orderBy("id"))
})

const audit = Effect.fnUntraced(function* (
  node: IndexedNode,
  options: Partial<CallbackAudit.Options> = {},
  source: Source = node.chain.source
) {
  const findings: Array<CallbackAudit.Finding> = []
  const summary = yield* CallbackAudit.run(source, node.minedOutputs, {
    ...{
      from: 0,
      to: node.chain.tip.height,
      everyBlock: false,
      correct: false,
      concurrency: 2
    },
    onFinding: (finding) => Effect.sync(() => void findings.push(finding)),
    ...options
  })
  return { findings, summary }
})

/**
 * Alice has two coins before she is watched. She pays part of one, with change; all of the other, in a block in which
 * Bob is paid; gets a deposit; and pays with the change, which is known.
 */
const history = Effect.gen(function* () {
  const node = new IndexedNode(owners)
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
  yield* store.commit([node.chain.tip])
  yield* store.commit([
    node.mine([
      { spends: [], pays: [pay(alice, 5_0000n), pay(alice, 6_0000n), pay(stranger, 9_0000n), pay(stranger, 8_0000n)] }
    ])
  ])
  const once = yield* subscribe(alice, coins, 1)
  const later = yield* subscribe(alice, coins, 6)
  const counted = yield* subscribe(alice, each, 3)
  yield* subscribe(bob, coins, 1)
  const enter = (...payments: ReadonlyArray<Payment>) => {
    const block = node.mine(payments)
    return Effect.as(released(store, block), block)
  }
  const part = yield* enter({ spends: [node.coin(alice, 5_0000n)], pays: [pay(stranger, 1n), pay(alice, 3_9998n)] })
  const whole = yield* enter(
    { spends: [node.coin(alice, 6_0000n)], pays: [pay(stranger, 5_9990n)] },
    { spends: [node.coin(stranger, 9_0000n)], pays: [pay(bob, 9_0000n)] }
  )
  const deposit = yield* enter({ spends: [node.coin(stranger, 8_0000n)], pays: [pay(alice, 8_0000n)] })
  const known = yield* enter({ spends: [node.coin(alice, 3_9998n)], pays: [pay(stranger, 9998n), pay(alice, 2_9999n)] })
  return { node, store, subscriptions: { once, later, counted }, part, whole, deposit, known }
})

const idOf = (block: Block, index = 0) => hex(block.transactions[index]!)

for (const store of takenStores(import.meta.url)) {
  describe(`CallbackAudit on ${store.name}`, () => {
    const layer = Layer.mergeAll(
      Subscriptions.layer,
      Layer.succeed(Retention, { finishedMillis: 1e15, parkedMillis: 1e15, parkedCount: 1e6 })
    ).pipe(Layer.provideMerge(store.layer))
    const quiet = Effect.provideService(References.MinimumLogLevel, "Error")

    it.live("leaves out blocks while steps take back what others told there, and says so; corrects nothing there", () =>
      Effect.gen(function* () {
        const { node, part } = yield* history
        const to = part.height
        const opened = yield* Effect.provideService(
          ChainStore.open(chain, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          { commit: 500, address: 100, undo: 0, step: 50, turn: 25 }
        )
        yield* opened.undo(to - 1)
        // The block comes again while what was told of it before waits to be taken back.
        yield* opened.commit([part])
        const before = yield* callbacks
        for (const everyBlock of [false, true]) {
          const { findings, summary } = yield* audit(node, { everyBlock, correct: true, to })
          assert.deepStrictEqual(findings, [])
          assert.deepInclude(summary, { right: 0, wrong: 0, corrected: 0, missing: 0, undecided: 0, unsettled: 1 })
        }
        assert.deepStrictEqual(yield* callbacks, before)
        while ((yield* opened.fanOut).more);
        assert.deepInclude((yield* audit(node, { to })).summary, { unsettled: 0 })
        assert.isEmpty((yield* callbacks).filter(({ event }) => event.endsWith("_CORRECTED")))
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("finds what release 0.1 told wrong, and what it never told; changes nothing", () =>
      Effect.gen(function* () {
        const { node, part, subscriptions, whole } = yield* history
        const before = [yield* callbacks, yield* pending]
        const { findings, summary } = yield* audit(node)
        assert.deepStrictEqual([yield* callbacks, yield* pending], before)

        const [told, actual] = [
          { direction: "incoming", amount: "0.00039998" },
          { direction: "outgoing", amount: "0.00010002" }
        ]
        const wrong = findings.filter(({ verdict }) => verdict === "wrong")
        assert.deepStrictEqual(new Set(wrong.map(({ transactionId }) => transactionId)), new Set([idOf(part)]))
        for (const { actual: found, corrected, height, told: was } of wrong) {
          assert.deepStrictEqual([height, was, found, corrected], [part.height, told, actual, false])
        }
        // Once; at its first, second and third confirmation; and the sixth is pending.
        const { counted, later, once } = subscriptions
        assert.sameMembers(
          wrong.map(
            ({ idempotencyKey, referenceId }) => `${referenceId} ${idempotencyKey === undefined ? "pending" : ""}`
          ),
          [
            `${once.referenceId} `,
            `${later.referenceId} pending`,
            ...Array.from({ length: 3 }, () => `${counted.referenceId} `)
          ]
        )
        const missing = findings.filter(({ verdict }) => verdict === "missing")
        assert.sameMembers(
          missing.map(({ referenceId }) => referenceId),
          [once, later, counted].map(({ referenceId }) => referenceId)
        )
        for (const one of missing) {
          assert.strictEqual(one.transactionId, idOf(whole))
          assert.isUndefined(one.told)
          assert.deepStrictEqual(one.actual, { direction: "outgoing", amount: "0.0006" })
        }
        assert.deepStrictEqual(summary, {
          ...{ blocks: 4, wrong: 5, corrected: 0, missing: 3, undecided: 0, unsettled: 0 },
          // Bob's; of the deposit: once, two of three and the third pending, the sixth pending; of the last as many but one.
          right: 1 + 5 + 4
        })
        assert.isAtMost(
          node.asked.reduce((sum, asked) => sum + asked, 0),
          2,
          "strangers' inputs are not asked for"
        )
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("finds what was told wrong where the truth would not have passed the subscription's filter", () =>
      Effect.gen(function* () {
        const node = new IndexedNode(owners)
        const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
        yield* store.commit([node.chain.tip])
        yield* store.commit([node.mine([{ spends: [], pays: [pay(alice, 5_0000n)] }])])
        const { referenceId } = yield* subscribe(alice, coins, 1, { direction: "incoming" })
        yield* subscribe(alice, coins, 1, { direction: "outgoing", minimumAmount: "1" })
        const spends = [node.coin(alice, 5_0000n)]
        yield* released(store, node.mine([{ spends, pays: [pay(stranger, 1n), pay(alice, 3_9998n)] }]))
        const { findings, summary } = yield* audit(node, { correct: true })
        assert.deepInclude(summary, { wrong: 0, corrected: 1, missing: 0, undecided: 0 })
        const actual = { direction: "outgoing", amount: "0.00010002" } as const
        assert.deepInclude(findings[0]!, { referenceId, actual, corrected: true })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("misses nothing that steps behind a commit are still to tell", () =>
      Effect.gen(function* () {
        const node = new IndexedNode(owners)
        const bounds = { commit: 1, address: 1, undo: 2, step: 1, turn: 1 }
        const store = yield* Effect.provideService(
          ChainStore.open(chain, { record: "watched", undoDepth: 100 }),
          FanOut.Bounds,
          bounds
        )
        yield* store.commit([node.chain.tip])
        for (const confirmations of [1, 2, 3]) yield* subscribe(alice, coins, confirmations)
        // Of the second payment alone.
        yield* subscribe(alice, coins, 1, { minimumAmount: "0.00000006" })
        yield* addTo(yield* newList(coins, 1), [alice, bob])
        for (const amount of [5n, 6n]) {
          yield* store.commit([node.chain.mine([{ spends: [], pays: [pay(alice, amount), pay(bob, amount)] }])])
        }
        // Nothing is told yet; then a callback at a time, or a confirmation.
        for (let step = 0; step < 10; step++) {
          const { findings, summary } = yield* audit(node)
          assert.deepStrictEqual(findings, [])
          assert.deepInclude(summary, { blocks: 2, right: 11, missing: 0 }, `step ${step}`)
          yield* store.fanOut
        }
        while ((yield* store.fanOut).more);
        const all = yield* callbacks
        const range = { from: 1, to: 2, callbacks: true }
        yield* Replay.run(node.chain.source, store, range, yield* Replay.begin(chain, range), {
          ...{ concurrency: 2, internalFrom: undefined, forgotten: false, minedOutputs: node.minedOutputs }
        })
        assert.deepStrictEqual(yield* callbacks, all, "a replay adds nothing that a filter keeps back")
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("says what it cannot decide: without an index, and where the node has not the block", () =>
      Effect.gen(function* () {
        const { node } = yield* history
        node.hasIndex = false
        const without = yield* audit(node)
        assert.deepInclude(without.summary, { wrong: 0, missing: 0, undecided: 5 + 3 })
        for (const { reason, verdict } of without.findings) {
          assert.strictEqual(verdict, "undecided")
          assert.include(reason, "may be the address's own")
        }
        // The UTXO set forgets what was spent; blocks that were read before have paid the coin.
        const { query } = yield* Database
        yield* query((db) => db.deleteFrom("spent_output"))
        assert.deepStrictEqual((yield* audit(node)).summary, without.summary)

        const { blockAt } = node.chain.source
        const other = node.chain.blocks[4]!
        const source: Source = {
          ...node.chain.source,
          blockAt: (height) =>
            height === 2
              ? blockAt(99)
              : height === 4
                ? Effect.succeed({ ...other, hash: new Uint8Array(32).fill(7) })
                : blockAt(height)
        }
        node.hasIndex = true
        const pruned = yield* audit(node, { correct: true }, source)
        assert.deepInclude(pruned.summary, { wrong: 0, corrected: 0, missing: 3 })
        const reasons = new Set(pruned.findings.map(({ height, reason }) => `${height} ${reason}`))
        assert.isTrue([...reasons].some((reason) => /^2 .*does not have block 99/.test(reason)))
        assert.isTrue([...reasons].some((reason) => /^4 .*is another one/.test(reason)))
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("corrects each wrong callback once, under a key of its own, and puts right what is pending", () =>
      Effect.gen(function* () {
        const { node, part, store, subscriptions } = yield* history
        const before = yield* callbacks
        const first = yield* audit(node, { correct: true })
        assert.deepInclude(first.summary, { wrong: 0, corrected: 5, missing: 3 })
        const after = yield* callbacks
        assert.deepStrictEqual(after.slice(0, before.length), before, "what was told stays as it was")
        const corrections = after.slice(before.length)
        assert.lengthOf(corrections, 4)
        const wrong = before.filter(({ item }) => item.transactionId === idOf(part))
        for (const { body, event, height, idempotency_key, item, state, subscription } of corrections) {
          const corrected = wrong.find(({ idempotency_key }) => idempotency_key === item.correctedIdempotencyKey)!
          assert.deepInclude(corrected, { subscription, height })
          assert.strictEqual(event, `${corrected.event}_CORRECTED`)
          assert.strictEqual(state, "due")
          assert.notStrictEqual(idempotency_key, corrected.idempotency_key)
          assert.strictEqual(JSON.parse(body).idempotencyKey, idempotency_key)
          assert.deepStrictEqual(item, {
            ...corrected.item,
            ...{ direction: "outgoing", amount: "0.00010002", correctedIdempotencyKey: corrected.idempotency_key }
          })
        }
        const counts = corrections.flatMap(({ item }) => item.currentConfirmations ?? [])
        assert.sameMembers(counts, [1, 2, 3])

        const second = yield* audit(node, { correct: true })
        assert.deepInclude(second.summary, { wrong: 0, corrected: 4, right: first.summary.right + 1 })
        assert.deepStrictEqual(yield* callbacks, after)

        for (let i = 0; i < 2; i++) yield* store.commit([node.mine([])])
        const { query } = yield* Database
        const [later] = yield* query((db) =>
          db.selectFrom("callback").select(["body", "height"]).where("subscription", "=", subscriptions.later.id)
        )
        assert.strictEqual(later!.height, part.height)
        assert.deepInclude(JSON.parse(later!.body).data.item, { direction: "outgoing", amount: "0.00010002" })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("judges what a list was told of an address that has left it since, and calls nothing missing there", () =>
      Effect.gen(function* () {
        const { transaction } = yield* Database
        const node = new IndexedNode(owners)
        const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
        yield* store.commit([node.chain.tip])
        const funds = [pay(alice, 5_0000n), pay(stranger, 8_0000n), pay(stranger, 7_0000n)]
        yield* store.commit([node.mine([{ spends: [], pays: funds }])])
        const lists = [yield* newList(coins, 1), yield* newList(each, 3)]
        for (const list of lists) yield* addTo(list, [alice, bob])
        const part = { spends: [node.coin(alice, 5_0000n)], pays: [pay(stranger, 1n), pay(alice, 3_9998n)] }
        yield* released(store, node.mine([part]))
        yield* released(store, node.mine([{ spends: [node.coin(stranger, 8_0000n)], pays: [pay(alice, 8_0000n)] }]))
        const before = yield* audit(node)
        assert.deepInclude(before.summary, { missing: 0, undecided: 0 })
        assert.isAbove(before.summary.right, 0)
        assert.isAbove(before.summary.wrong, 0)

        for (const { referenceId } of lists) {
          yield* transaction(AddressLists.remove({ account: 1, chain, referenceId }, [scriptOf(alice)]))
        }
        assert.deepStrictEqual(yield* audit(node), before)
        // Of what came later nothing is told.
        yield* store.commit([node.mine([{ spends: [node.coin(stranger, 7_0000n)], pays: [pay(alice, 7_0000n)] }])])
        const { summary } = yield* audit(node, { everyBlock: true })
        const { missing, undecided, wrong } = before.summary
        assert.deepInclude(summary, { missing, undecided, wrong })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("judges nothing that was told of a block which has left the chain, also where nothing is taken back", () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const node = new IndexedNode(owners)
        const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
        yield* store.commit([node.chain.tip])
        yield* store.commit([node.mine([{ spends: [], pays: [pay(stranger, 8_0000n), pay(stranger, 7_0000n)] }])])
        yield* subscribe(alice, coins, 1)
        const height = node.chain.tip.height + 1
        const [left, instead] = [8_0000n, 7_0000n].map((amount) => ({
          spends: [node.coin(stranger, amount)],
          pays: [pay(alice, amount)]
        }))
        yield* store.commit([node.mine([left!])])
        yield* query((db) => db.updateTable("callback").set({ state: "delivered", sequence: 1 }))
        yield* store.undo(height - 1)
        node.chain.drop(1)
        yield* store.commit([node.mine([instead!])])
        assert.lengthOf(yield* callbacks, 2)
        for (const everyBlock of [false, true]) {
          const { findings, summary } = yield* audit(node, { everyBlock })
          assert.deepStrictEqual(findings, [])
          assert.deepInclude(summary, { right: 1, wrong: 0, missing: 0, undecided: 0 })
        }
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("a replay adds what was missing, and nothing beside a wrong callback", () =>
      Effect.gen(function* () {
        const { node, store, whole } = yield* history
        const before = yield* callbacks
        const range = { from: 1, to: node.chain.tip.height, callbacks: true }
        const next = yield* Replay.begin(chain, range)
        yield* Replay.run(node.chain.source, store, range, next, {
          ...{ concurrency: 2, internalFrom: undefined, forgotten: false, minedOutputs: node.minedOutputs }
        })
        const added = (yield* callbacks).slice(before.length)
        assert.isAbove(added.length, 0)
        for (const { item } of added) {
          assert.deepInclude(item, { transactionId: idOf(whole), direction: "outgoing", amount: "0.0006" })
        }
        assert.deepInclude((yield* audit(node)).summary, { wrong: 5, missing: 0 })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("a correction leaves with its block", () =>
      Effect.gen(function* () {
        const { node, part, store } = yield* history
        const { query } = yield* Database
        yield* audit(node, { correct: true })
        yield* query((db) => db.updateTable("callback").set({ sequence: 1 }).where("event", "=", `${coins}_CORRECTED`))
        yield* store.undo(part.height - 1)
        const left = yield* callbacks
        assert.deepStrictEqual(
          left.map(({ event, state }) => [event, state]),
          [[`${coins}_CORRECTED`, "orphaned"]]
        )
        assert.deepInclude((yield* audit(node, { correct: true })).summary, { wrong: 0, corrected: 0 })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("decides nothing by spent outputs that the daemon forgets while the audit goes on", () =>
      Effect.gen(function* () {
        const node = new IndexedNode(owners)
        const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
        yield* subscribe(alice, coins, 1)
        yield* store.commit([node.chain.tip])
        yield* store.commit([node.mine([{ spends: [], pays: [pay(alice, 5_0000n)] }])])
        const spends = [node.coin(alice, 5_0000n)]
        const paid = node.mine([{ spends, pays: [pay(stranger, 1n), pay(alice, 3_9998n)] }])
        yield* store.commit([paid])
        node.hasIndex = false
        const range = { from: paid.height, to: paid.height, correct: true }
        const database = yield* Database
        const forgetting: Source = {
          ...node.chain.source,
          blockAt: (height) =>
            Effect.andThen(
              Effect.orDie(Effect.provideService(UtxoSet.prune(1, height + 1), Database, database)),
              node.chain.source.blockAt(height)
            )
        }
        const nothingWrong = { wrong: 0, corrected: 0, missing: 0 }
        assert.deepInclude((yield* audit(node, range)).summary, { ...nothingWrong, right: 1, undecided: 0 })
        assert.deepInclude((yield* audit(node, range, forgetting)).summary, { ...nothingWrong, right: 0, undecided: 1 })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live("reads every block where that is wanted, and calls nothing missing that may be forgotten", () =>
      Effect.gen(function* () {
        const { node, store } = yield* history
        const { query } = yield* Database
        yield* released(store, node.mine([{ spends: [node.coin(alice, 8_0000n)], pays: [pay(stranger, 8_0000n)] }]))
        const silent = node.chain.tip.height
        yield* query((db) => db.deleteFrom("callback").where("height", "=", silent))
        yield* query((db) => db.deleteFrom("waiting").where("height", "=", silent))
        const here = ({ findings }: { readonly findings: ReadonlyArray<CallbackAudit.Finding> }) =>
          findings.filter(({ height }) => height === silent).map(({ verdict }) => verdict)
        assert.deepStrictEqual(here(yield* audit(node)), [])
        const every = yield* audit(node, { everyBlock: true })
        assert.deepStrictEqual(here(every), ["missing", "missing", "missing"])
        assert.strictEqual(every.summary.blocks, silent + 1)
        const finishedMillis = (yield* Clock.currentTimeMillis) - (node.chain.tip.time + 1) * 1000
        const forgetful = Effect.provideService(audit(node, { everyBlock: true }), Retention, {
          ...{ finishedMillis, parkedMillis: 1, parkedCount: 1 }
        })
        assert.deepInclude((yield* forgetful).summary, { missing: 0, wrong: 5 })
        assert.deepInclude((yield* audit(node, { from: 3, to: 3 })).summary, { blocks: 1, wrong: 0, missing: 3 })
      }).pipe(quiet, Effect.provide(layer), Effect.scoped)
    )

    it.live(
      "of random histories says what the oracle says, or nothing; corrections are the oracle's, each once",
      () =>
        Effect.gen(function* () {
          const context = yield* Effect.context<Database | Subscriptions>()
          const step = fc.record({
            ...{ subscribe: fc.option(fc.nat(5), { freq: 4 }), byList: fc.boolean() },
            spends: fc.array(fc.nat(), { maxLength: 3 }),
            pays: fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 1000 })), { minLength: 1, maxLength: 3 })
          })
          let seen = { wrong: 0, missing: 0, undecided: 0 }
          const property = fc.asyncProperty(
            fc.array(step, { minLength: 3, maxLength: 12 }),
            fc.boolean(),
            fc.boolean(),
            (steps, indexed, everyBlock) =>
              Effect.gen(function* () {
                const node = new IndexedNode(owners)
                const { query } = yield* Database
                for (const table of [
                  "callback",
                  "waiting",
                  "subscription",
                  "unspent_output",
                  "spent_output",
                  "address_list",
                  "listed_address"
                ] as const) {
                  yield* query((db) => db.deleteFrom(table))
                }
                for (const table of ["block", "completeness", "reorganisation", "chain"] as const) {
                  yield* query((db) => db.deleteFrom(table))
                }
                const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
                yield* chainStore.commit([node.chain.tip])
                const lists = [yield* newList(coins, 1), yield* newList(each, 2)]
                for (const { byList, pays, spends, subscribe: owner } of steps) {
                  if (owner !== null) {
                    yield* byList
                      ? addTo(lists[owner % 2]!, [owner])
                      : subscribe(owner, owner % 2 === 0 ? coins : each, 1 + (owner % 3))
                  }
                  const some = node.chain.coins
                  const chosen = new Set(
                    spends.flatMap((i) => (some.length === 0 ? [] : [some[i % some.length]!.outpoint]))
                  )
                  yield* released(
                    chainStore,
                    node.mine([{ spends: [...chosen], pays: pays.map(([to, amount]) => pay(to, BigInt(amount))) }])
                  )
                }
                const all = node.chain.blocks.map((block) => node.shown(block))
                const everyone = new Map(
                  owners.map(({ script }) => [
                    hex(script),
                    [{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const, address: script }]
                  ])
                )
                const truth = new Map(
                  all.flatMap((block) =>
                    Matcher.match(chain, block, { byAddress: everyone, blockMined: [], metadata }).occurrences.map(
                      ({ item: { address, amount, direction, transactionId } }): [string, string] => [
                        `${transactionId} ${address}`,
                        `${direction} ${amount}`
                      ]
                    )
                  )
                )
                const isTrue = ({ address, amount, direction, transactionId }: Item) =>
                  truth.get(`${transactionId} ${address}`) === `${direction} ${amount}`
                node.hasIndex = indexed
                const before = yield* callbacks
                // Who reads every block from the first on sees every coin being paid, and needs no index.
                const first = yield* audit(node, { everyBlock, correct: true })
                for (const { actual, address, reason, told, transactionId, verdict } of first.findings) {
                  if (verdict === "undecided") assert.isDefined(reason)
                  else {
                    assert.isTrue(isTrue({ address, transactionId, ...actual! }))
                    if (told !== undefined) assert.isFalse(isTrue({ address, transactionId, ...told }))
                  }
                }
                if (indexed || everyBlock) {
                  assert.deepInclude(first.summary, { wrong: 0, undecided: 0 })
                  const after = yield* callbacks
                  const made = after.slice(before.length)
                  for (const { event, item } of made) {
                    assert.match(event, /_CORRECTED$/)
                    assert.isTrue(isTrue(item))
                  }
                  const corrected = new Set(made.map(({ item }) => item.correctedIdempotencyKey))
                  assert.strictEqual(corrected.size, made.length)
                  for (const { idempotency_key, item } of before) {
                    assert.strictEqual(corrected.has(idempotency_key), !isTrue(item))
                  }
                  for (const { item } of yield* pending) assert.isTrue(isTrue(JSON.parse(item)))
                  yield* audit(node, { everyBlock, correct: true })
                  assert.lengthOf(yield* callbacks, after.length)
                }
                const { corrected: wrong, missing, undecided } = first.summary
                seen = {
                  wrong: seen.wrong + wrong,
                  missing: seen.missing + missing,
                  undecided: seen.undecided + undecided
                }
              }).pipe(quiet, Effect.scoped, Effect.provide(context), Effect.runPromise)
          )
          yield* Effect.promise(() =>
            fc.assert(property, { numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 15), seed: 6 })
          )
          for (const count of Object.values(seen)) assert.isAbove(count, 0, "histories in which all happens")
        }).pipe(Effect.provide(layer), Effect.scoped),
      300_000
    )
  })
}
