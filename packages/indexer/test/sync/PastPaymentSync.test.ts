import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import { BlockMissing } from "@headwater/indexer/families/node/NodeError"
import type { Source } from "@headwater/indexer/families/Source"
import type { ChainStore } from "@headwater/indexer/store/chain/ChainStore"
import * as PastPaymentSync from "@headwater/indexer/sync/PastPaymentSync"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { atClock } from "../families/evm/EvmBlocks.ts"

describe("PastPaymentSync", () => {
  it.live("asks again for a block after its wait, where the clock was ahead and is put right meanwhile", () =>
    Effect.gen(function* () {
      let asked = 0
      let told = 0
      const source = {
        chain: Result.getOrThrow(Chain.find("litecoin", "regtest")),
        blockAt: () =>
          Effect.suspend(() =>
            ++asked === 1 ? Effect.fail(new BlockMissing({ node: "node", block: "5" })) : Effect.succeed({ height: 5 })
          )
      } as unknown as Source
      const store = {
        pastPayments: (after: ReadonlyMap<number, number>) => {
          const next = told > 0 || after.has(1) ? undefined : { account: 1, height: 5 }
          return Effect.succeed({ more: false, next })
        },
        unknownTokens: () => Effect.succeed([]),
        reprocess: () => Effect.sync(() => ++told)
      } as unknown as ChainStore
      const { step } = PastPaymentSync.make(source, store, { pollInterval: 1 as never })
      const clock = { aheadMillis: 8 * 3_600_000, passedMillis: 0 }
      const at = (passedMillis: number, aheadMillis: number) =>
        Effect.suspend(() => atClock(step, Object.assign(clock, { passedMillis, aheadMillis })))
      yield* at(0, 8 * 3_600_000)
      assert.deepStrictEqual([asked, told], [1, 0])
      yield* at(20_000, 0)
      assert.deepStrictEqual([asked, told], [1, 0])
      yield* at(31_000, 0)
      assert.deepStrictEqual([asked, told], [2, 1])
    })
  )
})
