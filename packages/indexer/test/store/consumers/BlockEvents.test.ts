import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, TokenTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ConsumedAddresses from "@headwater/indexer/store/consumers/ConsumedAddresses"
import * as ConsumerChanges from "@headwater/indexer/store/consumers/ConsumerChanges"
import * as Consumers from "@headwater/indexer/store/consumers/Consumers"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { stores } from "../../../../../test/Stores.ts"
import { UtxoChain } from "../../families/utxo/UtxoChain.ts"
import { address } from "../../sync/FakeChain.ts"

const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))

const open = (chain: Chain.Chain, addresses: ConsumedAddresses.ConsumedAddresses) =>
  Effect.provideService(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), ConsumedAddresses.Current, {
    ...{ addresses, onRecorded: Effect.void }
  })

/** The blocks that a new consumer is told. */
const told = (chain: Chain.Chain) =>
  Effect.gen(function* () {
    const consumer = yield* Consumers.open(chain, "one", "first")
    return (yield* ConsumerChanges.next(consumer, consumer.acknowledged))?.blocks ?? []
  })

const script = (number: number) => Uint8Array.of(0, 20, ...address(number)) as AddressBytes
const [ours, theirs] = [script(1), script(2)]

const sqlite = stores.filter(({ name }) => name === "sqlite")

describe.each(sqlite)("BlockEvents on $name", ({ layer }) => {
  it.effect(
    "have what an address of a UTXO chain gets and pays, also where nobody subscribes and the node shows no prevouts",
    () =>
      Effect.gen(function* () {
        const node = new UtxoChain(litecoin)
        node.mine([
          {
            spends: [],
            pays: [
              { to: ours, amount: 500n },
              { to: theirs, amount: 9n }
            ]
          }
        ])
        const coin = node.coins.find(({ amount }) => amount === 500n)!
        node.mine([
          {
            spends: [coin.outpoint],
            pays: [
              { to: theirs, amount: 300n },
              { to: ours, amount: 190n }
            ]
          }
        ])
        const store = yield* open(litecoin, ConsumedAddresses.make([ours]))
        yield* store.commit(node.blocks)
        const blocks = yield* told(litecoin)
        const items = blocks.map(({ events }) =>
          events.map(({ item }) => ("amount" in item ? `${item.direction} ${item.amount}` : ""))
        )
        assert.deepStrictEqual(items, [[], ["incoming 0.000005"], ["outgoing 0.0000031"]])
        assert.isTrue(blocks.every(({ incomplete, unresolved }) => !incomplete && unresolved.length === 0))
        const ids = blocks.flatMap(({ events }) => events.map(({ id }) => id))
        assert.strictEqual(new Set(ids).size, 2)
      }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("are of outputs that have an address, where all addresses are meant", () =>
    Effect.gen(function* () {
      const node = new UtxoChain(litecoin)
      const payToKey = (number: number) =>
        Uint8Array.of(33, 2, ...new Uint8Array(32).fill(number), 0xac) as AddressBytes
      const multisig = Uint8Array.of(0x51, 33, 3, ...new Uint8Array(32).fill(3), 0x51, 0xae) as AddressBytes
      const pays = [payToKey(1), ours, payToKey(2), multisig].map((to) => ({ to, amount: 7n }))
      node.mine([{ spends: [], pays }])
      const keyCoin = node.coins.find(({ script }) => script === pays[0]!.to)!
      node.mine([{ spends: [keyCoin.outpoint], pays: [{ to: payToKey(4), amount: 7n }] }])
      const store = yield* open(litecoin, ConsumedAddresses.all(litecoin))
      yield* store.commit(node.blocks)
      const blocks = yield* told(litecoin)
      const events = blocks.flatMap(({ events }) => events)
      const addresses = events.map(({ item }) => item.address)
      assert.deepStrictEqual(addresses, [Address.encode(litecoin, ours)!])
      assert.isTrue(blocks.every(({ unresolved }) => unresolved.length === 0))
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("have the names of tokens, which the node is asked for, and say what a block lacks", () =>
    Effect.gen(function* () {
      const contract = address(9)
      const token: TokenTransfer = {
        ...{ kind: "token", transaction: 0, position: 0, batchIndex: 0, token: "fungible", tokenId: undefined },
        ...{ amount: 25n, contract, from: address(5), to: address(1) }
      }
      const block: Block = {
        ...{ height: 0, hash: new Uint8Array(32).fill(1), parent: new Uint8Array(32), time: 1_700_000_000, spends: [] },
        ...{ transactions: [new Uint8Array(32).fill(2)], transfers: [token] },
        missing: [{ part: "internal", reason: "no node traces" }]
      }
      const store = yield* open(ethereum, ConsumedAddresses.all(ethereum))
      const mentions = yield* store.unknownTokens([block])
      assert.deepStrictEqual(mentions, [{ contract, height: 0 }])
      const metadata = { name: "A token", symbol: "TOK", decimals: 1 }
      yield* store.commit(
        [block],
        mentions.map((mention) => ({ ...mention, metadata }))
      )
      const [first] = yield* told(ethereum)
      const items = first!.events.map(
        ({ item, kind }) => kind === "token" && [item.direction, item.token.amount, item.token.symbol]
      )
      assert.deepStrictEqual(items, [
        ["outgoing", "2.5", "TOK"],
        ["incoming", "2.5", "TOK"]
      ])
      assert.isTrue(first!.incomplete)
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("are those of an account, and not of its user with a tag as well, where all addresses are meant", () =>
    Effect.gen(function* () {
      const [from, to] = [address(5), address(6)]
      const transfer = { kind: "coin", transaction: 0, position: 0, from, to, amount: 25n } as const
      const block: Block = {
        ...{ height: 0, hash: new Uint8Array(32).fill(1), parent: new Uint8Array(32), time: 1_700_000_000, spends: [] },
        transactions: [new Uint8Array(32).fill(2)],
        transfers: [
          { ...transfer, taggedTo: Address.withTag(to, 7), details: { transactionType: "Payment", destinationTag: 7 } }
        ]
      }
      const store = yield* open(xrp, ConsumedAddresses.all(xrp))
      yield* store.commit([block])
      const [first] = yield* told(xrp)
      const items = first!.events.map(
        ({ item, kind }) => kind === "coin" && [item.direction, item.address, item.destinationTag]
      )
      assert.deepStrictEqual(items, [
        ["outgoing", Address.encode(xrp, from), 7],
        ["incoming", Address.encode(xrp, to), 7]
      ])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )

  it.effect("have what addresses get from the block on that follows their addition", () =>
    Effect.gen(function* () {
      const addresses = ConsumedAddresses.make([ours])
      const store = yield* open(litecoin, addresses)
      const node = new UtxoChain(litecoin)
      const pay = () => node.mine([{ spends: [], pays: [ours, theirs].map((to) => ({ to, amount: 1n })) }])
      const counts = Effect.map(told(litecoin), (blocks) => blocks.map(({ events }) => events.length))
      yield* store.commit([node.tip])
      yield* store.commit([pay()])
      addresses.add([theirs])
      yield* store.commit([pay()])
      addresses.remove([ours])
      // Twice, since an address that nobody subscribes to is watched no more once it was seen.
      yield* store.commit([pay()])
      yield* store.commit([pay()])
      assert.deepStrictEqual(yield* counts, [0, 1, 2, 1, 1])
    }).pipe(Effect.scoped, Effect.provide(layer))
  )
})
