/** A little data in every table: what a store of each release holds in the tests. */
import { createHash } from "node:crypto"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Asset from "@headwater/core/market/Asset"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as PostingMerge from "@headwater/indexer/store/chain/transfers/internal/PostingMerge"
import { Database } from "@headwater/indexer/store/database/Database"
import { Assets } from "@headwater/indexer/store/market/Assets"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

export const ethereum = Result.getOrThrow(Chain.find("ethereum", "devnet"))
export const litecoin = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const address = (number: number) => new Uint8Array(20).fill(number) as AddressBytes
export const apiKey = "hw_a-key-of-a-released-store"
/** BIP-84's first account, as a test key. */
export const publicKey = ExtendedPublicKey.encode(
  litecoin,
  Result.getOrThrow(
    ExtendedPublicKey.decode(
      Result.getOrThrow(Chain.find("bitcoin", "mainnet")),
      "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
    )
  )
)
/** The time of the first block, in seconds since the Unix epoch. */
export const start = 1_780_000_000
export const gapLimit = 5

const hash = (...numbers: ReadonlyArray<number>) => createHash("sha256").update(numbers.join(" ")).digest()

export const block = (fork: number, height: number, parentFork: number, transfers: ReadonlyArray<Transfer>): Block => ({
  height,
  hash: hash(fork, height),
  parent: hash(parentFork, height - 1),
  time: start + height * 12,
  transactions: [hash(fork, height, 0), hash(fork, height, 1)],
  transfers,
  spends: []
})

export const [alice, bob, contract] = [address(1), address(2), address(3)]

export const transfersAt = (height: number): ReadonlyArray<Transfer> => [
  { kind: "coin", transaction: 0, position: 0, from: alice, to: bob, amount: BigInt(height) * 10n ** 18n },
  {
    ...{ kind: "token", transaction: 1, position: 1, batchIndex: 0, token: "fungible", contract },
    ...{ from: bob, to: alice, amount: 5n, tokenId: undefined }
  },
  {
    ...{ kind: "internal", transaction: 1, operation: "call_0", operationType: "call" },
    ...{ from: contract, to: alice, amount: 7n }
  }
]

const fillAccounts = Effect.gen(function* () {
  const accounts = yield* Accounts
  const { insertMany } = yield* Database
  const { charge, chargeDays, grant } = yield* Credits
  const { id: account } = yield* accounts.create("exchange")
  yield* accounts.setRetractions((yield* accounts.create("other")).id, true)
  yield* insertMany("api_key", [
    {
      hash: createHash("sha256").update(apiKey).digest(),
      ...{ account, name: "deposits", endpoints: '["subscriptions.list"]', created: start * 1000, revoked: null }
    }
  ])
  yield* grant({ account, amount: 10_000, detail: "paid", key: "invoice 1" })
  yield* charge({ account, key: "request 1", amount: 25, results: 1, detail: "list" })
  yield* chargeDays
  return account
})

