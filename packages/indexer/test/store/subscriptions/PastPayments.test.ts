import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import type { Source } from "@headwater/indexer/families/Source"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as CoinEntry from "@headwater/indexer/store/chain/CoinEntry"
import * as FoundCoins from "@headwater/indexer/store/chain/FoundCoins"
import { Database } from "@headwater/indexer/store/database/Database"
import * as FanOut from "@headwater/indexer/store/subscriptions/FanOut"
import * as Gaps from "@headwater/indexer/store/subscriptions/internal/Gaps"
import { HostPermission } from "@headwater/indexer/store/subscriptions/HostPermission"
import * as KeyWindows from "@headwater/indexer/store/subscriptions/internal/KeyWindows"
import * as ListActivation from "@headwater/indexer/store/subscriptions/ListActivation"
import { type SubscriptionKey, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as PastPaymentSync from "@headwater/indexer/sync/PastPaymentSync"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../test/Stores.ts"
import * as Seed from "../Seed.ts"

const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const types = ["receive", "change"] as const

/** Keys of nobody's: BIP-32's test vector 1, and another one. */
const keys = [
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw",
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
].map((text) => Result.getOrThrow(ExtendedPublicKey.decode(Seed.chain, text)))

let nonce = 0
const hash = () => {
  const made = new Uint8Array(32)
  new DataView(made.buffer).setUint32(0, ++nonce)
  return made
}

interface Options {
  readonly chain?: Chain.Chain
  readonly record?: "all" | "watched"
  readonly first?: number
}

const windowBounds = { branch: 4, commit: 6, windows: 2 }

/** A chain whose blocks pay addresses of the keys, and what subscriptions on these are told. */
const setting = Effect.fnUntraced(function* ({ chain = Seed.chain, first = 0, record = "all" }: Options = {}) {
  const { query } = yield* Database
  const { activate, createKey } = yield* Subscriptions
  const open = (mode: "all" | "watched") =>
    ChainStore.open(chain, { record: mode, undoDepth: 100 }).pipe(
      Effect.provideService(KeyWindows.Bounds, windowBounds),
      Effect.provideService(FanOut.Bounds, { commit: 20, address: 20, undo: 20, step: 20, turn: 20 })
    )
  let opened = yield* open(record)
  const format = chain.ledger === "outputs" ? "P2WPKH" : "STANDARD"
  const own = keys.map((key) =>
    Derivation.derive(Result.getOrThrow(Derivation.branch(chain, key, { type: "receive", format })), 0, 12).map(
      (one) => Result.getOrThrow(one).bytes
    )
  )
  const blocks: Array<Block> = []
  const referenceOf = new Map<number, SubscriptionKey>()
  /** The heights that the node was asked for. */
  const asked: Array<number> = []
  const source = {
    chain,
    blockAt: (height: number) =>
      Effect.sync(() => {
        asked.push(height)
        return blocks.find((block) => block.height === height)!
      })
  } as unknown as Source
  return {
    ...{ asked, blocks, own, query },
    undo: (fork: number) =>
      Effect.suspend(() => {
        blocks.splice(blocks.findIndex(({ height }) => height > fork))
        return opened.undo(fork)
      }),
    /** How many callbacks one transaction tells of the block at a height. */
    tellSome: (height: number) =>
      Effect.suspend(() => {
        const block = blocks.find((block) => block.height === height)!
        return opened.reprocess(block, { callbacks: "past", internalFrom: undefined })
      }),
    deactivate: query((db) => db.updateTable("subscription").set({ active: 0, parking: 1, inactive_since: 1 })).pipe(
      Effect.andThen(Gaps.begin({ parkedCount: 0, parkedMillis: 0 }))
    ),
    activate: (subscription: number) => Effect.andThen(activate(referenceOf.get(subscription)!), ListActivation.rest),
    past: Effect.suspend(() => opened.pastPayments()),
    fanOut: Effect.suspend(() => opened.fanOut),
    skip: (to: number) => Effect.suspend(() => opened.skip(blocks.at(-1)!.height, to)),
    tellPast: Effect.suspend(() => PastPaymentSync.make(source, opened, { pollInterval: 1 as never }).step),
    openAgain: Effect.fnUntraced(function* (mode: "all" | "watched") {
      opened = yield* open(mode)
    }),
    mine: Effect.fnUntraced(function* (to: ReadonlyArray<AddressBytes> = [], at?: number) {
      const last = blocks.at(-1)
      const height = at ?? (last === undefined ? first : last.height + 1)
      const header = { height, hash: hash(), parent: last?.hash ?? hash(), time: 1, transactions: to.map(hash) }
      const transfers = to.map((to, transaction): Transfer => {
        return { kind: "coin", transaction, position: 0, from: undefined, to, amount: 1n }
      })
      const block = { ...header, transfers, spends: [] }
      blocks.push(block)
      return yield* opened.commit([block])
    }),
    subscribe: Effect.fnUntraced(function* (
      window: number,
      key = 0,
      { confirmations = 1, event = "ADDRESS_COINS_TRANSACTION_CONFIRMED" as EventType } = {}
    ) {
      const account = yield* Seed.account
      const made = yield* createKey(
        {
          ...{ account, chain, event, confirmations, secret: undefined, address: undefined },
          ...{ callbackUrl: "https://example.com/", allowDuplicates: true }
        },
        {
          publicKey: ExtendedPublicKey.encode(chain, keys[key]!),
          ...{ derivation: "account", format, window },
          branches: types.map((type) => ({ type, furthestUsedIndex: undefined }))
        }
      ).pipe(Effect.provideService(KeyWindows.Bounds, windowBounds))
      referenceOf.set(made.id, { account, chain, referenceId: made.referenceId })
      return made.id
    }),
    told: (subscription: number) =>
      Effect.map(
        query((db) =>
          db.selectFrom("callback").select(["height", "body"]).where("subscription", "=", subscription).orderBy("id")
        ),
        (all) => all.map(({ body, height }) => `${height} ${JSON.parse(body).data.item.derivation?.index ?? "missed"}`)
      ),
    waiting: Effect.map(
      query((db) => db.selectFrom("past_payment").select("height").orderBy("height")),
      (all) => all.map(({ height }) => height)
    )
  }
})

for (const store of takenStores(import.meta.url)) {
  const services = Subscriptions.layer.pipe(
    Layer.provide(Layer.succeed(HostPermission, () => Effect.succeed(true))),
    Layer.provideMerge(store.layer)
  )
  describe(`PastPayments on ${store.name}`, () => {
    it.live("are told without what was told of the same block before, and has been forgotten since", () =>
      Effect.gen(function* () {
        const { mine, own, query, subscribe, tellPast, told } = yield* setting()
        const [a] = own
        yield* mine()
        const id = yield* subscribe(3)
        yield* mine([a![1]!, a![5]!])
        assert.deepStrictEqual(yield* told(id), ["1 1"])
        yield* query((db) => db.deleteFrom("callback"))
        yield* mine([a![3]!])
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["2 3", "1 5"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("are told without what was told late of the same block, and has been forgotten since", () =>
      Effect.gen(function* () {
        const { mine, own, query, subscribe, tellPast, told } = yield* setting()
        const [a] = own
        yield* mine()
        const id = yield* subscribe(3)
        yield* mine([a![4]!, a![8]!])
        yield* mine([a![2]!])
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["2 2", "1 4"])
        yield* query((db) => db.deleteFrom("callback"))
        yield* mine([a![6]!])
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["3 6", "1 8"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("of which one block has very many are told in parts, each once, whoever goes on", () =>
      Effect.gen(function* () {
        const { mine, openAgain, own, past, query, subscribe, tellPast, tellSome, told } = yield* setting()
        const [a] = own
        yield* mine()
        const id = yield* subscribe(3)
        yield* mine(Array.from({ length: 25 }, (_, i) => a![4 + (i % 2)]!))
        yield* mine([a![2]!])
        while ((yield* past).more);
        assert.strictEqual(yield* tellSome(1), 20)
        const inOrder = Effect.map(told(id), (all) => all.slice(1))
        const first = yield* inOrder
        assert.strictEqual(first.length, 20)
        yield* query((db) => db.deleteFrom("callback").where("height", "=", 1))
        yield* openAgain("all")
        yield* tellPast
        const all = [...first, ...(yield* inOrder)]
        assert.deepStrictEqual(all.toSorted(), [...Array(13).fill("1 4"), ...Array(12).fill("1 5")])
        assert.strictEqual(yield* tellSome(1), 0)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("of which one subscription has very many in a block hold up no others that have few there", () =>
      Effect.gen(function* () {
        const { mine, own, past, subscribe, tellSome, told } = yield* setting()
        const [a, b] = own
        yield* mine()
        const [many, few] = [yield* subscribe(3, 0), yield* subscribe(3, 1)]
        yield* mine([...Array(50).fill(a![4]!), b![4]!])
        yield* mine([a![2]!, b![2]!])
        while ((yield* past).more);
        for (let i = 0; i < 2; i++) assert.strictEqual(yield* tellSome(1), 20)
        assert.deepStrictEqual(yield* told(few), ["2 2", "1 4"])
        assert.strictEqual((yield* told(many)).length, 40)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("of blocks that come in the place of missed ones are told", () =>
      Effect.gen(function* () {
        const { activate, deactivate, mine, own, subscribe, tellPast, told, undo } = yield* setting()
        const [a] = own
        yield* mine()
        const id = yield* subscribe(3)
        yield* deactivate
        yield* mine()
        yield* mine([a![4]!])
        yield* activate(id)
        yield* tellPast
        yield* undo(1)
        yield* mine([a![5]!, a![1]!])
        yield* mine([a![3]!])
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["null missed", "2 1", "3 3", "2 5"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("of missed blocks are not told, also where the feed has forgotten that it named these", () =>
      Effect.gen(function* () {
        const { activate, deactivate, mine, own, query, subscribe, tellPast, told } = yield* setting()
        const [a] = own
        yield* mine()
        const id = yield* subscribe(3)
        yield* deactivate
        yield* mine([a![5]!])
        yield* activate(id)
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["null missed"])
        yield* query((db) => db.deleteFrom("callback"))
        yield* mine([a![2]!])
        yield* mine([a![3]!])
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["2 2", "3 3"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("have the confirmations that have come since in steps, and commits take no more than they write", () =>
      Effect.gen(function* () {
        const { blocks, fanOut, mine, own, subscribe, tellPast, told } = yield* setting()
        const [a] = own
        yield* mine()
        const event = "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
        const id = yield* subscribe(3, 0, { confirmations: 10, event })
        yield* mine([a![4]!, a![4]!, a![4]!])
        for (let i = 0; i < 20; i++) yield* mine()
        yield* mine([a![2]!])
        yield* tellPast
        const at = blocks.at(-1)!.height
        assert.deepStrictEqual(yield* told(id), [`${at} 2`, "1 4", "1 4", "1 4"])
        assert.isAtMost((yield* mine()).callbacks, 20)
        while ((yield* fanOut).more);
        const all = yield* told(id)
        assert.strictEqual(all.filter((one) => one === "1 4").length, 30)
        assert.strictEqual(all.length, 32)
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("are told where the search of a node begins below the block at which a window reached the address", () =>
      Effect.gen(function* () {
        const { blocks, mine, own, subscribe, tellPast, told } = yield* setting({
          ...{ chain: litecoin, record: "watched", first: 100 }
        })
        const [a] = own
        yield* mine()
        const id = yield* subscribe(2)
        yield* mine([a![3]!])
        yield* mine([a![1]!])
        const wanted = new Set([Bytes.key(a![3]!)])
        const at = FoundCoins.at({ height: blocks[0]!.height, hash: blocks[0]!.hash, coins: [] })
        const found = blocks.slice(1).reduce((before, block) => FoundCoins.advance(before, block, wanted), at)
        assert.isTrue(yield* CoinEntry.enter(litecoin, { addresses: [a![3]!], wallets: [] }, found, 20))
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["102 1", "101 3"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live(
      "are of no block that was not committed: of a key that is there before the first one, and behind a skip",
      () =>
        Effect.gen(function* () {
          const { mine, own, past, skip, subscribe, waiting } = yield* setting({ record: "watched", first: 1_000_000 })
          const [a] = own
          yield* subscribe(10)
          yield* mine()
          while ((yield* past).more);
          assert.deepStrictEqual(yield* waiting, [1_000_000])
          yield* mine([a![9]!])
          yield* skip(1_000_010)
          yield* mine([], 1_000_011)
          while ((yield* past).more);
          assert.deepStrictEqual(yield* waiting, [1_000_000, 1_000_001, 1_000_011])
        }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("are told to one account after another, however many blocks one of them has", () =>
      Effect.gen(function* () {
        const { asked, blocks, mine, own, subscribe, tellPast } = yield* setting()
        const [a, b] = own
        yield* mine()
        yield* subscribe(3, 0)
        yield* subscribe(3, 1)
        for (let i = 0; i < 8; i++) yield* mine([a![4]!])
        yield* mine([b![4]!])
        const { height } = blocks.at(-1)!
        yield* mine([a![2]!, b![2]!])
        yield* tellPast
        assert.isAtMost(asked.indexOf(height), 2)
        assert.sameMembers(asked, [1, 2, 3, 4, 5, 6, 7, 8, 9])
      }).pipe(Effect.scoped, Effect.provide(services))
    )

    it.live("are told where what was recorded is looked through when only what is watched is recorded", () =>
      Effect.gen(function* () {
        const { mine, openAgain, own, subscribe, tellPast, told } = yield* setting()
        const [a] = own
        yield* mine()
        const id = yield* subscribe(3)
        yield* mine([a![4]!])
        yield* mine([a![2]!])
        yield* openAgain("watched")
        yield* mine()
        yield* tellPast
        assert.deepStrictEqual(yield* told(id), ["2 2", "1 4"])
      }).pipe(Effect.scoped, Effect.provide(services))
    )
  })
}
