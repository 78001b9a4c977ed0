import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as FakeNode from "../FakeNode.ts"
import * as Fixtures from "../Fixtures.ts"
import * as EvmNode from "../families/evm/EvmNode.ts"
import * as SealedBlock from "../families/evm/SealedBlock.ts"

const mainnet = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

const settingsOf = (url: string) => ({
  nodes: [Redacted.make(url)] as const,
  start: 0,
  timeoutMillis: 5_000,
  parallel: 4,
  verify: "roots" as const,
  internalTransactions: true,
  announcements: false
})

describe.skipIf(!Fixtures.exist)("recorded", () => {
  it.live("EVM", () =>
    Effect.gen(function* () {
      const { recorded } = EvmNode.bundle("ethereum-17053184")
      const blocks: Array<EvmNode.RecordedBlock> = []
      for (let height = 20_000_000; height < 20_000_010; height++) {
        const parent = blocks.at(-1)?.block.hash ?? recorded.block.hash
        blocks.push(SealedBlock.repeated(recorded, 50, 1, { height, parent, time: 1_700_000_000 + height }))
      }
      const { url } = yield* FakeNode.make(EvmNode.answers(blocks))
      const open = ChainConnection.open(mainnet, settingsOf(url))
      const plain = yield* open
      const threads = yield* ReaderThreads.make({ threads: 2 })
      const threaded = yield* Effect.provideService(open, ReaderThreads.Current, threads)
      const heights = blocks.map(({ block }) => Number(block.number))
      const read = (source: typeof plain.source) =>
        Effect.forEach(heights, (height) => source.blockAt(height), { concurrency: 4 })
      assert.deepStrictEqual(yield* read(threaded.source), yield* read(plain.source))
    }).pipe(Effect.scoped)
  )
})
