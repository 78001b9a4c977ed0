/** What `headwater audit` says of a store that a release has left, once the store is upgraded. */
import { assert, describe, it } from "@effect/vitest"
import * as Bytes from "@headwater/core/Bytes"
import type { Coin, CoinsAt } from "@headwater/core/utxo/Coin"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { BlockMissing } from "@headwater/indexer/families/node/NodeError"
import type { Source } from "@headwater/indexer/families/Source"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as BackgroundMigrations from "@headwater/indexer/store/database/BackgroundMigrations"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as BalanceAudit from "@headwater/indexer/sync/BalanceAudit"
import * as CallbackAudit from "@headwater/indexer/sync/CallbackAudit"
import * as CoinSync from "@headwater/indexer/sync/CoinSync"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { takenUnmigrated } from "../../../../test/Stores.ts"
import { searching } from "../families/utxo/UtxoChain.ts"
import * as Released from "../store/database/Released.ts"
import * as Filled from "../store/database/released/fill.ts"

const chain = Filled.litecoin
const blocks = Filled.litecoinBlocks()
const [first, second] = Filled.receiving(2)

/** The node on whose chain the store was filled. */
const source: Source = {
  chain,
  head: Effect.succeed({ height: 3, hash: blocks[2].hash, final: undefined }),
  hashAt: (height) => Effect.map(source.blockAt(height), ({ hash }) => hash),
  blockAt: (height) => {
    const block = blocks[height - 1]
    return block === undefined
      ? Effect.fail(new BlockMissing({ node: "fake", block: String(height) }))
      : Effect.succeed(block)
  },
  capabilities: Effect.succeed([])
}

const coin = (
  script: Coin["script"],
  transactionId: Uint8Array,
  index: number,
  amount: bigint,
  height: number
): Coin => ({
  ...{ outpoint: { transactionId, index }, script, amount, height }
})

/** What the node has: beside the coins of the three blocks one that the wallet had before it was synced. */
const unspent: CoinsAt = {
  ...{ height: 3, hash: blocks[2].hash },
  coins: [
    coin(first!, new Uint8Array(32).fill(9), 0, 1_000n, 0),
    coin(second!, blocks[1].transactions[0]!, 1, 20n, 2),
    coin(second!, blocks[2].transactions[0]!, 0, 1n, 3)
  ]
}

for (const { location, name } of takenUnmigrated(import.meta.url)) {
  describe(`The audit on ${name}`, () => {
    for (const release of Released.releases) {
      it.live(`judges what a store of ${release} holds, and the balance that follows from a search`, () =>
        Effect.gen(function* () {
          const store = yield* location
          yield* Released.load(release, store)
          yield* Effect.gen(function* () {
            const search = searching((addresses) => {
              const wanted = new Set(addresses.map(Bytes.key))
              const coins = unspent.coins.filter(({ script }) => wanted.has(Bytes.key(script)))
              return Effect.succeed({ ...unspent, coins })
            })
            const balances = Effect.map(BalanceAudit.run(source, search), (findings) =>
              findings.map(({ actual, stored, verdict, wallet }) => [wallet.account, verdict, stored, actual])
            )
            assert.deepStrictEqual(
              yield* balances,
              [["exchange", "undecided", undefined, undefined]],
              "no balance of a release is passed on"
            )
            // Nobody had subscribed to coins on the chain: each block is read, and nothing was to be told of one.
            const summary = yield* CallbackAudit.run(source, undefined, {
              ...{ from: 1, to: 3, everyBlock: true, correct: false, concurrency: 1 },
              onFinding: ({ transactionId, verdict }) => Effect.die(`${verdict}: ${transactionId}`)
            })
            assert.deepStrictEqual(summary, {
              ...{ blocks: 3, right: 0, wrong: 0, corrected: 0, missing: 0, undecided: 0, unsettled: 0 }
            })

            const opened = yield* ChainStore.open(chain, {
              record: "watched",
              undoDepth: 10,
              gapLimit: Filled.gapLimit
            })
            const sync = yield* CoinSync.make(source, search, opened, {
              ...{ pollInterval: Duration.millis(1), gapLimit: Filled.gapLimit, lookAhead: Filled.gapLimit }
            })
            assert.strictEqual(yield* sync.step, "nothing", "the store is being rewritten")
            yield* BackgroundMigrations.pending
            assert.strictEqual(yield* sync.step, "searched")
            assert.strictEqual(yield* sync.step, "nothing")
            assert.deepStrictEqual(yield* balances, [["exchange", "right", 1_021n, 1_021n]])
          }).pipe(
            Effect.scoped,
            Effect.provide(
              Layer.mergeAll(ChainStatus.layer, Subscriptions.layer).pipe(Layer.provideMerge(Database.layer(store))),
              { local: true }
            )
          )
        }).pipe(Effect.scoped)
      )
    }
  })
}
