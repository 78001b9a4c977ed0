import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Spend, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import * as Confirmations from "@headwater/core/events/Confirmations"
import type { EventType } from "@headwater/core/events/EventType"
import * as Matcher from "@headwater/core/events/Matcher"
import * as Watched from "@headwater/core/events/Watched"
import { ripemd160 } from "@noble/hashes/legacy.js"
import { sha256 } from "@noble/hashes/sha2.js"
import * as Result from "effect/Result"

const ethereum = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))

const account = (number: number) => new Uint8Array(20).fill(number) as AddressBytes
const script = (number: number) =>
  Uint8Array.of(0x76, 0xa9, 0x14, ...new Uint8Array(20).fill(number), 0x88, 0xac) as AddressBytes
const hash = (number: number) => new Uint8Array(32).fill(number)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const block = (transfers: ReadonlyArray<Transfer>, spends: ReadonlyArray<Spend> = []): Block => ({
  height: 100,
  hash: hash(0xbb),
  parent: hash(0xaa),
  time: 1_700_000_000,
  transactions: [hash(1), hash(2)],
  transfers,
  spends
})

const coin = (transaction: number, from: AddressBytes | undefined, to: AddressBytes | undefined, amount: bigint) =>
  ({ kind: "coin", transaction, position: 0, from, to, amount }) as const

const match = <S extends Matcher.Subscription>(
  chain: Chain.Chain,
  transfers: ReadonlyArray<Transfer>,
  subscriptions: ReadonlyArray<S>
) => matched(chain, block(transfers), subscriptions).occurrences

const matched = <S extends Matcher.Subscription>(chain: Chain.Chain, block: Block, subscriptions: ReadonlyArray<S>) => {
  const byAddress = new Map<string, Array<S>>()
  for (const subscription of subscriptions) {
    if (subscription.address === undefined) continue
    const key = hex(subscription.address)
    byAddress.set(key, [...(byAddress.get(key) ?? []), subscription])
  }
  return Matcher.match(chain, block, {
    byAddress,
    blockMined: subscriptions.filter(({ address }) => address === undefined),
    metadata: () => ({ name: "Token", symbol: "TKN", decimals: 6 })
  })
}

const on = <E extends EventType>(event: E, address?: AddressBytes) => ({ event, address })
const coins = (address: AddressBytes) => on("ADDRESS_COINS_TRANSACTION_CONFIRMED", address)

describe("Matcher on account chains", () => {
  it("gives sender and recipient their side, and both to one that is both", () => {
    const found = match(
      ethereum,
      [coin(0, account(1), account(2), 1_500_000_000_000_000_000n), coin(1, account(1), account(1), 7n)],
      [coins(account(1)), coins(account(2))]
    )
    const summary = found.map(({ item, subscription }) => [subscription.address![0], item.direction, item.amount])
    assert.deepStrictEqual(summary, [
      [1, "outgoing", "1.5"],
      [2, "incoming", "1.5"],
      [1, "outgoing", "0.000000000000000007"],
      [1, "incoming", "0.000000000000000007"]
    ])
    assert.strictEqual(new Set(found.map(({ occurrence }) => occurrence)).size, 4)
  })

  it("writes the item exactly as interface 6.3 has it", () => {
    const [found] = match(ethereum, [coin(0, account(1), account(2), 10n ** 18n)], [coins(account(2))])
    assert.deepStrictEqual(found!.item, {
      blockchain: "ethereum",
      network: "mainnet",
      address: "0x0202020202020202020202020202020202020202",
      minedInBlock: { height: 100, hash: `0x${"bb".repeat(32)}`, timestamp: 1_700_000_000 },
      transactionId: `0x${"01".repeat(32)}`,
      amount: "1",
      unit: "ETH",
      direction: "incoming"
    })
    const [mined] = match(ethereum, [], [on("BLOCK_MINED")])
    assert.deepStrictEqual(mined!.item, {
      blockchain: "ethereum",
      network: "mainnet",
      height: 100,
      hash: `0x${"bb".repeat(32)}`,
      timestamp: 1_700_000_000
    })
  })

  it("keeps coins, tokens and internal transfers apart", () => {
    const contract = account(9)
    const token = { kind: "token", transaction: 0, contract, from: account(1), to: account(2) } as const
    const transfers: ReadonlyArray<Transfer> = [
      coin(0, account(1), account(2), 1n),
      { ...token, position: 3, batchIndex: 0, token: "fungible", amount: 2_500_000n, tokenId: undefined },
      { ...token, position: 4, batchIndex: 1, token: "multi", amount: 5n, tokenId: 77n },
      {
        ...{ kind: "internal", transaction: 1, operation: "call_0_1", operationType: "call" },
        ...{ from: account(3), to: account(2), amount: 10n ** 17n }
      }
    ]
    const tokens = match(ethereum, transfers, [on("ADDRESS_TOKENS_TRANSACTION_CONFIRMED", account(2))])
    assert.deepStrictEqual(
      tokens.map(({ item }) => [item.tokenType, item.token]),
      [
        [
          "ERC-20",
          {
            ...{ name: "Token", symbol: "TKN", decimals: "6", amount: "2.5" },
            contractAddress: "0x0909090909090909090909090909090909090909"
          }
        ],
        [
          "ERC-1155",
          {
            ...{ name: "Token", symbol: "TKN", amount: "5", tokenId: "77" },
            contractAddress: "0x0909090909090909090909090909090909090909"
          }
        ]
      ]
    )
    const [internal, ...rest] = match(ethereum, transfers, [on("ADDRESS_INTERNAL_TRANSACTION_CONFIRMED", account(2))])
    assert.strictEqual(rest.length, 0)
    assert.strictEqual(internal!.item.parentTransactionId, `0x${"02".repeat(32)}`)
    assert.strictEqual(internal!.item.operationId, "call_0_1")
    assert.strictEqual(internal!.item.amount, "0.1")
  })
})

