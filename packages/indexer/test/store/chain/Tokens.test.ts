import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { LearnedToken, TokenMention } from "@headwater/indexer/store/chain/Tokens"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { takenStores } from "../../../../../test/Stores.ts"
import { bytes } from "../../sync/FakeChain.ts"
import * as Seed from "../Seed.ts"

const { chain } = Seed

const address = (number: number) => bytes(20, 1, number) as AddressBytes
const contract = (number: number) => bytes(20, 2, number) as AddressBytes
const hash = (height: number) => bytes(32, 3, height)
const [alice, stranger] = [address(1), address(2)]

/** A block that moves a token of each of these contracts to alice, or between strangers. */
const block = (height: number, contracts: ReadonlyArray<number>, to = alice): Block => ({
  ...{ height, hash: hash(height), parent: hash(height - 1), time: 1_700_000_000 + height, spends: [] },
  transactions: [bytes(32, 4, height)],
  transfers: contracts.map(
    (number, position): TokenTransfer => ({
      ...{ kind: "token", transaction: 0, position, batchIndex: 0, token: "fungible", tokenId: undefined, amount: 5n },
      ...{ contract: contract(number), from: stranger, to }
    })
  )
})

const numberOf = (contract: AddressBytes) => new DataView(contract.buffer).getUint32(4)

/** What a node says: everything, but of contracts from 2,000 on nothing. */
const answered = (mentions: ReadonlyArray<TokenMention>): ReadonlyArray<LearnedToken> =>
  mentions.map((mention) => {
    const number = numberOf(mention.contract)
    const said = { name: `Token ${number}`, symbol: `T${number}`, decimals: number % 30 }
    return { ...mention, metadata: number >= 2_000 ? { name: "", symbol: "", decimals: undefined } : said }
  })

const named = (mentions: ReadonlyArray<TokenMention>) =>
  mentions.map(({ contract, height }) => [numberOf(contract), height])

const open = ChainStore.open(chain, { record: "all", undoDepth: 10 })

const subscribe = Effect.gen(function* () {
  const subscriptions = yield* Subscriptions
  yield* subscriptions.create({
    ...{ account: yield* Seed.account, chain, event: "ADDRESS_TOKENS_TRANSACTION_CONFIRMED", address: alice },
    ...{ callbackUrl: "https://example.com", secret: undefined, confirmations: 1, allowDuplicates: false }
  })
})

/** Symbols in the callbacks, in their order. */
const symbols = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query((db) => db.selectFrom("callback").select("body").orderBy("id")),
    (rows) => rows.map(({ body }) => JSON.parse(body).data.item.token.symbol as string)
  )
)

/** Heights of the rows that are kept, by the number of the contract. */
const kept = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query((db) => db.selectFrom("token").select(["contract", "height"])),
    (rows) => rows.map(({ contract, height }) => [numberOf(Uint8Array.from(contract) as AddressBytes), height]).sort()
  )
)