const fillEthereum = Effect.fnUntraced(function* (account: number) {
  const subscriptions = yield* Subscriptions
  const domains = yield* Domains
  const { insertMany, query } = yield* Database
  yield* domains.add(account, "receiver.example")
  yield* domains.setVerified(account, "receiver.example")
  const store = yield* ChainStore.open(ethereum, { record: "all", undoDepth: 10 })
  yield* store.commit([block(1, 100, 1, transfersAt(100))])
  const common = { account, chain: ethereum, callbackUrl: "https://receiver.example/coins", allowDuplicates: false }
  const coins = yield* subscriptions.create({
    ...{ ...common, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION", address: bob },
    ...{ secret: "a secret", confirmations: 3 }
  })
  const blocks = yield* subscriptions.create({
    ...{ ...common, event: "BLOCK_MINED", address: undefined, secret: undefined, confirmations: 1 }
  })
  for (const height of [101, 102, 103]) yield* store.commit([block(1, height, 1, transfersAt(height))])
  yield* store.undo(102)
  for (const height of [103, 104, 105]) {
    yield* store.commit([block(2, height, height === 103 ? 1 : 2, transfersAt(height))])
  }
  yield* store.setFinal(101)
  const { id: chain } = (yield* query((db) =>
    db.selectFrom("chain").select("id").where("name", "=", "ethereum/devnet")
  ))[0]!
  yield* PostingMerge.sort(chain * 4, 1)
  yield* store.commit([block(2, 106, 2, transfersAt(106))])

  // Each state that a callback can be in.
  const made = yield* query((db) =>
    db.selectFrom("callback").select(["id", "state"]).where("subscription", "=", blocks.id).orderBy("id")
  )
  const due = made.filter(({ state }) => state === "due").map(({ id }) => id)
  const attempt = (at: number, status: number) => JSON.stringify([{ at, duration: 12, status }])
  const delivered = start * 1000 + 5_000
  const states = [
    { id: due[0]!, state: "delivered", sequence: 1, delivered, attempts: 1, attempt_log: attempt(delivered, 200) },
    { id: due[1]!, state: "retracted", sequence: 2, delivered, attempts: 1, attempt_log: attempt(delivered, 200) },
    { id: due[2]!, state: "due", sequence: 3, delivered: null, attempts: 1, attempt_log: attempt(delivered, 500) },
    { id: due[3]!, state: "expired", sequence: 4, delivered: null, attempts: 0, attempt_log: "[]" },
    { id: due[4]!, state: "orphaned", sequence: 5, delivered: null, attempts: 0, attempt_log: "[]" },
    { id: due[5]!, state: "held", sequence: null, delivered: null, attempts: 0, attempt_log: "[]" }
  ] as const
  for (const { id, ...state } of states) {
    yield* query((db) => db.updateTable("callback").set(state).where("id", "=", id))
  }
  yield* query((db) => db.updateTable("subscription").set({ last_sequence: 5 }).where("id", "=", blocks.id))
  const rotated = { previous_secret: "an older secret", previous_secret_until: start * 1000 + 86_400_000 }
  yield* query((db) => db.updateTable("subscription").set(rotated).where("id", "=", coins.id))

  yield* insertMany("token", [{ chain, contract, name: "A token", symbol: "TKN", decimals: 6, height: 101 }])
  yield* insertMany("pruned_internal", [{ chain, address: alice, received: "700", spent: "0" }])
  yield* insertMany("replay", [{ chain, from_height: 101, to_height: 105, next_height: 103, callbacks: 1 }])
})

/** The wallet's first receiving addresses. */
export const receiving = (count: number): ReadonlyArray<AddressBytes> => {
  const [branch] = WalletBranches.of(litecoin, { public_key: publicKey, derivation: "account", format: "P2WPKH" })
  return WalletBranches.derive(branch!, 0, count - 1).map(({ bytes }) => bytes)
}

/** An empty block, one that pays the wallet, and one that takes the larger of the two coins. */
export const litecoinBlocks = () => {
  const pay = (height: number, to: ReadonlyArray<readonly [AddressBytes, bigint]>, spend?: Uint8Array): Block => ({
    ...block(3, height, 3, []),
    transfers: to.map(([to, amount], position) => ({
      ...{ kind: "coin", transaction: 0, position, from: undefined, to, amount }
    })),
    spends: spend === undefined ? [] : [{ transaction: 0, position: 0, outpoint: { transactionId: spend, index: 0 } }]
  })
  const [first, second] = receiving(2)
  const received = pay(2, [
    [first!, 300n],
    [second!, 20n]
  ])
  return [pay(1, []), received, pay(3, [[second!, 1n]], received.transactions[0])] as const
}

const fillLitecoin = Effect.fnUntraced(function* (account: number) {
  const wallets = yield* Wallets
  const { query } = yield* Database
  const key = Result.getOrThrow(keyOf(account, litecoin, publicKey, "account"))
  const store = yield* ChainStore.open(litecoin, { record: "watched", undoDepth: 10, gapLimit })
  const [empty, ...blocks] = litecoinBlocks()
  yield* store.commit([empty])
  const alone: InTransaction<never, never> = (change) => change
  yield* wallets.deriveAndSync(key, gapLimit, alone)
  for (const block of blocks) yield* store.commit([block])
  // A hundred addresses of each branch are too many lines to read.
  yield* query((db) => db.deleteFrom("wallet_address").where("address_index", ">", gapLimit))
})

const fillMarket = Effect.gen(function* () {
  const assets = yield* Assets
  const { claim } = yield* RecurringTasks
  const entry = yield* Schema.decodeEffect(Asset.Entry)({
    ...{ slug: "ethereum", name: "Ethereum", originalSymbol: "eth", providers: { coingecko: "ethereum" } },
    contracts: [{ blockchain: "ethereum", network: "mainnet", identifier: "ETH", standard: Asset.native }],
    logo: { encoding: "base64", mimeType: "image/png", imageData: "iVBORw0KGgo=" }
  })
  const [listed] = yield* assets.put([entry], "file")
  const asset = listed?.kind === "added" ? listed.asset : 0
  const at = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  yield* assets.record([{ asset, amount: "3000.5", at, volume24h: "12" }])
  yield* claim("coingecko quotes", 60_000)
})

/** Fills an empty store. */
export const fill = Effect.gen(function* () {
  const account = yield* fillAccounts
  yield* fillEthereum(account)
  yield* fillLitecoin(account)
  yield* fillMarket
})