describe("Matcher on UTXO chains", () => {
  it("nets inputs against outputs of one transaction for each address", () => {
    const found = match(
      bitcoin,
      [
        coin(0, script(1), undefined, 100_000_000n),
        coin(0, undefined, script(2), 30_000_000n),
        coin(0, undefined, script(1), 69_990_000n),
        coin(1, script(3), undefined, 5n),
        coin(1, undefined, script(3), 5n)
      ],
      [coins(script(1)), coins(script(2)), coins(script(3))]
    )
    assert.deepStrictEqual(
      found.map(({ item }) => [item.direction, item.amount]),
      [
        ["outgoing", "0.3001"],
        ["incoming", "0.3"],
        ["outgoing", "0"]
      ]
    )
  })

  describe("with an input that no transfer tells of", () => {
    const key = (number: number) => new Uint8Array(33).fill(number)
    const keyHash = (number: number) =>
      Uint8Array.of(0x76, 0xa9, 0x14, ...ripemd160(sha256(key(number))), 0x88, 0xac) as AddressBytes
    const [alice, bob, carol] = [keyHash(1), keyHash(2), keyHash(3)]
    const all = [coins(alice), coins(bob), coins(carol)]
    const spend = (transaction: number, position: number, owner?: number): Spend => ({
      ...{ transaction, position, outpoint: { transactionId: hash(0xcc), index: position } },
      ...(owner !== undefined && {
        unlocking: () => ({ scriptSig: Uint8Array.of(1, 0x99, 33, ...key(owner)), witness: [] })
      })
    })
    const summary = (transfers: ReadonlyArray<Transfer>, spends: ReadonlyArray<Spend>) => {
      const { occurrences, unresolved } = matched(bitcoin, block(transfers, spends), all)
      const nameOf = (address: AddressBytes) => ["alice", "bob", "carol"][[alice, bob, carol].indexOf(address)]
      return {
        occurrences: occurrences.map(({ item, subscription }) =>
          [nameOf(subscription.address!), item.direction, item.amount].join(" ")
        ),
        unresolved: unresolved.map(({ address, transactionId }) => `${nameOf(address)} ${transactionId[0]}`)
      }
    }

    it("leaves out the net of the address whose input may be, and of no other address or transaction", () => {
      const transfers = [
        coin(0, undefined, alice, 4n),
        coin(0, undefined, bob, 1n),
        coin(1, undefined, alice, 7n),
        coin(1, undefined, carol, 9n)
      ]
      assert.deepStrictEqual(summary(transfers, [spend(0, 0, 1), spend(1, 0, 2)]), {
        occurrences: ["bob incoming 0.00000001", "alice incoming 0.00000007", "carol incoming 0.00000009"],
        unresolved: ["alice 1"]
      })
    })

    it("a net of which a part is known is in doubt as well", () => {
      const transfers = [{ ...coin(0, alice, undefined, 5n), position: 1 }, coin(0, undefined, bob, 9n)]
      assert.deepStrictEqual(summary(transfers, [spend(0, 0, 1), spend(0, 1, 1)]), {
        occurrences: ["bob incoming 0.00000009"],
        unresolved: ["alice 1"]
      })
      assert.deepStrictEqual(summary(transfers, [spend(0, 0, 3), spend(0, 1)]), {
        occurrences: ["alice outgoing 0.00000005", "bob incoming 0.00000009"],
        unresolved: []
      })
    })

    it("of which nothing is shown: it may be anybody's", () => {
      assert.deepStrictEqual(summary([coin(0, undefined, alice, 4n), coin(1, undefined, bob, 4n)], [spend(0, 0)]), {
        occurrences: ["bob incoming 0.00000004"],
        unresolved: ["alice 1"]
      })
    })

    it("names subscriptions to coins only", () => {
      const { occurrences, unresolved } = matched(bitcoin, block([coin(0, undefined, alice, 4n)], [spend(0, 0, 1)]), [
        on("ADDRESS_COINS_TRANSACTION_UNCONFIRMED", alice),
        on("BLOCK_MINED"),
        coins(alice)
      ])
      assert.deepStrictEqual(
        occurrences.map(({ occurrence }) => occurrence),
        ["block"]
      )
      assert.deepStrictEqual(unresolved, [{ subscription: coins(alice), address: alice, transactionId: hash(1) }])
    })
  })

  it("touches only what is watched", () => {
    const watched = Watched.make([1, 2])
    watched.add(script(2))
    const seen = Matcher.addressesSeen(
      block([coin(0, script(1), undefined, 1n), coin(0, undefined, script(2), 1n)]),
      watched
    )
    assert.deepStrictEqual([...seen.keys()], [hex(script(2))])
  })
})

