import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as SyncedAddresses from "@headwater/indexer/store/addresses/SyncedAddresses"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as Compaction from "@headwater/indexer/store/chain/transfers/Compaction"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { takenStores } from "../../../../../../test/Stores.ts"
import * as KnownUse from "../../../../src/store/wallets/internal/KnownUse.ts"
import { UtxoChain } from "../../../families/utxo/UtxoChain.ts"
import * as Seed from "../../Seed.ts"

const chain = Result.getOrThrow(Chain.find("litecoin", "regtest"))
const stranger = Address.fromBytes(Uint8Array.of(0x51))
const addresses = Array.from({ length: 300 }, (_, i) =>
  Address.fromBytes(Uint8Array.of(0x00, 0x14, ...new Uint8Array(18).fill(7), i >> 8, i & 0xff))
)

for (const store of takenStores(import.meta.url)) {
  describe(`KnownUse on ${store.name}`, () => {
    it.live(
      "looks up what addresses have received that no wallet has with as many statements, however many there are",
      () =>
        Effect.gen(function* () {
          const database = yield* Database
          const account = yield* Seed.account
          const node = new UtxoChain(chain)
          const chainStore = yield* ChainStore.open(chain, { record: "watched", undoDepth: 100, gapLimit: 20 })
          const { step } = yield* Follow.make(node.source, chainStore, {
            ...{ start: 0, pollInterval: Duration.millis(1), concurrency: 4, undoDepth: 100 }
          })
          yield* step
          const { id } = yield* ChainRow.present(chain).pipe(Effect.map((row) => row!))
          const options = { birth: undefined, readsPast: false, callbackUrl: undefined, mostBlocks: 0 }
          for (const address of addresses) {
            yield* database.transaction(SyncedAddresses.add({ account, chain, address }, options))
          }
          const expected = new Map<string, number>()
          for (let round = 0; round < 4; round++) {
            const paid = addresses.filter((_, i) => i % 8 === 2 * round || i % 16 === 0)
            node.mine([{ spends: [], pays: paid.map((to) => ({ to, amount: 5n })) }])
            for (const to of paid) expected.set(Bytes.key(to), expected.get(Bytes.key(to)) ?? node.tip.height)
            node.mine([{ spends: node.coins.map(({ outpoint }) => outpoint), pays: [{ to: stranger, amount: 1n }] }])
            yield* step
            // The last blocks stay unsorted.
            if (round < 3) yield* Compaction.compact(id, 1)
          }
          let statements = 0
          const count = <A, E>(self: Effect.Effect<A, E>) =>
            Effect.andThen(
              Effect.sync(() => statements++),
              self
            )
          const counted = Database.of({
            ...database,
            query: (build) => count(database.query(build)),
            read: (build) => count(database.read(build)),
            selectEach: (types, parameters, select) => count(database.selectEach(types, parameters, select))
          })
          const statementsOf = Effect.fnUntraced(function* (some: typeof addresses) {
            statements = 0
            const found = yield* KnownUse.of(id, some, { holdings: new Map(), watched: some }).pipe(
              Effect.provideService(Database, counted)
            )
            return { statements, found }
          })
          const few = yield* statementsOf(addresses.slice(0, 10))
          const all = yield* statementsOf(addresses)
          assert.deepStrictEqual(all.found, expected)
          assert.strictEqual(all.statements, few.statements)
        }).pipe(Effect.provide([store.layer, ChainStatus.layer]), Effect.scoped)
    )
  })
}