for (const store of takenStores(import.meta.url)) {
  const layer = Subscriptions.layer.pipe(Layer.provideMerge(store.layer))

  describe(`Tokens on ${store.name}`, () => {
    it.live("names each contract of watched transfers once, with its first block, and after a restart none again", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        assert.deepStrictEqual(yield* chainStore.unknownTokens([block(5, [1])]), [], "nothing is watched")
        yield* subscribe
        const blocks = [block(5, [1, 2_001]), block(6, [7], stranger), block(7, [1, 2])]
        const unknown = yield* chainStore.unknownTokens(blocks)
        assert.deepStrictEqual(named(unknown), [
          [1, 5],
          [2_001, 5],
          [2, 7]
        ])
        yield* chainStore.commit(blocks, answered(unknown))
        assert.deepStrictEqual(yield* symbols, ["T1", "", "T1", "T2"])
        assert.deepStrictEqual(yield* kept, [
          [1, 5],
          [2, 7],
          [2_001, 5]
        ])
        assert.deepStrictEqual(yield* chainStore.unknownTokens([block(8, [2, 2_001])]), [])
        const again = yield* open
        assert.deepStrictEqual(named(yield* again.unknownTokens([block(8, [2, 3, 2_001])])), [[3, 8]])
        yield* again.commit([block(8, [2])], [])
        assert.deepStrictEqual((yield* symbols).at(-1), "T2")
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("enters nothing where a contract is not known, and no name is ever made up", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        // Asked before the subscription is there: the node was not asked for the contract.
        const early = yield* chainStore.unknownTokens([block(5, []), block(6, [1, 2])])
        assert.deepStrictEqual(early, [])
        yield* subscribe
        const blocks = [block(5, []), block(6, [1, 2])]
        const error = yield* Effect.flip(chainStore.commit(blocks, answered(early)))
        assert.strictEqual(error._tag, "TokensUnknown")
        assert.strictEqual(error.message, "Block 6 has 2 token contracts whose names have to be asked for first")
        assert.isUndefined(yield* chainStore.cursor)
        assert.deepStrictEqual(yield* symbols, [])
        yield* chainStore.commit(blocks, answered(yield* chainStore.unknownTokens(blocks)))
        assert.deepStrictEqual(yield* symbols, ["T1", "T2"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("leaves contracts without a name on a chain whose node is not asked, and keeps nothing of them", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* subscribe
        yield* chainStore.commit([block(5, [1])])
        assert.deepStrictEqual(yield* symbols, [""])
        assert.deepStrictEqual(yield* kept, [])
        assert.deepStrictEqual(named(yield* chainStore.unknownTokens([block(6, [1])])), [[1, 6]])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("keeps nothing of a commit that fails", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* subscribe
        const learned = answered(yield* chainStore.unknownTokens([block(5, [1])]))
        yield* Effect.flip(chainStore.commit([block(5, [1]), block(6, [2])], learned))
        assert.deepStrictEqual(yield* kept, [])
        assert.deepStrictEqual(named(yield* chainStore.unknownTokens([block(5, [1])])), [[1, 5]])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("forgets what was learned for blocks that are undone", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* subscribe
        for (const next of [block(5, [1]), block(6, [2])]) {
          yield* chainStore.commit([next], answered(yield* chainStore.unknownTokens([next])))
        }
        yield* chainStore.undo(5)
        assert.deepStrictEqual(yield* kept, [[1, 5]])
        assert.deepStrictEqual(named(yield* chainStore.unknownTokens([block(6, [1, 2])])), [[2, 6]])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.effect("asks again, after ten minutes, for a fungible token that has said no decimals", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* subscribe
        const said = (name: string, decimals: number | undefined) => (mentions: ReadonlyArray<TokenMention>) =>
          mentions.map((mention) => ({ ...mention, metadata: { name, symbol: name, decimals } }))
        const asked = (height: number) => Effect.map(chainStore.unknownTokens([block(height, [1])]), named)
        const enter = Effect.fnUntraced(function* (height: number, answer: ReturnType<typeof said>) {
          const next = block(height, [1])
          yield* chainStore.commit([next], answer(yield* chainStore.unknownTokens([next])))
        })
        yield* enter(5, said("USDT", undefined))
        // However many blocks go by meanwhile: those of long ago go by in no time.
        yield* TestClock.adjust("599 seconds")
        assert.deepStrictEqual(yield* asked(9_000), [])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* asked(6), [[1, 6]])
        // The contract says even less: what was known stays.
        yield* enter(6, said("", undefined))
        assert.deepStrictEqual([yield* kept, yield* asked(7)], [[[1, 6]], []])
        const again = yield* open
        assert.deepStrictEqual(yield* again.unknownTokens([block(7, [1])]), [])
        yield* TestClock.adjust("600 seconds")
        assert.deepStrictEqual(named(yield* again.unknownTokens([block(7, [1])])), [[1, 7]])
        yield* enter(7, said("Tether", 1))
        yield* TestClock.adjust("600 seconds")
        assert.deepStrictEqual(yield* asked(8), [])
        const { query } = yield* Database
        const bodies = yield* query((db) => db.selectFrom("callback").select("body").orderBy("id"))
        assert.deepStrictEqual(
          bodies.map(({ body }) => {
            const { amount, decimals, name } = JSON.parse(body).data.item.token
            return [name, amount, decimals]
          }),
          [
            ["USDT", "5", undefined],
            ["USDT", "5", undefined],
            ["Tether", "0.5", "1"]
          ]
        )
        // An answer goes with its block: the contract is asked for anew.
        yield* chainStore.undo(6)
        assert.deepStrictEqual(yield* asked(7), [[1, 7]])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.effect("asks again for a few contracts at once, and for the others with the next blocks", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* subscribe
        const silent = Array.from({ length: 50 }, (_, i) => 2_000 + i)
        const enter = Effect.fnUntraced(function* (height: number, contracts: ReadonlyArray<number>) {
          const next = block(height, contracts)
          const unknown = yield* chainStore.unknownTokens([next])
          yield* chainStore.commit([next], answered(unknown))
          while ((yield* chainStore.fanOut).more) {}
          return unknown.map(({ contract }) => numberOf(contract))
        })
        assert.deepStrictEqual(yield* enter(5, silent), silent)
        yield* TestClock.adjust("10 minutes")
        // A contract that nobody has asked for is never left out.
        assert.deepStrictEqual(yield* enter(6, [...silent, 1]), [...silent.slice(0, 32), 1])
        assert.deepStrictEqual(yield* enter(7, silent), silent.slice(32))
        assert.deepStrictEqual(yield* enter(8, silent), [])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("keeps answers about the same contracts of several at once", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* chainStore.commit([block(5, [])])
        const { keepTokens, tokens } = yield* ChainReader.make(chain)
        const learned = answered(Array.from({ length: 900 }, (_, i) => ({ contract: contract(i + 2_000), height: 5 })))
        for (let i = 0; i < 20; i++) {
          yield* Effect.all([keepTokens(learned), keepTokens(learned.toReversed())], { concurrency: "unbounded" })
        }
        assert.strictEqual((yield* tokens(learned.map((token) => token.contract))).size, 900)
      }).pipe(Effect.scoped, Effect.provide(layer))
    )

    it.live("knows many contracts", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        yield* subscribe
        const many = block(
          5,
          Array.from({ length: 1_100 }, (_, i) => i)
        )
        const unknown = yield* chainStore.unknownTokens([many])
        assert.lengthOf(unknown, 1_100)
        yield* chainStore.commit([many], answered(unknown))
        // So many callbacks are left to steps.
        while ((yield* chainStore.fanOut).more) {}
        const again = yield* open
        assert.deepStrictEqual(yield* again.unknownTokens([many]), [])
        assert.deepStrictEqual((yield* symbols).slice(-2), ["T1098", "T1099"])
      }).pipe(Effect.scoped, Effect.provide(layer))
    )
  })
}
