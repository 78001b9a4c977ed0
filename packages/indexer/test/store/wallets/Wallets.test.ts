import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import type { RecordingMode } from "@headwater/indexer/store/chain/RecordingMode"
import { Database, type DatabaseError } from "@headwater/indexer/store/database/Database"
import * as ManagedWallets from "@headwater/indexer/store/wallets/ManagedWallets"
import * as SpendableCoins from "@headwater/indexer/store/wallets/SpendableCoins"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf, type WalletKey } from "@headwater/indexer/store/wallets/WalletKey"
import * as WalletLists from "@headwater/indexer/store/wallets/WalletLists"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import * as Result from "effect/Result"
import * as TestClock from "effect/testing/TestClock"
import * as fc from "fast-check"
import { takenStores } from "../../../../../test/Stores.ts"
import { type Find, interruptedSearch, type Payment, searching, UtxoChain } from "../../families/utxo/UtxoChain.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const gapLimit = 20
const alone: InTransaction<never, never> = (change) => change

// The account keys of BIP-84 (mnemonic abandon … about) and of BIP-32's first test vector, as test keys.
const accountKeys = [
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
]
const mainnet = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const texts = accountKeys.map((text) =>
  ExtendedPublicKey.encode(chain, Result.getOrThrow(ExtendedPublicKey.decode(mainnet, text)))
)
const walletKey = (account: number, key: number, derivation: Derivation.Derivation = "account"): WalletKey =>
  Result.getOrThrow(keyOf(account, chain, texts[key]!, derivation))

const scripts = (key: WalletKey, branch: number, count: number): ReadonlyArray<AddressBytes> =>
  WalletBranches.derive(WalletBranches.of(chain, { ...key, public_key: key.publicKey })[branch]!, 0, count - 1).map(
    ({ bytes }) => bytes
  )

const owned = (node: UtxoChain, addresses: Iterable<AddressBytes>) => {
  const wanted = new Set([...addresses].map(Bytes.key))
  return node.coins.filter(({ script }) => wanted.has(Bytes.key(script)))
}
const sum = (coins: ReadonlyArray<{ readonly amount: bigint }>) =>
  coins.reduce((total, { amount }) => total + amount, 0n)

const follow = (
  node: UtxoChain,
  options: { readonly record?: RecordingMode; readonly search?: Find; readonly lookAhead?: number } = {}
) =>
  Effect.gen(function* () {
    const store = yield* ChainStore.open(chain, { record: options.record ?? "watched", undoDepth: 100, gapLimit })
    const { step } = yield* Follow.make(node.source, store, {
      ...{ start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 100 }
    })
    const find = options.search ?? ((addresses) => Effect.sync(() => node.search(addresses)))
    const sync = yield* CoinSync.make(node.source, searching(find), store, {
      ...{ pollInterval: Duration.millis(1), gapLimit, lookAhead: options.lookAhead ?? 100 }
    })
    return { step, sync: sync.step, run: sync.run, store }
  })

const synced = Effect.fnUntraced(function* (key: WalletKey) {
  const wallet = yield* (yield* Wallets).get(key)
  assert.strictEqual(wallet?.state, "synced")
  assert.isDefined(wallet!.balance)
  return wallet!
})

/** Addresses of each branch that the model pays. */
const count = 460
const derived = new Map<string, ReadonlyArray<AddressBytes>>()
/** As {@link scripts}, derived once for all accounts. */
const known = (key: WalletKey, branch: number) => {
  const name = `${key.publicKey} ${key.derivation} ${branch}`
  const addresses = derived.get(name) ?? scripts(key, branch, count)
  derived.set(name, addresses)
  return addresses
}

/**
 * By the node's chain, the index after the last address of a branch that was used and is reached from the first by gaps
 * that are no wider than the limit.
 */
const endOf = (node: UtxoChain, branch: ReadonlyArray<AddressBytes>) => {
  const paid = new Set(
    node.blocks.flatMap(({ transfers }) => transfers.flatMap(({ to }) => (to === undefined ? [] : [Bytes.key(to)])))
  )
  const used = branch.flatMap((script, index) => (paid.has(Bytes.key(script)) ? [index + 1] : []))
  return used.reduce((end, next) => (next <= end + gapLimit ? next : end), 0)
}

const stranger = Address.fromBytes(Uint8Array.of(0x51))
const pay = (to: AddressBytes, amount: bigint): Payment => ({ spends: [], pays: [{ to, amount }] })

