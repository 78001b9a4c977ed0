import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as BalanceAudit from "@headwater/indexer/sync/BalanceAudit"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"
import { type Find, type Payment, searching, UtxoChain } from "../families/utxo/UtxoChain.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const mainnet = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
const alone: InTransaction<never, never> = (change) => change
/** The account key of BIP-84 (mnemonic abandon … about). */
const zpub =
  "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
const text = ExtendedPublicKey.encode(chain, Result.getOrThrow(ExtendedPublicKey.decode(mainnet, zpub)))
const stranger = Address.fromBytes(Uint8Array.of(0x51))
const pay = (to: AddressBytes, amount: bigint): Payment => ({ spends: [], pays: [{ to, amount }] })

/** A wallet with 30 coins' worth in two addresses, followed and synced. */
const setup = Effect.gen(function* () {
  const account = yield* (yield* Accounts).create("merchant")
  const key = Result.getOrThrow(keyOf(account.id, chain, text, "account"))
  const [receive] = WalletBranches.of(chain, { ...key, public_key: key.publicKey })
  const [first, second] = WalletBranches.derive(receive!, 0, 1).map(({ bytes }) => bytes)
  const node = new UtxoChain(chain)
  node.mine([pay(first!, 10n), pay(second!, 20n), pay(stranger, 99n)])
  const store = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100 })
  const { step } = yield* Follow.make(node.source, store, {
    ...{ start: 0, pollInterval: Duration.millis(1), concurrency: 1, undoDepth: 100 }
  })
  const search: Find = (addresses) => Effect.sync(() => node.search(addresses))
  yield* step
  yield* (yield* Wallets).deriveAndSync(key, 20, alone)
  const sync = yield* CoinSync.make(node.source, searching(search), store, {
    pollInterval: Duration.millis(1),
    gapLimit: 20
  })
  yield* sync.step
  const check = (by: Find = search) =>
    Effect.map(BalanceAudit.run(node.source, searching(by)), (findings) =>
      findings.map(({ actual, reason, stored, verdict, wallet }) => {
        assert.deepInclude(wallet, { account: "merchant", publicKey: text, format: "P2WPKH" })
        return { verdict, stored, actual, reason }
      })
    )
  return { node, step, search, check, first: first!, second: second! }
})

const coinOf = (node: UtxoChain, amount: bigint) => node.coins.find((coin) => coin.amount === amount)!.outpoint
const right = (amount: bigint) => [{ verdict: "right" as const, stored: amount, actual: amount, reason: undefined }]

for (const store of takenStores(import.meta.url)) {
  describe(`BalanceAudit on ${store.name}`, () => {
    const layer = Layer.mergeAll(Accounts.layer, ChainStatus.layer, Wallets.layer).pipe(Layer.provideMerge(store.layer))

    it.live("tells a right balance from a wrong one, and changes neither", () =>
      Effect.gen(function* () {
        const { check } = yield* setup
        assert.deepStrictEqual(yield* check(), right(30n))
        const { query } = yield* Database
        yield* query((db) => db.updateTable("wallet").set({ balance: "0" }))
        for (let i = 0; i < 2; i++) {
          assert.deepStrictEqual(yield* check(), [{ verdict: "wrong", stored: 0n, actual: 30n, reason: undefined }])
        }
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live(
      "compares at one block, where the store is behind the node and where the store is ahead of the search",
      () =>
        Effect.gen(function* () {
          const { check, first, node, search, second, step } = yield* setup
          // Spends a stored coin, pays the wallet, and spends what was paid to the wallet meanwhile.
          node.mine([
            {
              spends: [coinOf(node, 10n)],
              pays: [
                { to: stranger, amount: 3n },
                { to: second, amount: 6n }
              ]
            }
          ])
          node.mine([{ spends: [coinOf(node, 6n)], pays: [{ to: first, amount: 5n }] }])
          assert.deepStrictEqual(yield* check(), right(25n), "as the balance will be")
          const before = yield* search([first, second])
          yield* step
          assert.deepStrictEqual(yield* check(), right(25n))
          node.mine([{ spends: [coinOf(node, 20n)], pays: [{ to: first, amount: 19n }] }])
          yield* step
          assert.deepStrictEqual(yield* check(() => Effect.succeed(before)), right(24n))

          node.drop(1)
          node.mine([])
          const [moved] = yield* check()
          assert.deepInclude(moved, { verdict: "undecided", stored: undefined })
          assert.include(moved!.reason, "reorganised")
        }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("decides nothing without a search, or where the node is far ahead", () =>
      Effect.gen(function* () {
        const { check, node } = yield* setup
        const [without] = yield* check(() => Effect.undefined)
        assert.include(without!.reason, "cannot search")
        assert.strictEqual(without!.verdict, "undecided")
        const { query } = yield* Database
        yield* query((db) => db.updateTable("wallet").set({ scan_height: null }))
        assert.include((yield* check())[0]!.reason, "refused until")
        yield* query((db) => db.updateTable("wallet").set({ scan_height: 1 }))
        for (let i = 0; i < 1_001; i++) node.mine([])
        assert.include((yield* check())[0]!.reason, "too far")
      }).pipe(Effect.provide(layer), Effect.scoped)
    )
  })
}
