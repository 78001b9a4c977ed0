import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import type { AccountSource } from "@headwater/indexer/families/SideSources"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import * as WalletBranches from "@headwater/indexer/store/wallets/WalletBranches"
import { keyOf } from "@headwater/indexer/store/wallets/WalletKey"
import { type InTransaction, Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as AccountSync from "@headwater/indexer/sync/AccountSync"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { takenStores } from "../../../../test/Stores.ts"

const chain = Result.getOrThrow(Chain.find("xrp", "mainnet"))
const gapLimit = 20
const alone: InTransaction<never, never> = (change) => change

// The account key of BIP-32's first test vector.
const text =
  "xpub6ASuArnXKPbfEwhqN6e3mwBcDTgzisQN1wXN9BJcM47sSikHjJf3UFHKkNAWbWMiGj7Wf5uMash7SyYq527Hqck2AxYysAA7xmALppuCkwQ"
const key = Result.getOrThrow(keyOf(1, chain, text, "account"))
const addressesOf = (branch: number): ReadonlyArray<AddressBytes> =>
  WalletBranches.derive(WalletBranches.of(chain, { ...key, public_key: key.publicKey })[branch]!, 0, 399).map(
    ({ bytes }) => bytes
  )
const receiving = addressesOf(0)
const change = addressesOf(1)

const hashOf = (height: number) => new Uint8Array(32).fill(height)
const blockAt = (height: number, ...to: ReadonlyArray<AddressBytes>): Block => ({
  height,
  hash: hashOf(height),
  parent: hashOf(height - 1),
  time: 1_700_000_000 + height,
  transactions: to.map((_, i) => new Uint8Array(32).fill(100 + i)),
  transfers: to.map((to, transaction) => ({
    kind: "coin",
    ...{ transaction, position: 0, from: undefined, to, amount: 1_000_000n }
  })),
  spends: []
})

/** A ledger on which these addresses have accounts. */
const ledger = (...accounts: ReadonlyArray<AddressBytes>) => {
  const has = new Set(accounts.map(Bytes.key))
  let asked = 0
  const state = { down: false }
  const source = {
    chain,
    wereUsed: (addresses: ReadonlyArray<AddressBytes>) =>
      Effect.suspend(() => {
        asked += addresses.length
        return state.down
          ? Effect.fail(new NodeUnreachable({ node: "n", method: "account_info", message: "down" }))
          : Effect.succeed(addresses.map((address) => has.has(Bytes.key(address))))
      })
  }
  // Nothing else of a source is asked for.
  return { source: source as unknown as AccountSource, asked: () => asked, state }
}

/** The first index that the next call answers. */
const nextIndex = Effect.gen(function* () {
  const [first] = yield* (yield* Wallets).deriveAndSync(key, gapLimit, alone)
  return first!.index
})

const watchedTo = (branch: number) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const rows = yield* query((db) =>
      db.selectFrom("wallet_address").select("address_index").where("branch", "=", branch).orderBy("address_index")
    )
    // Without gaps, and each once.
    assert.deepStrictEqual(
      rows.map((row) => row.address_index),
      rows.map((_, i) => i)
    )
    return rows.length - 1
  })

for (const store of takenStores(import.meta.url)) {
  const layer = Wallets.layer.pipe(Layer.provideMerge(store.layer))
  const open = Effect.gen(function* () {
    const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 1, gapLimit })
    yield* chainStore.commit([blockAt(1)])
    return chainStore
  })
  const syncOf = (source: AccountSource) => AccountSync.make(source, { pollInterval: Duration.millis(1), gapLimit })

  describe(`AccountSync on ${store.name}`, () => {
    it.live("finds accounts up to a whole batch behind the last one, on both branches", () =>
      Effect.gen(function* () {
        yield* open
        const { asked, source } = ledger(receiving[0]!, receiving[99]!, receiving[198]!, change[110]!, receiving[399]!)
        const { step } = yield* syncOf(source)
        yield* step
        assert.strictEqual(asked(), 0)
        assert.strictEqual(yield* nextIndex, 0)
        assert.strictEqual((yield* Effect.flip(nextIndex))._tag, "WalletScanning")
        yield* step
        assert.strictEqual(yield* nextIndex, 199)
        // 399 is 200 behind: as any wallet would, this one ends before it.
        yield* step
        assert.strictEqual(yield* nextIndex, 199)
        assert.strictEqual(yield* watchedTo(0), 298)
        // Change is asked for as far as it is watched, and 110 lies more than a batch behind the last watched one.
        assert.strictEqual(yield* watchedTo(1), 99)
        const before = asked()
        yield* step
        assert.strictEqual(asked(), before)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("lets payments move the wallet on, and takes them back with their block", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        const { source } = ledger()
        const { step } = yield* syncOf(source)
        yield* nextIndex
        yield* step
        assert.strictEqual(yield* nextIndex, 0)
        yield* chainStore.commit([blockAt(2, receiving[4]!)])
        assert.strictEqual(yield* nextIndex, 5)
        yield* step
        // The last of the watched ones, and one that is watched only since.
        yield* chainStore.commit([blockAt(3, receiving[104]!, receiving[120]!)])
        assert.strictEqual(yield* nextIndex, 121)
        yield* step
        yield* chainStore.undo(2)
        assert.strictEqual(yield* nextIndex, 5)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("enters nothing for a wallet that goes with its account while its accounts are looked for", () =>
      Effect.gen(function* () {
        const chainStore = yield* open
        const { query } = yield* Database
        const context = yield* Effect.context<Database>()
        const { source } = ledger(receiving[3]!)
        const removal = Effect.orDie(Effect.provideContext(AccountRemoval.remove(key.account), context))
        const { step } = yield* syncOf({
          ...source,
          wereUsed: (addresses) => Effect.andThen(removal, source.wereUsed(addresses))
        })
        yield* nextIndex
        yield* step
        assert.deepStrictEqual(yield* query((db) => db.selectFrom("wallet_address").selectAll()), [])
        yield* chainStore.commit([blockAt(2, receiving[110]!)])
      }).pipe(Effect.provide(layer), Effect.scoped)
    )

    it.live("waits for a server that is down, and loses nothing", () =>
      Effect.gen(function* () {
        yield* open
        const { source, state } = ledger(receiving[3]!)
        const { step } = yield* syncOf(source)
        yield* nextIndex
        state.down = true
        assert.strictEqual((yield* Effect.flip(step))._tag, "NodeUnreachable")
        assert.strictEqual((yield* Effect.flip(nextIndex))._tag, "WalletScanning")
        state.down = false
        yield* step
        assert.strictEqual(yield* nextIndex, 4)
      }).pipe(Effect.provide(layer), Effect.scoped)
    )
  })
}