for (const store of takenStores(import.meta.url)) {
  const layer = Layer.mergeAll(Wallets.layer, ChainStatus.layer).pipe(Layer.provideMerge(store.layer))

  describe(`Wallets on ${store.name}`, () => {
    it.live("finds a wallet with coins at indices 0, 19, 38 and 57 whole on its first sync", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 200)
        for (const index of [0, 19, 38, 57]) node.mine([pay(receive[index]!, BigInt(index + 1))])
        const { step, sync } = yield* follow(node)
        yield* step
        assert.isUndefined(yield* wallets.get(key))
        const first = yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.deepStrictEqual(
          first.map(({ index }) => index),
          Array.from({ length: 100 }, (_, i) => i)
        )
        assert.strictEqual((yield* wallets.get(key))?.state, "scanning")
        const refused = yield* Effect.flip(wallets.deriveAndSync(key, gapLimit, alone))
        assert.strictEqual(refused._tag, "WalletScanning")
        yield* sync
        const wallet = yield* synced(key)
        assert.strictEqual(wallet.balance, 118n)
        assert.strictEqual(wallet.completeFrom, 4)
        const second = yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.strictEqual(second[0]!.index, 58)
        assert.strictEqual(second.length, 100)
        yield* sync
        assert.strictEqual((yield* synced(key)).balance, 118n)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("blocks that share a commit use addresses, watch further and move balances as one after another", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const { query } = yield* Database
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const [receive, change] = [known(key, 0), known(key, 1)]
        const opened = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100, gapLimit })
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        const used = new Map<string, number>()
        // The gap is reached again and again within the commit, by the payments that come to be watched so.
        for (let index = 0; index < 24; index++) {
          const paid = [receive[index * 18]!, receive[0]!, change[index * 9]!, change[Math.max(0, index - 3)]!]
          const mine = owned(node, receive)[0]
          const pays = paid.map((to, at) => ({ to, amount: BigInt(100 * index + at + 1) }))
          const { height } = node.mine([{ spends: mine === undefined ? [] : [mine.outpoint], pays }])
          for (const to of paid) if (!used.has(Bytes.key(to))) used.set(Bytes.key(to), height)
        }
        assert.strictEqual((yield* opened.commit(node.blocks)).blocks, node.blocks.length)
        const rows = yield* query((db) =>
          db.selectFrom("wallet_address").select(["address", "used_height"]).where("used_height", "is not", null)
        )
        assert.deepStrictEqual(new Map(rows.map((row) => [Bytes.key(row.address), row.used_height])), used)
        assert.lengthOf(rows, used.size)
        // Until a node is searched for what has come to be watched, no balance is answered; it moves all the same.
        const [stored] = yield* query((db) => db.selectFrom("wallet").select("balance"))
        assert.strictEqual(stored!.balance, sum(owned(node, [...receive, ...change])).toString())
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("watches further within the block that uses an address, again and again", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const { step, sync } = yield* follow(node)
        yield* step
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        yield* sync
        const receive = scripts(key, 0, 200)
        const change = scripts(key, 1, 200)
        const indices = [99, 119, 139, 159]
        // In the opposite order, and the last coin is spent in the block that brings it.
        const spent = { transactionId: node.nextId(0), index: 0 }
        node.mine([
          ...[...indices].reverse().map((index) => pay(receive[index]!, BigInt(index))),
          { spends: [spent], pays: [{ to: change[99]!, amount: 7n }] },
          pay(change[119]!, 5n)
        ])
        yield* step
        const balance = Effect.map(wallets.get(key), (wallet) => wallet?.balance)
        assert.strictEqual(yield* balance, 99n + 119n + 139n + 7n + 5n)
        // Unused since: the fork takes the use back, and the same block is committed again.
        node.drop(1)
        node.mine([])
        node.mine([pay(receive[179]!, 3n)])
        yield* step
        assert.strictEqual(yield* balance, 3n, "watched is watched")
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("takes in what happens while coins are searched, and a fork between the search and now", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 30)
        node.mine([pay(receive[0]!, 1_000n), pay(receive[1]!, 200n)])
        let searches = 0
        let meanwhile: Effect.Effect<void> = Effect.void
        const { step, sync } = yield* follow(node, {
          search: (addresses) =>
            Effect.suspend(() => {
              searches++
              const found = node.search(addresses)
              return Effect.as(meanwhile, found)
            })
        })
        yield* step
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        const [first] = owned(node, [receive[0]!])
        meanwhile = Effect.suspend(() => {
          meanwhile = Effect.void
          node.mine([{ spends: [first!.outpoint], pays: [{ to: receive[2]!, amount: 30n }] }])
          node.mine([pay(receive[3]!, 4n)])
          return Effect.orDie(step)
        })
        yield* sync
        assert.strictEqual((yield* synced(key)).balance, 234n)
        // The block at which coins were searched stays, so nothing has to be searched again.
        node.drop(2)
        for (let i = 0; i < 3; i++) node.mine([])
        yield* step
        assert.strictEqual((yield* synced(key)).balance, 1_200n)
        yield* sync
        assert.strictEqual(searches, 1)
        // That block goes too: what was spent before it is unknown until coins have been searched again.
        node.drop(4)
        for (let i = 0; i < 6; i++) node.mine([pay(receive[1]!, 1n)])
        yield* step
        assert.deepStrictEqual(yield* wallets.get(key), {
          ...{ balance: undefined, completeFrom: undefined },
          state: "scanning"
        })
        yield* sync
        assert.strictEqual((yield* synced(key)).balance, 6n)
        assert.strictEqual(searches, 2)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("enters nothing for a wallet that goes with its account while its coins are searched", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const { query } = yield* Database
        const node = new UtxoChain(chain)
        const [gone, stays] = [walletKey(1, 0), walletKey(2, 0)]
        const receive = scripts(gone, 0, 200)
        node.mine([pay(receive[0]!, 5n), pay(receive[130]!, 7n)])
        let meanwhile: Effect.Effect<void, DatabaseError> = Effect.void
        const context = yield* Effect.context<Database>()
        const { step, sync } = yield* follow(node, {
          search: (addresses) => Effect.as(Effect.orDie(Effect.suspend(() => meanwhile)), node.search(addresses))
        })
        yield* step
        yield* wallets.deriveAndSync(gone, gapLimit, alone)
        yield* wallets.deriveAndSync(stays, gapLimit, alone)
        meanwhile = Effect.provideContext(AccountRemoval.remove(gone.account), context)
        yield* sync
        // A gap that gets shorter has its wallet watched further.
        node.mine([pay(receive[190]!, 11n)])
        yield* step
        yield* sync
        assert.strictEqual((yield* synced(stays)).balance, 23n)
        const ids = yield* query((db) => db.selectFrom("wallet").select("id"))
        const owners = yield* query((db) => db.selectFrom("wallet_address").select("wallet").distinct())
        assert.deepStrictEqual(
          owners.map(({ wallet }) => wallet),
          ids.map(({ id }) => id)
        )
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    for (const watcher of ["another wallet", "a single address"] as const) {
      it.live(`counts an address as used that was used and emptied while ${watcher} alone watched it`, () =>
        Effect.gen(function* () {
          const wallets = yield* Wallets
          const { transaction } = yield* Database
          const node = new UtxoChain(chain)
          const [first, second] = [walletKey(1, 0), walletKey(2, 0)]
          const receive = scripts(first, 0, 250)
          const { step, sync } = yield* follow(node)
          yield* step
          const used = [3, 110]
          if (watcher === "another wallet") yield* wallets.deriveAndSync(first, gapLimit, alone)
          else {
            const options = { birth: undefined, readsPast: false, callbackUrl: undefined, mostBlocks: 0 }
            for (const index of used) {
              const key = { account: 1, chain, address: receive[index]! }
              yield* transaction(SyncedAddresses.add(key, options))
            }
          }
          yield* sync
          for (const index of used) {
            node.mine([pay(receive[index]!, 5n)])
            node.mine([{ spends: [owned(node, [receive[index]!])[0]!.outpoint], pays: [{ to: stranger, amount: 5n }] }])
          }
          yield* step
          const fresh = yield* wallets.deriveAndSync(second, gapLimit, alone)
          assert.strictEqual(fresh[0]!.index, 111)
          yield* sync
          const belonging = yield* WalletLists.belonging(second, gapLimit)
          assert.lengthOf(belonging, 111 + gapLimit + gapLimit)
          assert.deepStrictEqual(
            belonging.flatMap(({ isUsed }, index) => (isUsed ? [index] : [])),
            used
          )
          node.drop(2)
          for (let i = 0; i < 3; i++) node.mine([])
          yield* step
          yield* sync
          const [next] = yield* wallets.deriveAndSync(second, gapLimit, alone)
          assert.strictEqual(next!.index, 4, "the second use has left the chain")
        }).pipe(Effect.provide(layer), Effect.scoped)
      )
    }

    it.live("gives out no address that a block uses, for another wallet, while the addresses are derived", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const [first, second] = [walletKey(1, 0), walletKey(2, 0)]
        const receive = scripts(first, 0, 10)
        const { step } = yield* follow(node)
        yield* step
        yield* wallets.deriveAndSync(first, gapLimit, alone)
        let isFirst = true
        const behindBlock: InTransaction<never, never> = (change) => {
          if (isFirst) node.mine([pay(receive[3]!, 5n)])
          isFirst = false
          return Effect.andThen(Effect.orDie(step), change)
        }
        const [fresh] = yield* wallets.deriveAndSync(second, gapLimit, behindBlock)
        assert.strictEqual(fresh!.index, 4)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("begins behind an address that was emptied of late, where every coin is recorded", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 10)
        node.mine([pay(receive[2]!, 5n), pay(receive[7]!, 9n)])
        const coins = owned(node, receive)
        const { step } = yield* follow(node, { record: "all" })
        node.mine([{ spends: coins.map(({ outpoint }) => outpoint), pays: [{ to: stranger, amount: 14n }] }])
        yield* step
        const [first] = yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.strictEqual(first!.index, 8)
        // As long as the block that paid the address is there.
        node.drop(2)
        node.mine([])
        node.mine([])
        node.mine([])
        yield* step
        const [again] = yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.strictEqual(again!.index, 0)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("gives out no address behind one that somebody else watches before the coins there are known", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const { transaction } = yield* Database
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 260)
        const { step, sync } = yield* follow(node)
        yield* step
        const options = { birth: undefined, readsPast: false, callbackUrl: undefined, mostBlocks: 0 }
        yield* transaction(SyncedAddresses.add({ account: 1, chain, address: receive[230]! }, options))
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        yield* sync
        node.mine([pay(receive[40]!, 5n), pay(receive[230]!, 5n), pay(receive[240]!, 7n)])
        yield* step
        const given = yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.notInclude(
          given.map(({ index }) => index),
          240
        )
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live(
      "has the coin of an address that somebody else watches, and that the wallet reaches in the block of the coin",
      () =>
        Effect.gen(function* () {
          const wallets = yield* Wallets
          const { query, transaction } = yield* Database
          const node = new UtxoChain(chain)
          const key = walletKey(1, 0)
          const receive = known(key, 0)
          const { step, sync } = yield* follow(node, { record: "all" })
          yield* wallets.deriveAndSync(key, gapLimit, alone)
          const options = { birth: undefined, readsPast: false, callbackUrl: undefined, mostBlocks: 0 }
          yield* transaction(SyncedAddresses.add({ account: 1, chain, address: receive[230]! }, options))
          node.mine([pay(receive[90]!, 5n), pay(receive[230]!, 7n)])
          yield* step
          const used = yield* query((db) =>
            db.selectFrom("wallet_address").select("address_index").where("used_height", "is not", null)
          )
          assert.sameMembers(
            used.map(({ address_index }) => address_index),
            [90, 230]
          )
          yield* sync
          assert.strictEqual((yield* synced(key)).balance, 12n)
        }).pipe(Effect.provide(layer), Effect.scoped)
    )

    for (const record of ["watched", "all"] as const) {
      it.live(`has no balance after a transaction that is not understood, until a search or a rewind (${record})`, () =>
        Effect.gen(function* () {
          const wallets = yield* Wallets
          const key = walletKey(1, 0)
          const [receive] = [scripts(key, 0, 4)]
          const node = new UtxoChain(chain)
          let finds = false
          const { store, step, sync } = yield* follow(node, {
            record,
            search: (addresses) => Effect.sync(() => (finds ? node.search(addresses) : undefined))
          })
          yield* wallets.deriveAndSync(key, gapLimit, alone)
          node.mine([pay(receive[0]!, 10n), pay(receive[1]!, 5n)])
          yield* step
          assert.strictEqual((yield* synced(key)).balance, 15n)
          const coin = node.coins.find(({ amount }) => amount === 10n)!
          // The node's answer shows neither what is spent nor the payment to the wallet's own address.
          node.mine([
            {
              spends: [coin.outpoint],
              pays: [
                { to: stranger, amount: 1n },
                { to: receive[2]!, amount: 9n }
              ]
            }
          ])
          node.garble()
          yield* step
          const unknown = { balance: undefined, state: "scanning", completeFrom: undefined } as const
          assert.deepStrictEqual(yield* wallets.get(key), unknown)
          assert.strictEqual((yield* Effect.flip(wallets.deriveAndSync(key, gapLimit, alone)))._tag, "WalletScanning")
          assert.strictEqual(yield* sync, "unavailable")
          assert.deepStrictEqual(yield* wallets.get(key), unknown)
          finds = true
          assert.strictEqual(yield* sync, "searched")
          assert.strictEqual((yield* synced(key)).balance, 14n)

          // A version that understands the transaction reads the block again.
          node.garbled.clear()
          finds = record === "watched"
          yield* store.rewind(1)
          yield* step
          if (finds) assert.strictEqual(yield* sync, "searched")
          assert.strictEqual((yield* synced(key)).balance, 14n)
        }).pipe(Effect.provide(layer), Effect.scoped)
      )
    }

    it.live("has a coin again that was spent unseen, where a reorganisation takes its spending alone", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const key = walletKey(1, 0)
        const [own] = scripts(key, 0, 1)
        const node = new UtxoChain(chain)
        const { store, step, sync } = yield* follow(node)
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        node.mine([pay(own!, 10n)])
        const [coin] = node.coins
        const spend = { spends: [coin!.outpoint], pays: [pay(stranger, 10n).pays[0]!] }
        node.mine([pay(stranger, 1n)])
        node.garble()
        node.mine([spend])
        node.garble()
        yield* step
        assert.strictEqual(yield* sync, "searched")
        assert.strictEqual((yield* synced(key)).balance, 0n)
        node.drop(1)
        node.mine([pay(stranger, 2n)])
        node.mine([])
        yield* step
        assert.strictEqual(yield* sync, "searched")
        assert.strictEqual((yield* synced(key)).balance, 10n)
        node.mine([spend])
        yield* step
        assert.strictEqual((yield* synced(key)).balance, 0n)
        // Below everything: each output comes back once.
        node.drop(node.blocks.length - 2)
        yield* store.rewind(1)
        node.mine([])
        yield* step
        yield* sync
        assert.strictEqual((yield* synced(key)).balance, 10n)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("has no balance and hands out no further address where the node cannot find coins", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        node.mine([pay(scripts(key, 0, 30)[3]!, 1_000n)])
        const { step, sync } = yield* follow(node, { search: () => Effect.undefined })
        yield* step
        assert.isFalse(yield* wallets.hasAllCoins(chain))
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.strictEqual(yield* sync, "unavailable")
        const wallet = { balance: undefined, state: "scanning", completeFrom: undefined } as const
        assert.deepStrictEqual(yield* wallets.get(key), wallet)
        assert.strictEqual((yield* Effect.flip(wallets.deriveAndSync(key, gapLimit, alone)))._tag, "WalletScanning")
      }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"), Effect.provide(layer), Effect.scoped)
    )

    it.live("goes on answering the known balance while addresses are added", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 400)
        node.mine([pay(receive[50]!, 1_000n)])
        const { step, sync } = yield* follow(node, { lookAhead: gapLimit })
        yield* step
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        yield* sync
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        const [coin] = owned(node, [receive[50]!])
        // From a known address to a new one, whose coins nobody has looked for yet.
        node.mine([{ spends: [coin!.outpoint], pays: [{ to: receive[140]!, amount: 900n }] }])
        yield* step
        const meanwhile = yield* wallets.get(key)
        assert.deepStrictEqual(meanwhile, { balance: 900n, state: "scanning", completeFrom: 1 })
        yield* sync
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 900n, state: "synced", completeFrom: 1 })
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("takes one search for eight wallets, and none for whom comes to known addresses", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const keys = [1, 2, 3, 4].flatMap((account) => [walletKey(account, 0), walletKey(account, 1)])
        node.mine(keys.slice(0, 2).map((key, i) => pay(scripts(key, 0, 30)[i]!, BigInt(i + 1))))
        let searches = 0
        const { step, sync } = yield* follow(node, {
          lookAhead: gapLimit,
          search: (addresses) =>
            Effect.sync(() => {
              searches++
              return node.search(addresses)
            })
        })
        yield* step
        for (const key of keys) yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.strictEqual(yield* sync, "searched")
        assert.strictEqual(yield* sync, "nothing")
        assert.strictEqual(searches, 1)
        for (const [i, key] of keys.entries()) assert.strictEqual((yield* synced(key)).balance, BigInt((i % 2) + 1))
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("needs no node where every coin is recorded: balance and use are known at once", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const [key, other, early] = [walletKey(1, 0), walletKey(2, 0), walletKey(1, 1)]
        const receive = scripts(key, 0, 1_000)
        const earlyAddresses = scripts(early, 0, 20)
        const { step, sync } = yield* follow(node, { record: "all", search: () => Effect.undefined })
        // Before the first block of all.
        yield* wallets.deriveAndSync(early, gapLimit, alone)
        node.mine([...receive.entries()].map(([i, to]) => pay(to, BigInt(i % 10))))
        node.mine([pay(earlyAddresses[3]!, 7n)])
        // The last ones empty again.
        const emptied = owned(node, receive.slice(980))
        node.mine([{ spends: emptied.map(({ outpoint }) => outpoint), pays: [{ to: stranger, amount: 1n }] }])
        yield* step
        assert.isTrue(yield* wallets.hasAllCoins(chain))
        assert.strictEqual((yield* synced(early)).balance, 7n)
        const derived = yield* wallets.deriveAndSync(key, gapLimit, alone)
        assert.strictEqual(derived[0]!.index, 1_000)
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 98n * 45n, state: "synced", completeFrom: 0 })
        node.mine([pay(derived[5]!.bytes, 5n)])
        yield* step
        assert.strictEqual((yield* wallets.deriveAndSync(key, gapLimit, alone))[0]!.index, 1_006)
        assert.strictEqual((yield* wallets.deriveAndSync(other, gapLimit, alone))[0]!.index, 1_006)
        node.drop(1)
        node.mine([])
        node.mine([])
        yield* step
        for (const each of [key, other]) assert.strictEqual((yield* synced(each)).balance, 98n * 45n)
        assert.strictEqual(yield* sync, "nothing")
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live(
      "has no balance where coins were forgotten before their spending was undone, until a search finds them",
      () =>
        Effect.gen(function* () {
          const wallets = yield* Wallets
          const node = new UtxoChain(chain)
          const key = walletKey(1, 0)
          const [to] = scripts(key, 0, 1)
          const { step, store, sync } = yield* follow(node, { record: "all" })
          node.mine([pay(to!, 1_000n)])
          node.mine([{ spends: [node.coins[0]!.outpoint], pays: [{ to: stranger, amount: 1n }] }])
          while (node.tip.height < 200) node.mine([])
          yield* step
          yield* wallets.deriveAndSync(key, gapLimit, alone)
          assert.strictEqual((yield* synced(key)).balance, 0n)
          // The node's chain comes to be one that never spent the coin.
          node.drop(199)
          while (node.tip.height < 201) node.mine([])
          yield* store.rewind(1)
          yield* step
          assert.isFalse(yield* wallets.hasAllCoins(chain))
          const wallet = { balance: undefined, state: "scanning", completeFrom: undefined } as const
          assert.deepStrictEqual(yield* wallets.get(key), wallet)
          yield* sync
          assert.strictEqual((yield* synced(key)).balance, 1_000n)
        }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live(
      "has an address in use again whose coins were spent when it came to be watched, and watches behind it",
      () =>
        Effect.gen(function* () {
          const wallets = yield* Wallets
          const node = new UtxoChain(chain)
          const key = walletKey(1, 0)
          const receive = scripts(key, 0, 500)
          const { step } = yield* follow(node, { record: "all" })
          node.mine([pay(receive[190]!, 1_000n)])
          const [coin] = owned(node, [receive[190]!])
          node.mine([{ spends: [coin!.outpoint], pays: [{ to: stranger, amount: 1n }] }])
          yield* step
          yield* wallets.deriveAndSync(key, gapLimit, alone)
          node.drop(1)
          node.mine([])
          node.mine([])
          yield* step
          assert.strictEqual((yield* synced(key)).balance, 1_000n)
          node.mine([pay(receive[385]!, 30n)])
          yield* step
          assert.strictEqual((yield* synced(key)).balance, 1_030n)
          assert.strictEqual((yield* wallets.deriveAndSync(key, gapLimit, alone))[0]!.index, 386)
          // Below the first payment of the address, too.
          node.drop(node.tip.height)
          for (let i = 0; i < 5; i++) node.mine([])
          yield* step
          assert.strictEqual((yield* synced(key)).balance, 0n)
          assert.strictEqual((yield* wallets.deriveAndSync(key, gapLimit, alone))[0]!.index, 0)
        }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("keeps wallets apart by account, key and derivation, and knows the same key in another text", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const { query } = yield* Database
        const node = new UtxoChain(chain)
        const { step } = yield* follow(node)
        yield* step
        const zpub = Result.getOrThrow(ExtendedPublicKey.decode(mainnet, accountKeys[0]!))
        assert.strictEqual(zpub.format, "P2WPKH")
        const keys = [walletKey(1, 0), walletKey(2, 0), walletKey(1, 1), walletKey(1, 0, "bip32")]
        const again = walletKey(1, 0)
        // Twice at the same time, too.
        const results = yield* Effect.forEach(
          [...keys, again],
          (key) => Effect.result(wallets.deriveAndSync(key, gapLimit, alone)),
          { concurrency: "unbounded" }
        )
        assert.isTrue(results.slice(0, 4).some(Result.isSuccess))
        const rows = yield* query((db) => db.selectFrom("wallet").selectAll())
        assert.strictEqual(rows.length, 4)
        const addresses = yield* query((db) =>
          db.selectFrom("wallet_address").select(["wallet", "branch", "address_index"]).orderBy("id")
        )
        // Three wallets with change, one without.
        assert.strictEqual(addresses.length, 3 * 400 + 200)
        assert.isUndefined(yield* wallets.get(walletKey(3, 0)))
        assert.isTrue(
          Result.isFailure(keyOf(1, chain, accountKeys[0]!, "account")),
          "a key of the main network is none of this one"
        )
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("syncs a wallet once, and knows an inactive one only where activity is asked for", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const { query, transaction } = yield* Database
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 30)
        node.mine([pay(receive[3]!, 5n)])
        const { step, sync } = yield* follow(node)
        yield* step
        const tagOf = <A, E extends { readonly _tag: string }, R>(refused: Effect.Effect<A, E, R>) =>
          Effect.map(Effect.flip(refused), (error) =>
            "isActive" in error ? [error._tag, error.isActive] : [error._tag]
          )
        const setActive = (isActive: boolean, of = key) => transaction(ManagedWallets.setActive(of, isActive))
        assert.deepStrictEqual(yield* tagOf(setActive(false)), ["WalletNotFound"])
        // Twice at the same time: one of them makes the wallet.
        const made = yield* Effect.forEach([key, key], (one) => Effect.result(wallets.sync(one, gapLimit, alone)), {
          concurrency: "unbounded"
        })
        assert.strictEqual(made.filter(Result.isSuccess).length, 1)
        assert.deepStrictEqual(yield* tagOf(wallets.sync(key, gapLimit, alone)), ["WalletConflict", true])
        const rows = query((db) => db.selectFrom("wallet_address").selectAll())
        assert.strictEqual((yield* rows).length, 400)
        const requested = (yield* rows).filter(({ requested }) => requested !== null)
        assert.deepStrictEqual(
          requested.map(({ address_index, branch }) => [branch, address_index]).sort(([, a], [, b]) => a! - b!),
          Array.from({ length: gapLimit }, (_, index) => [0, index])
        )
        yield* wallets.deriveAndSync(walletKey(2, 0), gapLimit, alone)
        yield* wallets.sync(walletKey(1, 1), gapLimit, alone)
        yield* sync
        assert.strictEqual((yield* synced(key)).balance, 5n)

        assert.strictEqual((yield* setActive(false)).isActive, false)
        assert.deepStrictEqual(yield* tagOf(setActive(false)), ["WalletConflict", false])
        assert.deepStrictEqual(yield* tagOf(setActive(true, walletKey(2, 0))), ["WalletConflict", true])
        assert.isUndefined(yield* wallets.get(key))
        assert.isUndefined(yield* wallets.unwatchedOf(key))
        assert.isUndefined(yield* (yield* SpendableCoins.make(chain)).of(key))
        assert.deepStrictEqual(yield* tagOf(wallets.sync(key, gapLimit, alone)), ["WalletConflict", false])
        assert.deepStrictEqual(yield* tagOf(wallets.deriveAndSync(key, gapLimit, alone)), ["WalletConflict", false])
        assert.strictEqual((yield* synced(walletKey(2, 0))).balance, 5n, "another account's is active")
        const shown = { derivation: "account", format: "P2WPKH", state: "synced" } as const
        const first = { ...shown, publicKey: key.publicKey, isActive: false }
        const second = { ...shown, publicKey: texts[1]!, isActive: true, format: walletKey(1, 1).format }
        assert.deepStrictEqual(yield* ManagedWallets.get(key), first)
        assert.deepStrictEqual(yield* ManagedWallets.list(key, { limit: 10, offset: 0 }), {
          total: 2,
          wallets: [first, second]
        })
        assert.deepStrictEqual(yield* ManagedWallets.list(key, { limit: 1, offset: 1 }), {
          total: 2,
          wallets: [second]
        })
        const elsewhere = { account: 1, chain: mainnet }
        assert.deepStrictEqual(yield* ManagedWallets.list(elsewhere, { limit: 1, offset: 0 }), {
          total: 0,
          wallets: []
        })

        node.mine([pay(receive[20]!, 7n)])
        yield* step
        yield* setActive(true)
        assert.strictEqual((yield* synced(key)).balance, 12n, "recorded all the while")
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("leaves nothing of a call whose payment fails", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const { query, transaction } = yield* Database
        const node = new UtxoChain(chain)
        const { step } = yield* follow(node)
        yield* step
        const failing: InTransaction<"no credits", never> = (change) =>
          transaction(Effect.andThen(change, Effect.fail("no credits" as const))) as never
        const failure = yield* Effect.flip(wallets.deriveAndSync(walletKey(1, 0), gapLimit, failing))
        assert.strictEqual(failure, "no credits")
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("wallet").selectAll()), [])
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("wallet_address").selectAll()), [])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("has no balance while an address belongs to the wallet that may have had coins before it was watched", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 300)
        const { step, sync } = yield* follow(node, { lookAhead: 100 })
        node.mine([])
        yield* step
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        yield* sync
        const derived = Effect.result(wallets.deriveAndSync(key, gapLimit, alone))
        // Nobody watches the address: it is far beyond the gap.
        node.mine([pay(receive[205]!, 1_000n)])
        node.mine([pay(receive[60]!, 30n)])
        yield* step
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 30n, state: "scanning", completeFrom: 1 })
        assert.strictEqual(Result.getOrThrow(yield* derived)[0]!.index, 61, "known to be unused")
        node.mine([pay(receive[190]!, 4n)])
        yield* step
        const unknown = { balance: undefined, state: "scanning", completeFrom: undefined } as const
        assert.deepStrictEqual(yield* wallets.get(key), unknown, "the address belongs to the wallet now")
        assert.isTrue(Result.isFailure(yield* derived), "an address may be used that would be given")
        yield* sync
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 1_034n, state: "synced", completeFrom: 4 })
        assert.strictEqual(Result.getOrThrow(yield* derived)[0]!.index, 206)
        // Only addresses far behind were searched at the block that goes.
        node.mine([pay(receive[260]!, 5n)])
        yield* step
        yield* sync
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 1_039n, state: "synced", completeFrom: 4 })
        node.drop(1)
        node.mine([])
        node.mine([])
        yield* step
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 1_034n, state: "scanning", completeFrom: 4 })
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("has no balance once the gap passes what was watched before block 0, where no node can search", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 300)
        const { step, sync } = yield* follow(node, { search: () => Effect.undefined })
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        node.mine([pay(receive[205]!, 1_000n)])
        node.mine([pay(receive[99]!, 3n)])
        yield* step
        assert.strictEqual(yield* sync, "unavailable")
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 3n, state: "scanning", completeFrom: 0 })
        node.mine([pay(receive[179]!, 4n)])
        yield* step
        assert.deepStrictEqual(yield* wallets.get(key), { balance: 7n, state: "scanning", completeFrom: 0 })
        assert.strictEqual((yield* Effect.flip(wallets.deriveAndSync(key, gapLimit, alone)))._tag, "WalletScanning")
        node.mine([pay(receive[180]!, 5n)])
        yield* step
        assert.isUndefined((yield* wallets.get(key))?.balance)
      }).pipe(Effect.provideService(References.MinimumLogLevel, "Error"), Effect.provide(layer), Effect.scoped)
    )

    it.live("keeps no node searching for wallets whose balance is known", () =>
      Effect.gen(function* () {
        const wallets = yield* Wallets
        const node = new UtxoChain(chain)
        const key = walletKey(1, 0)
        const receive = scripts(key, 0, 300)
        let searches = 0
        const { run, step } = yield* follow(node, {
          lookAhead: gapLimit,
          search: (addresses) =>
            Effect.sync(() => {
              searches++
              return node.search(addresses)
            }).pipe(Effect.delay("10 seconds"))
        })
        node.mine([])
        yield* step
        yield* wallets.deriveAndSync(key, gapLimit, alone)
        yield* Effect.forkScoped(run)
        /** A second of the clock, in which the store gets time to answer. */
        const tick = Effect.andThen(
          TestClock.adjust("1 second"),
          Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20)))
        )
        const untilSynced = Effect.fnUntraced(function* (key: WalletKey) {
          while ((yield* wallets.get(key))?.state !== "synced") yield* tick
        })
        yield* untilSynced(key)
        assert.strictEqual(searches, 1)
        const searched = yield* Clock.currentTimeMillis
        node.mine([pay(receive[60]!, 30n)])
        yield* step
        assert.strictEqual((yield* wallets.get(key))?.balance, 30n)
        yield* untilSynced(key)
        assert.isAtLeast((yield* Clock.currentTimeMillis) - searched, 10 * 10_000)
        // Who has no balance waits for no more than the node's rest.
        const again = yield* Clock.currentTimeMillis
        yield* wallets.deriveAndSync(walletKey(1, 1), gapLimit, alone)
        yield* untilSynced(walletKey(1, 1))
        assert.isBelow((yield* Clock.currentTimeMillis) - again, 9 * 10_000)
        assert.strictEqual(searches, 3)
      }).pipe(Effect.provide(Layer.provideMerge(layer, TestClock.layer())), Effect.scoped)
    )

    /** A wallet is derived when a coin of it is spent, and the spending undone: found by this property. */
    const returning = [
      { kind: "sync" as const, moves: 2, forks: false },
      { kind: "mine" as const, picks: [978188, 344394] },
      { kind: "sync" as const, moves: 0, forks: true },
      { kind: "mine" as const, picks: [] },
      { kind: "mine" as const, picks: [] },
      { kind: "mine" as const, picks: [147411, 531834] },
      { kind: "follow" as const },
      { kind: "derive" as const, which: 2 },
      { kind: "mine" as const, picks: [640726, 136076] },
      { kind: "derive" as const, which: 0 },
      { kind: "mine" as const, picks: [512931, 551001, 890552, 363586] },
      { kind: "follow" as const },
      { kind: "fork" as const, depth: 3 },
      { kind: "mine" as const, picks: [215263] },
      { kind: "sync" as const, moves: 2, forks: false },
      { kind: "follow" as const },
      { kind: "fork" as const, depth: 1 },
      { kind: "derive" as const, which: 0 },
      { kind: "garble" as const, picks: [309975, 981129, 753192] },
      { kind: "mine" as const, picks: [921394, 242628, 249565, 878630, 213622, 891847, 651154, 866368] }
    ]

    const model = (record: RecordingMode) =>
      it.live(
        `balances are those of the coins, whatever blocks, forks and syncs come (${record})`,
        () =>
          Effect.gen(function* () {
            const context = yield* Effect.context<Database>()
            const number = fc.nat(1_000_000)
            const action = fc.oneof(
              {
                weight: 6,
                arbitrary: fc.record({ kind: fc.constant("mine" as const), picks: fc.array(number, { maxLength: 8 }) })
              },
              {
                weight: 1,
                arbitrary: fc.record({
                  ...{ kind: fc.constant("garble" as const), picks: fc.array(number, { minLength: 1, maxLength: 8 }) }
                })
              },
              {
                weight: 2,
                arbitrary: fc.record({ kind: fc.constant("fork" as const), depth: fc.integer({ min: 1, max: 6 }) })
              },
              { weight: 2, arbitrary: fc.record({ kind: fc.constant("derive" as const), which: fc.nat(3) }) },
              {
                weight: 2,
                arbitrary: fc.record({ kind: fc.constant("sync" as const), moves: fc.nat(3), forks: fc.boolean() })
              },
              { weight: 3, arbitrary: fc.constant({ kind: "follow" as const }) }
            )
            let account = 0
            const counts = { answered: 0, refused: 0 }
            yield* Effect.promise(() =>
              fc.assert(
                fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40 }), (actions) =>
                  Effect.gen(function* () {
                    const { query } = yield* Database
                    for (const table of [
                      "chain",
                      "block",
                      "unspent_output",
                      "spent_output",
                      "wallet",
                      "wallet_address"
                    ] as const) {
                      yield* query((db) => db.deleteFrom(table))
                    }
                    const wallets = yield* Wallets
                    account += 2
                    const keys = [
                      walletKey(account, 0),
                      walletKey(account, 1),
                      walletKey(account + 1, 0),
                      walletKey(account, 0, "bip32")
                    ]
                    const all = keys.map((key) => [
                      known(key, 0),
                      ...(key.derivation === "bip32" ? [] : [known(key, 1)])
                    ])
                    const node = new UtxoChain(chain)
                    let amount = 0n
                    /**
                     * Pays and spends at random: addresses of the first hundred that every wallet watches, and of one
                     * wallet those around the end of its gap, also before anybody watches them.
                     */
                    const mine = (picks: ReadonlyArray<number>) => {
                      const free = [...node.coins]
                      const ends = all.map((branches) => branches.map((branch) => endOf(node, branch)))
                      node.mine(
                        picks.map((small): Payment => {
                          // What is picked is often small.
                          const pick = Math.imul(small + 1, 0x9e3779b1) >>> 1
                          const isFar = (pick >> 4) % 2 === 0
                          const which = isFar ? 0 : pick % all.length
                          const branches = all[which]!
                          const number = pick % 3 === 0 ? branches.length - 1 : 0
                          const branch = branches[number]!
                          // Within the gap, so that it moves on, or beyond.
                          const beyond = (pick >> 6) % (pick % 2 === 0 ? gapLimit : 140)
                          const far = isFar ? ends[which]![number]! + beyond : 0
                          const [coin] = pick % 2 === 0 && free.length > 0 ? free.splice(pick % free.length, 1) : []
                          const to = pick % 11 === 0 ? stranger : branch[Math.min(far, count - 1) || pick % 95]!
                          return {
                            spends: coin === undefined ? [] : [coin.outpoint],
                            pays: [
                              { to, amount: ++amount },
                              { to: branch[(pick >> 3) % 95]!, amount: ++amount }
                            ]
                          }
                        })
                      )
                    }
                    const { during, find } = interruptedSearch(node, mine)
                    const { step, store, sync } = yield* follow(node, { record, lookAhead: 60, search: find })
                    const isCurrent = Effect.map(store.cursor, (cursor) =>
                      cursor?.hash !== undefined ? Bytes.equal(cursor.hash, node.tip.hash) : false
                    )
                    /** No balance that is answered differs from the coins of the addresses that belong to the wallet. */
                    const verify = Effect.gen(function* () {
                      if (!(yield* isCurrent)) return
                      for (const [i, key] of keys.entries()) {
                        const wallet = yield* wallets.get(key)
                        if (wallet?.balance === undefined) {
                          if (wallet !== undefined) counts.refused++
                          continue
                        }
                        const rows = yield* query((db) =>
                          db
                            .selectFrom("wallet_address as a")
                            .innerJoin("wallet as w", "w.id", "a.wallet")
                            .select(["a.branch", ({ fn }) => fn.max("a.address_index").as("last")])
                            .where("w.account", "=", key.account)
                            .where("w.public_key", "=", key.publicKey)
                            .where("w.derivation", "=", key.derivation)
                            .where("a.used_height", "is not", null)
                            .groupBy("a.branch")
                        )
                        const used = new Map(rows.map(({ branch, last }) => [branch, last + 1]))
                        const belonging = all[i]!.flatMap((branch, number) =>
                          branch.slice(0, Math.max(used.get(number) ?? 0, endOf(node, branch)) + gapLimit)
                        )
                        assert.strictEqual(wallet.balance, sum(owned(node, belonging)), `wallet ${i}`)
                        counts.answered++
                      }
                    })
                    yield* step
                    for (const key of keys.slice(0, 2)) yield* wallets.deriveAndSync(key, gapLimit, alone)
                    yield* sync
                    for (const one of actions) {
                      yield* verify
                      switch (one.kind) {
                        case "mine":
                          mine(one.picks)
                          break
                        case "garble":
                          mine(one.picks)
                          node.garble()
                          break
                        case "fork":
                          node.drop(one.depth)
                          for (let i = 0; i <= one.depth; i++) mine([one.depth * 7919 + i, i])
                          break
                        case "derive": {
                          const key = keys[one.which]!
                          const before = yield* wallets.get(key)
                          const derived = yield* Effect.result(wallets.deriveAndSync(key, gapLimit, alone))
                          if (before === undefined || Result.isFailure(derived) || !(yield* isCurrent)) break
                          const given = derived.success.map(({ bytes }) => bytes)
                          assert.deepStrictEqual(owned(node, given), [], "used addresses are not given")
                          break
                        }
                        case "follow":
                          yield* step
                          break
                        case "sync":
                          yield* during(sync, step, one)
                      }
                    }
                    for (let i = 0; i < 3; i++) {
                      yield* verify
                      yield* step
                      yield* verify
                      yield* sync
                    }
                    for (const key of keys) {
                      const wallet = yield* wallets.get(key)
                      if (wallet === undefined) continue
                      assert.strictEqual(wallet.state, "synced")
                      assert.isDefined(wallet.balance)
                    }
                    yield* verify
                  }).pipe(
                    Effect.provideService(References.MinimumLogLevel, "Error"),
                    Effect.provide(Layer.mergeAll(Wallets.layer, ChainStatus.layer)),
                    Effect.scoped,
                    Effect.provideContext(context),
                    Effect.runPromise
                  )
                ),
                {
                  numRuns: Number(process.env.HEADWATER_PROPERTY_RUNS ?? 2),
                  endOnFailure: true,
                  examples: [[returning]]
                }
              )
            )
            console.log(`${counts.answered} balances compared, 0 wrong; ${counts.refused} refused`)
          }).pipe(Effect.provide(store.layer), Effect.scoped),
        300_000
      )
    model("watched")
    model("all")
  })
}
