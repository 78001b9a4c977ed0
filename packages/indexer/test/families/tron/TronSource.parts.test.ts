import { assert, describe, it } from "@effect/vitest"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as Effect from "effect/Effect"
import { account, blockOf, call, infoOf, internal, linked, mainnet, transfer, trc20 } from "./TronBlocks.ts"
import * as TronNode from "./TronNode.ts"

const height = 66_000_000

describe("TronSource, with little room for answers", () => {
  it.live("infos that are too large together are asked for one by one, and the block is the same", () =>
    Effect.gen(function* () {
      const sent = transfer(1, 2, 7)
      const calls = Array.from({ length: 40 }, (_, index) => call(1, 50, index))
      const infos = calls.map((called, index) =>
        infoOf(called, height, {
          contract_address: account(50),
          log: Array.from({ length: 10 }, () => trc20(50, 2, 3, BigInt(index))),
          internal_transactions: [internal(50, 3, 5)]
        })
      )
      const recorded = linked([blockOf(height, [sent, ...calls], infos)])[0]!
      const node = yield* TronNode.make({ blocks: [recorded] })
      const options = { urls: [node.url], attempts: 1 } as const
      const whole = yield* (yield* TronSource.make(mainnet, options)).blockAt(height)
      assert.isAbove(whole.transfers.length, 400)
      const size = JSON.stringify(recorded.infos).length
      assert.isBelow(JSON.stringify(recorded.block).length, size / 2)
      const bytes = BytesInFlight.make(Math.floor(size * 0.9))
      const source = yield* TronSource.make(mainnet, options).pipe(Effect.provideService(BytesInFlight.Current, bytes))
      assert.deepStrictEqual(yield* bytes.block(source.blockAt(height)), whole)
      assert.strictEqual(
        node.requests.filter(({ path }) => path === "/wallet/gettransactioninfobyid").length,
        calls.length + 1
      )
      assert.strictEqual(bytes.held(), 0)
    })
  )
})
