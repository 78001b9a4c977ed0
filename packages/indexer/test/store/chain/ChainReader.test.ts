import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, InternalTransfer, TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import * as PrunedInternal from "@headwater/indexer/store/chain/PrunedInternal"
import * as TransferLog from "@headwater/indexer/store/chain/transfers/TransferLog"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import { bytes32 as hash } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed
const address = (number: number) => new Uint8Array(20).fill(number) as AddressBytes
const alice = address(1)

const internal = (amount: number, from = alice, to = address(2), transaction = 0): InternalTransfer => ({
  ...{ kind: "internal", transaction, operation: "call_0", operationType: "call" },
  ...{ from, to, amount: BigInt(amount) }
})

/** A block of a fork; its transactions are told apart by fork, height and number. */
const blockOf = (
  fork: number,
  height: number,
  parentFork: number,
  time: number,
  amounts: ReadonlyArray<number>
): Block => ({
  height,
  hash: hash(fork, height),
  parent: hash(parentFork, height - 1),
  time,
  transactions: amounts.map((_, i) => hash(fork, height, i)),
  transfers: amounts.map((amount, i) => internal(amount, alice, address(2), i)),
  spends: []
})

const day = 86_400

for (const store of takenStores(import.meta.url)) {
  const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))
  const open = Effect.gen(function* () {
    const commits = yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
    return { commits, recorded: yield* ChainReader.make(chain) }
  })

  describe(`ChainReader on ${store.name}`, () => {
    it.live("passes over coins that 0.1 recorded as a token as well, and fills its pages without them", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        const token = (position: number, contract: AddressBytes): TokenTransfer => ({
          ...{ kind: "token", transaction: position, position, batchIndex: 0, token: "fungible", tokenId: undefined },
          ...{ amount: BigInt(position), contract, from: address(2), to: alice }
        })
        const pol = new Uint8Array([...new Uint8Array(18), 0x10, 0x10]) as AddressBytes
        const contracts = [pol, address(3), pol, pol, address(3), pol]
        const block = blockOf(1, 5, 1, 1_000, [1, 2, 3, 4, 5, 6])
        yield* commits.commit([{ ...block, transfers: contracts.map((contract, i) => token(i, contract)) }])
        const { next, transfers } = yield* recorded.page("token", alice, { order: "ascending", limit: 2 })
        assert.deepStrictEqual([transfers.map(({ transfer }) => transfer.amount), next], [[1n, 4n], undefined])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("shows in both orders what has taken the place of undone blocks, and nothing else twice", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        const amounts = Effect.fnUntraced(function* (request: ChainReader.PageRequest) {
          const { next, transfers } = yield* recorded.page("internal", alice, request)
          return { next, amounts: transfers.map(({ transfer }) => Number(transfer.amount)), transfers }
        })
        for (let height = 0; height < 6; height++) {
          yield* commits.commit([blockOf(1, height, 1, 1_000 + height, [height * 10, height * 10 + 1])])
        }
        const up = yield* amounts({ order: "ascending", limit: 9 })
        assert.deepStrictEqual(up.amounts, [0, 1, 10, 11, 20, 21, 30, 31, 40])
        const down = yield* amounts({ order: "descending", limit: 4 })
        assert.deepStrictEqual(down.amounts, [51, 50, 41, 40])

        // Blocks 3 to 5 give way to others, of which the first has transfers where the page had ended already.
        yield* commits.undo(2)
        yield* commits.commit([blockOf(2, 3, 1, 1_003, [333, 334, 335])])
        yield* commits.commit([blockOf(2, 4, 2, 1_004, [444])])
        const on = yield* amounts({ order: "ascending", limit: 50, after: up.next })
        assert.deepStrictEqual(on.amounts, [333, 334, 335, 444])
        assert.isUndefined(on.next)
        const below = yield* amounts({ order: "descending", limit: 50, after: down.next })
        assert.deepStrictEqual(below.amounts, [444, 335, 334, 333, 21, 20, 11, 10, 1, 0])
        // A page that ended below the fork, if only in its block, goes on where it was.
        const { next } = yield* amounts({ order: "descending", limit: 5 })
        yield* commits.undo(2)
        yield* commits.commit([blockOf(3, 3, 1, 1_003, [343])])
        const lower = yield* amounts({ order: "descending", limit: 50, after: next })
        assert.deepStrictEqual(lower.amounts, [20, 11, 10, 1, 0])
        for (const { block, height } of on.transfers) assert.deepStrictEqual(block.hash, hash(2, height))
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("finds the first block of a time as a scan would", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        assert.strictEqual(yield* recorded.heightSince(5), 0)
        const times = [10, 10, 12, 12, 12, 20, 35, 35, 36]
        for (const [i, time] of times.entries()) yield* commits.commit([blockOf(1, 7 + i, 1, time, [])])
        for (let time = 0; time < 40; time++) {
          const found = times.findIndex((other) => other >= time)
          // As young as the first block of the record, others from before may be.
          const expected = found === 0 ? 0 : 7 + (found === -1 ? times.length : found)
          assert.strictEqual(yield* recorded.heightSince(time), expected)
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("lists what is of a time or later also where blocks of a UTXO chain are older than those before them", () =>
      Effect.gen(function* () {
        const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "regtest"))
        const commits = yield* ChainStore.open(bitcoin, { record: "all", undoDepth: 10 })
        const recorded = yield* ChainReader.make(bitcoin)
        const subscriptions = yield* Subscriptions
        yield* subscriptions.create({
          ...{
            account: yield* Seed.account,
            chain: bitcoin,
            event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
            address: alice
          },
          ...{ callbackUrl: "https://example.com", secret: undefined, confirmations: 1, allowDuplicates: false }
        })
        const times = [10, 50, 20, 30, 60, 20, 40, 55, 45, 70].map((minutes) => 36_000 + minutes * 60)
        for (const [i, time] of times.entries()) {
          const block = blockOf(1, 7 + i, 1, time, [i])
          const coin = { kind: "coin", transaction: 0, position: 0, from: undefined, to: alice, amount: 1n } as const
          yield* commits.commit([{ ...block, transfers: [coin] }])
        }
        for (const minutes of [0, 11, 20, 21, 46, 56, 71]) {
          const since = 36_000 + minutes * 60
          const wanted = [...times.keys()].filter((i) => times[i]! >= since)
          for (const order of ["ascending", "descending"] as const) {
            const found: Array<number> = []
            for (let after: ChainReader.Position | undefined; ; ) {
              const page = yield* recorded.transactions(alice, { order, limit: 2, after, since })
              found.push(...page.transactions.map(({ height }) => height - 7))
              assert.isTrue(page.next === undefined || page.transactions.length === 2, `${order} ${minutes}`)
              if (page.next === undefined) break
              after = page.next
            }
            assert.deepStrictEqual(found, order === "ascending" ? wanted : wanted.toReversed(), `${order} ${minutes}`)
          }
          // A block from before the record may be younger than its first one.
          assert.strictEqual(yield* recorded.heightSince(since), 0)
        }
        const later = 36_000 + 5 * 3_600
        for (const [i, time] of [later, later - 60, later + 60].entries()) {
          yield* commits.commit([blockOf(1, 7 + times.length + i, 1, time, [times.length + i])])
        }
        for (const [time, height] of [
          [later, 17],
          [later + 1, 19],
          [later + 61, 20]
        ] as const) {
          assert.strictEqual(yield* recorded.heightSince(time), height)
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("knows whose addresses an account watches", () =>
      Effect.gen(function* () {
        const { recorded } = yield* open
        const subscriptions = yield* Subscriptions
        const [one, other] = [yield* Seed.account, yield* Seed.account]
        const { id } = yield* subscriptions.create({
          ...{ account: one, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: alice },
          ...{ callbackUrl: "https://example.com", secret: undefined, confirmations: 1, allowDuplicates: false }
        })
        assert.deepStrictEqual(yield* recorded.watchedBy(one, [address(2), alice]), [alice])
        assert.deepStrictEqual(yield* recorded.watchedBy(other, [alice]), [])
        yield* subscriptions.deactivate(id, "test")
        assert.deepStrictEqual(yield* recorded.watchedBy(one, [alice]), [])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })

  describe(`InternalRetention on ${store.name}`, () => {
    it.live("forgets what is older than 14 days, but no block that may be undone, and keeps the sums", () =>
      Effect.gen(function* () {
        const context = yield* Effect.context<Database>()
        const { commits, recorded } = yield* open
        const { read } = yield* Database
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        // A block every six hours for 30 days.
        const blocks = Array.from({ length: 120 }, (_, i) => ({
          time: now - 30 * day + i * (day / 4) + 60,
          amount: i + 1
        }))
        for (const [height, { amount, time }] of blocks.entries()) {
          yield* commits.commit([blockOf(1, height, 1, time, [amount, 1_000_000])])
        }
        const kept = Effect.map(
          recorded.page("internal", alice, { order: "ascending", limit: 5_000 }),
          ({ transfers }) =>
            transfers.map(({ transfer }) => Number(transfer.amount)).filter((amount) => amount < 1_000_000)
        )
        const sumOf = Effect.map(recorded.prunedTotals([alice]), (totals) => totals.get(Bytes.key(alice)))
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 100 })
        assert.deepStrictEqual(
          yield* kept,
          blocks.slice(19).map(({ amount }) => amount)
        )
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 10 })
        const young = blocks.filter(({ time }) => time >= now - 14 * day)
        assert.deepStrictEqual(
          yield* kept,
          young.map(({ amount }) => amount)
        )
        const old = blocks.filter(({ time }) => time < now - 14 * day)
        const spent = BigInt(old.reduce((sum, { amount }) => sum + amount + 1_000_000, 0))
        assert.deepStrictEqual(yield* sumOf, { received: 0n, spent })
        // Several daemons may do it at once; nothing counts twice.
        yield* Effect.all(
          Array.from({ length: 3 }, () => InternalRetention.prune(recorded, { record: "all", undoDepth: 1 })),
          { concurrency: 3 }
        ).pipe(Effect.provide(context))
        assert.deepStrictEqual(yield* sumOf, { received: 0n, spent })
        const runs = yield* read((db) => db.selectFrom("pruned_internal").selectAll())
        assert.strictEqual(runs.length, 2)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("leaves forgotten what a replay shows that began before", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        const blocks = Array.from({ length: 20 }, (_, height) => blockOf(1, height, 1, 1_000, [1, height]))
        for (const block of blocks) yield* commits.commit([block])
        const replay = (height: number) =>
          commits.reprocess(blocks[height]!, { callbacks: false, internalFrom: 0, learned: [] })
        const spent = Effect.gen(function* () {
          let sum = (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))?.spent ?? 0n
          yield* recorded.each("internal", alice, 19, ({ amount }) => {
            sum += amount
          })
          return sum
        })
        assert.strictEqual(yield* spent, 210n)
        yield* replay(3)
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 5 })
        for (const height of blocks.keys()) yield* replay(height)
        assert.strictEqual(yield* spent, 210n)
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 2 })
        assert.strictEqual(yield* spent, 210n)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("adds to the sums what a block lacked that is forgotten by then", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        const blocks = Array.from({ length: 20 }, (_, height) => blockOf(1, height, 1, 1_000, [1, height]))
        for (const block of blocks) {
          const lacks: Block = { ...block, transfers: [], missing: [{ part: "internal", reason: "no state" }] }
          yield* commits.commit([block.height === 3 || block.height === 18 ? lacks : block])
        }
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 5 })
        for (const height of [3, 18, 3, 18]) {
          const options = { callbacks: false, internalFrom: Number.MAX_SAFE_INTEGER, learned: [] } as const
          yield* commits.reprocess(blocks[height]!, options)
        }
        const kept = yield* recorded.page("internal", alice, { order: "ascending", limit: 50 })
        assert.deepStrictEqual(
          kept.transfers.map(({ height }) => height),
          [14, 15, 16, 17, 18, 19].flatMap((height) => [height, height])
        )
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 0 })
        const totals = (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))
        assert.deepStrictEqual(totals, { received: 0n, spent: 190n })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live(
      "counts blocks that come again, however low the chain was rewound, and whatever was about to be forgotten",
      () =>
        Effect.gen(function* () {
          const { commits, recorded } = yield* open
          const commit = Effect.fnUntraced(function* (from: number, to: number) {
            for (let height = from; height <= to; height++) yield* commits.commit([blockOf(1, height, 1, 1_000, [1])])
          })
          const totals = Effect.gen(function* () {
            let kept = 0n
            yield* recorded.each("internal", alice, Number.MAX_SAFE_INTEGER, ({ amount }) => {
              kept += amount
            })
            return { kept, pruned: (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))?.spent ?? 0n }
          })
          yield* commit(100, 119)
          yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 5 })
          assert.deepStrictEqual(yield* totals, { kept: 6n, pruned: 14n })
          // Below the first block, and then lower still.
          yield* commits.rewind(97)
          yield* commits.rewind(94)
          yield* commit(95, 104)
          assert.deepStrictEqual(yield* totals, { kept: 10n, pruned: 14n })
          // Up to a height that was read before the chain was rewound.
          const { id } = (yield* ChainRow.find(chain))!
          const add = (transfers: ReadonlyArray<InternalTransfer>) => PrunedInternal.add(id, "all", transfers)
          yield* TransferLog.forgetInternal(id, 114, add)
          assert.deepStrictEqual(yield* totals, { kept: 0n, pruned: 24n })
          yield* commit(105, 119)
          assert.deepStrictEqual(yield* totals, { kept: 15n, pruned: 24n })
        }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("adds to the sums what a former version filled in of a block that is forgotten", () =>
      Effect.gen(function* () {
        const { insertMany, transaction } = yield* Database
        const { commits, recorded } = yield* open
        for (let height = 0; height < 20; height++) yield* commits.commit([blockOf(1, height, 1, 1_000, [1])])
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 5 })
        const late = blockOf(
          1,
          3,
          1,
          1_000,
          Array.from({ length: 100 * 64 }, () => 10)
        )
        const rows = TimeSlice.atOnce(TransferLog.pack(1, late, () => true))
        yield* transaction(insertMany("packed_transfers", rows.packed_transfers))
        yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 2 })
        const kept = yield* recorded.page("internal", alice, { order: "ascending", limit: 50 })
        assert.lengthOf(kept.transfers, 3)
        const totals = (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))
        assert.deepStrictEqual(totals, { received: 0n, spent: 64_017n })
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("in the record of watched addresses, keeps only their sums", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        const subscriptions = yield* Subscriptions
        yield* subscriptions.create({
          ...{ account: yield* Seed.account, chain, event: "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", address: alice },
          ...{ callbackUrl: "https://example.com", secret: undefined, confirmations: 1, allowDuplicates: false }
        })
        for (let height = 0; height < 20; height++) yield* commits.commit([blockOf(1, height, 1, 1_000, [height])])
        yield* InternalRetention.prune(recorded, { record: "watched", undoDepth: 5 })
        const totals = yield* recorded.prunedTotals([alice, address(2)])
        assert.deepStrictEqual([...totals], [[Bytes.key(alice), { received: 0n, spent: 91n }]])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("counts blocks from before the record once, however often they are entered", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const early = blockOf(1, 90, 1, now - 5 * day, [7])
        const first = 100
        const blocks = Array.from({ length: 40 }, (_, i) => blockOf(1, first + i, 1, now - 2 * day + i, [1]))
        for (const block of blocks) yield* commits.commit([block])
        const spent = Effect.gen(function* () {
          let sum = (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))?.spent ?? 0n
          yield* recorded.each("internal", alice, first + blocks.length, ({ amount }) => {
            sum += amount
          })
          return sum
        })
        // As the sync of an address enters a block that moved its coins, and that of another one the same block later.
        for (let sync = 0; sync < 2; sync++) {
          yield* commits.reprocess(early, { callbacks: false, earlier: true, internalFrom: early.height })
          yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 10 })
          assert.strictEqual(yield* spent, 47n)
        }
        const clock = yield* Clock.Clock
        const currentTimeMillis = Effect.map(clock.currentTimeMillis, (millis) => millis + 13 * day * 1_000)
        const later: Clock.Clock = Object.create(clock, { currentTimeMillis: { value: currentTimeMillis } })
        const prune = InternalRetention.prune(recorded, { record: "all", undoDepth: 10 })
        yield* Effect.provideService(prune, Clock.Clock, later)
        const kept = yield* recorded.page("internal", alice, { order: "ascending", limit: 50 })
        assert.strictEqual(kept.transfers[0]!.height, first + blocks.length - 11)
        assert.strictEqual(yield* spent, 47n)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("never counts a transfer twice or not at all, however often it runs", () =>
      Effect.gen(function* () {
        const { commits, recorded } = yield* open
        let expected = 0n
        const property = fc.sample(
          fc.array(fc.array(fc.nat(1_000), { maxLength: 80 }), { minLength: 30, maxLength: 30 }),
          {
            numRuns: 1,
            seed: 7
          }
        )[0]!
        for (const [height, amounts] of property.entries()) {
          yield* commits.commit([blockOf(1, height, 1, 1_000, amounts)])
          expected += BigInt(amounts.reduce((sum, amount) => sum + amount, 0))
          if (height % 7 === 6) yield* InternalRetention.prune(recorded, { record: "all", undoDepth: 2 })
          let sum = (yield* recorded.prunedTotals([alice])).get(Bytes.key(alice))?.spent ?? 0n
          yield* recorded.each("internal", alice, height, ({ amount }) => {
            sum += amount
          })
          assert.strictEqual(sum, expected)
        }
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