describe("Callback", () => {
  it("derives another key for every part that differs", () => {
    const parts = {
      ...{ referenceId: "a", event: "BLOCK_MINED", blockHash: hash(1) },
      ...{ occurrence: "block", confirmation: 1 }
    }
    const keys = [
      parts,
      { ...parts, referenceId: "b" },
      { ...parts, event: "BLOCK_MINED_REVERTED" },
      { ...parts, blockHash: hash(2) },
      { ...parts, occurrence: "other" },
      { ...parts, confirmation: 2 }
    ].map((one) => Callback.idempotencyKey(one))
    assert.strictEqual(new Set(keys).size, keys.length)
    assert.strictEqual(Callback.idempotencyKey({ ...parts }), keys[0])
    const ofPlatform = (text: string) => createHash("sha256").update(text).digest("hex")
    assert.strictEqual(Callback.idempotencyKey(parts, ofPlatform), keys[0])
  })

  it("has the common fields of interface 6.2", () => {
    const body = Callback.body({ referenceId: "r", idempotencyKey: "k", event: "BLOCK_MINED", item: { height: 1 } })
    assert.deepStrictEqual(JSON.parse(body), {
      ...{ apiVersion: "2024-12-12", referenceId: "r", idempotencyKey: "k" },
      data: { product: "BLOCKCHAIN_EVENTS", event: "BLOCK_MINED", item: { height: 1 } }
    })
  })
})

describe("Confirmations", () => {
  it("counts the block itself as the first", () => {
    assert.strictEqual(Confirmations.at(100, 100), 1)
    assert.strictEqual(Confirmations.at(102, 100), 3)
    assert.strictEqual(Confirmations.at(99, 100), 0)
    assert.strictEqual(Confirmations.dueHeight(100, 1), 100)
    assert.strictEqual(Confirmations.at(Confirmations.dueHeight(100, 6), 100), 6)
  })
})
