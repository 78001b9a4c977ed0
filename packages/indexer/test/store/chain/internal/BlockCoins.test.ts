import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Spend } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Watched from "@headwater/core/events/Watched"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import * as RawBlock from "../../../../src/families/utxo/internal/RawBlock.ts"
import * as BlockCoins from "../../../../src/store/chain/internal/BlockCoins.ts"
import * as Fixtures from "../../../Fixtures.ts"
import * as UtxoNode from "../../../families/utxo/UtxoNode.ts"

const bitcoin = Result.getOrThrow(Chain.find("bitcoin", "mainnet"))
/** The moves without what tells where they stand in the raw block. */
const moves = (block: Pick<Block, "spends" | "transfers">) => {
  const { spends, transfers } = UtxoNode.plainMoves(block)
  return { spends: spends.map(({ unlocking: _, ...spend }) => spend), transfers }
}

const recorded = () =>
  readFileSync(
    Fixtures.path(
      "utxo-blocks/rust-bitcoin/bitcoin/tests/data/mainnet_block_000000000000000000000c835b2adcaedc20fdf6ee440009c249452c726dafae.raw"
    )
  )

describe("BlockCoins", () => {
  it.skipIf(!Fixtures.exist)(
    "of a raw block, whose scripts and hashes are looked at where they stand, and of the same block without",
    () => {
      const {
        body: { spends, transactions, transfers },
        parent,
        time
      } = TimeSlice.atOnce(RawBlock.read(bitcoin, recorded(), RawBlock.unlisted))
      const raw: Block = { spends, transactions, transfers, hash: new Uint8Array(32), height: 1, parent, time }
      const plain: Block = { ...raw, ...moves(raw) }
      const watched = Watched.make([1, 2])
      const coinsOf = (block: Block, keepsAll: boolean) => {
        const keeping = { isWatched: watched.has, isWatchedAt: watched.hasAt, keepsAll }
        const coins = TimeSlice.atOnce(BlockCoins.of(block, keeping))
        const touching = TimeSlice.atOnce(BlockCoins.touching(block, coins, [], keeping))
        const { created, own, touched } = coins
        return { created, own: own.length, touched: touched.join(), left: moves(touching) }
      }
      for (const every of [Number.POSITIVE_INFINITY, 300, 1]) {
        for (const [index, { to }] of raw.transfers.entries()) if (index % every === 7 % every) watched.add(to!)
        for (const keepsAll of [false, true]) assert.deepStrictEqual(coinsOf(raw, keepsAll), coinsOf(plain, keepsAll))
      }
      assert.isAbove(coinsOf(raw, false).own, 300)
    }
  )

  it("where a transaction of the block shows no outputs, inputs that name it are among the others, in their order", () => {
    const id = (number: number) => new Uint8Array(32).fill(number)
    const spend = (transaction: number, transactionId: Uint8Array): Spend => ({
      ...{ transaction, position: 0, outpoint: { transactionId, index: 0 } }
    })
    const spends = [spend(1, id(8)), spend(2, id(1)), spend(3, id(9)), spend(4, id(3))]
    const to = Uint8Array.of(0x51) as AddressBytes
    const block: Block = {
      ...{ hash: id(0), height: 1, parent: id(0), time: 0, spends, transactions: [1, 2, 3, 4, 5].map(id) },
      transfers: [{ kind: "coin", transaction: 2, position: 0, from: undefined, to, amount: 1n }]
    }
    const { earlier, own } = TimeSlice.atOnce(BlockCoins.of(block, { isWatched: () => false, keepsAll: true }))
    assert.deepStrictEqual(earlier, spends.slice(0, 3))
    assert.deepStrictEqual(
      own.map(({ spend }) => spend),
      spends.slice(3)
    )
  })
})
