/** Nodes that do not show the past of a synced address, or show that of another branch. */
import { assert, describe, it } from "@effect/vitest"
import type { InternalTransfer, TokenTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { type NodeError, NodeRejected } from "@headwater/indexer/families/node/NodeError"
import type { AccountState, PastSource } from "@headwater/indexer/families/SideSources"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Completeness from "@headwater/indexer/store/chain/Completeness"
import * as AccountUse from "@headwater/indexer/store/chain/AccountUse"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressSync from "@headwater/indexer/sync/AddressSync"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { stores, takenStores } from "../../../../test/Stores.ts"
import { address, FakeChain } from "./FakeChain.ts"

const bounded = { mostBlocks: Number.MAX_SAFE_INTEGER }
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const refused = Effect.fail(new NodeRejected({ node: "fake", method: "a method", code: -32000, message: "is pruned" }))

/** A chain of ten blocks, its store, and what its node shows of the past unless a test has it otherwise. */
const started = Effect.gen(function* () {
  const fake = new FakeChain(chain)
  for (let height = 1; height < 10; height++) {
    fake.mine([])
    const token: TokenTransfer = {
      ...{ kind: "token", transaction: 0, position: 0, batchIndex: 0, contract: address(9), token: "fungible" },
      ...{ from: address(8), to: address(1), amount: 1n, tokenId: undefined }
    }
    if (height === 9) {
      fake.blocks[height] = { ...fake.tip, transactions: [new Uint8Array(32).fill(9)], transfers: [token] }
    }
  }
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
  yield* store.commit(fake.blocks)
  const { transaction } = yield* Database
  const shows = {
    /** The last block, and the hash of a block, as the node that answers has them. */
    height: fake.tip.height,
    hashAt: (height: number) => fake.blocks[height]!.hash,
    logsFrom: 0,
    /** Blocks with transfers. */
    heights: [9] as ReadonlyArray<number>,
    asked: [] as Array<readonly [from: number, to: number]>,
    account: (_height: number): Effect.Effect<AccountState, NodeError> =>
      Effect.succeed({ nonce: 0, balance: 0n, hasCode: false })
  }
  const past: PastSource = {
    tokenBlocks: (_addresses, from, to) => {
      shows.asked.push([from, to])
      const last = Math.min(to, shows.height)
      return from < shows.logsFrom
        ? refused
        : Effect.succeed({
            heights: shows.heights.filter((height) => from <= height && height <= last),
            hash: shows.hashAt(to)
          })
    },
    accountsAt: (_address, heights) => Effect.forEach(heights, shows.account)
  }
  const { step } = yield* AddressSync.make(
    {
      ...fake.source,
      tokenMetadata: (contracts) => Effect.succeed(contracts.map(() => ({ name: "", symbol: "", decimals: 0 })))
    },
    past,
    store,
    { pollInterval: 1 as never, concurrency: 2 }
  )
  return {
    ...{ fake, store, shows, step },
    sync: (of: number, birth: number, account = 1) =>
      transaction(
        SyncedAddresses.add(
          { account, chain, address: address(of) },
          { birth, callbackUrl: undefined, readsPast: true, ...bounded }
        )
      ),
    /** The node has said that the address was used. */
    used: (of: number) => AccountUse.enter(chain, fake.tip, [{ address: address(of), unused: false }]),
    completeness: (of: number) =>
      Effect.map(Completeness.of(chain, [address(of)]), (found) => found.get(Bytes.key(address(of)))),
    statuses: (account = 1) =>
      Effect.map(SyncedAddresses.list({ account, chain }, { after: undefined, limit: 10, order: "asc" }), (found) =>
        found.map(({ status }) => status)
      )
  }
})

for (const store of takenStores(import.meta.url)) {
  describe(`Reading the past of addresses on ${store.name}`, () => {
    it.live("takes no logs from a node that is on another branch", () =>
      Effect.gen(function* () {
        const { completeness, shows, statuses, step, sync, used } = yield* started
        yield* sync(1, 0)
        yield* used(1)
        shows.height = 8
        const hashAt = shows.hashAt
        shows.hashAt = () => new Uint8Array(32).fill(7)
        assert.match((yield* Effect.flip(step)).message, /block 9 is not the recorded one/)
        assert.strictEqual((yield* completeness(1))?.tokens, 10)
        shows.height = 9
        shows.hashAt = hashAt
        yield* step
        assert.strictEqual((yield* completeness(1))?.tokens, 0)
        assert.deepStrictEqual(yield* statuses(), ["synced"])
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("goes on for others where the node has no logs of so early a block", () =>
      Effect.gen(function* () {
        const { completeness, shows, statuses, step, sync, used } = yield* started
        yield* sync(1, 0)
        yield* sync(2, 5, 2)
        yield* used(1)
        yield* used(2)
        shows.logsFrom = 3
        assert.strictEqual((yield* Effect.flip(step))._tag, "NodeRejected")
        assert.deepStrictEqual(yield* statuses(), ["syncing"])
        assert.strictEqual((yield* completeness(1))?.tokens, 10)
        assert.deepStrictEqual(yield* statuses(2), ["synced"])
        assert.strictEqual((yield* completeness(2))?.tokens, 5)
        shows.logsFrom = 0
        yield* step
        assert.deepStrictEqual(yield* statuses(), ["synced"])
        assert.strictEqual((yield* completeness(1))?.tokens, 0)
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("reads for accounts in turn: one with many addresses holds up no other", () =>
      Effect.gen(function* () {
        const { shows, statuses, step, sync } = yield* started
        for (let of = 1; of <= 101; of++) yield* sync(of, 0)
        yield* sync(1, 5, 2)
        yield* step
        assert.deepStrictEqual(shows.asked, [
          [0, 9],
          [5, 9],
          [0, 9]
        ])
        assert.deepStrictEqual(yield* statuses(2), ["syncing"], "the node is yet to be asked for its account")
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("ends without the totals where the node keeps the states of the newest blocks alone", () =>
      Effect.gen(function* () {
        const { completeness, shows, statuses, step, sync, used } = yield* started
        yield* sync(1, 0)
        yield* used(1)
        shows.account = (height) => (height < 9 ? refused : Effect.succeed({ nonce: 0, balance: 5n, hasCode: false }))
        yield* step
        assert.deepStrictEqual(yield* statuses(), ["synced"])
        assert.deepStrictEqual(yield* completeness(1), { coins: 10, tokens: 0, history: 10, transactions: 10 })
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("has nothing to do where nodes show no past, also when an address is activated again", () =>
      Effect.gen(function* () {
        const { completeness, fake, statuses, store } = yield* started
        const { transaction } = yield* Database
        const key = { account: 1, chain, address: address(1) }
        yield* transaction(
          SyncedAddresses.add(key, { birth: undefined, callbackUrl: undefined, readsPast: false, ...bounded })
        )
        assert.deepStrictEqual(yield* statuses(), ["synced"])
        yield* transaction(SyncedAddresses.setActive(key, false, bounded))
        yield* store.commit([fake.mine([])])
        yield* transaction(SyncedAddresses.setActive(key, true, bounded))
        assert.deepStrictEqual(yield* statuses(), ["synced"])
        assert.strictEqual((yield* completeness(1))?.tokens, 11)
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("says from which block on internal transactions have to be recorded", () =>
      Effect.gen(function* () {
        const { completeness, fake, step, store, sync, used } = yield* started
        yield* sync(1, 0)
        // The node has forgotten the state at block 9.
        yield* store.commit([fake.mine([{ from: 8, to: 1 }])])
        yield* used(1)
        assert.deepStrictEqual(yield* completeness(1), { coins: 10, tokens: 10, history: 10, transactions: 10 })
        yield* step
        assert.deepStrictEqual(yield* completeness(1), { coins: 10, tokens: 0, history: 0, transactions: 10 })
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )

    it.live("enters no block whose internal transactions are forgotten while it reads", () =>
      Effect.gen(function* () {
        const { completeness, fake, shows, step, store, sync, used } = yield* started
        const clock = yield* Clock.Clock
        let ahead = 0
        const currentTimeMillis = Effect.map(clock.currentTimeMillis, (millis) => millis + ahead)
        const later: Clock.Clock = Object.create(clock, { currentTimeMillis: { value: currentTimeMillis } })
        const hour = 3_600
        const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const moved: InternalTransfer = {
          ...{ kind: "internal", transaction: 0, position: 0, operation: "call_0", operationType: "call" },
          ...{ from: address(8), to: address(1), amount: 7n }
        }
        for (let height = 10; height < 14; height++) {
          const time = height < 12 ? now - InternalRetention.keptSeconds + (height - 8) * hour : now
          fake.blocks[height] = {
            ...{ ...fake.mine([]), time, transactions: [new Uint8Array(32).fill(height)] },
            transfers: height < 12 ? [moved] : []
          }
        }
        yield* store.commit(fake.blocks.slice(10))
        yield* sync(1, 0)
        yield* used(1)
        shows.account = (height) =>
          Effect.succeed({ nonce: 0, balance: height < 10 ? 0n : height < 11 ? 7n : 14n, hasCode: false })
        const reader = yield* ChainReader.make(chain)
        const prune = InternalRetention.prune(reader, { record: "watched", undoDepth: 1 }).pipe(
          Effect.provideService(Clock.Clock, later)
        )
        const received = Effect.gen(function* () {
          let sum = (yield* reader.prunedTotals([address(1)])).get(Bytes.key(address(1)))?.received ?? 0n
          yield* reader.each("internal", address(1), fake.tip.height, ({ amount }) => {
            sum += amount
          })
          return sum
        })
        const context = yield* Effect.context<Database>()
        fake.blockFault = (height) => {
          if (height !== 11) return undefined
          fake.blockFault = undefined
          ahead = 5 * hour * 1_000
          return Effect.as(Effect.orDie(Effect.provide(prune, context)), fake.blocks[11]!)
        }
        yield* Effect.provideService(step, Clock.Clock, later)
        yield* prune
        assert.strictEqual(yield* received, 14n)
        assert.strictEqual((yield* completeness(1))?.history, 14)
      }).pipe(Effect.scoped, Effect.provide(store.layer))
    )
  })
}

describe("Reading the past of a busy address", () => {
  it.live("asks for less blocks at once where many of them have transfers", () =>
    Effect.gen(function* () {
      const { fake, store, shows, step, sync, used } = yield* started
      while (fake.tip.height < 1_009) fake.mine([])
      yield* store.commit(fake.blocks.slice(10))
      yield* sync(1, 0)
      yield* used(1)
      shows.height = fake.tip.height
      shows.heights = Array.from({ length: 1_010 }, (_, height) => height)
      yield* step
      assert.deepStrictEqual(shows.asked[0], [0, 1_009])
      // What is asked for is seen without the blocks.
      shows.heights = []
      yield* sync(2, 0)
      yield* used(2)
      yield* step
      assert.deepStrictEqual(shows.asked[1], [0, 999])
    }).pipe(Effect.scoped, Effect.provide(stores[0]!.layer))
  )
})
