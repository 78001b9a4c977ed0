import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import type { Status } from "@headwater/indexer/families/node/ChainStatus"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LiveLine from "../src/LiveLine.ts"
import * as SyncLine from "../src/SyncLine.ts"

const chain = Chain.ofName("ethereum/mainnet")!

const syncing: Status = {
  ...{ chain, state: "syncing", message: undefined, height: 2_000, head: 10_000, perSecond: 100 },
  ...{ committedAt: undefined, blockTime: undefined, unproven: [], resting: [], since: 0 }
}

describe("SyncLine", () => {
  it("says how far a chain is, how fast and how long that takes, once it has lasted", () => {
    const first = new Map([["ethereum/mainnet", 0]])
    assert.strictEqual(SyncLine.describe([syncing], first, 1_000), "")
    const line = SyncLine.describe([syncing], first, 10_000)
    assert.match(line, /^ethereum\/mainnet 20%: 8000 blocks behind, 100 blocks\/s, 1m 21s left █{4}░{16}$/)
    assert.strictEqual(SyncLine.describe([{ ...syncing, state: "following" }], first, 10_000), "")
    const two = SyncLine.describe([syncing, { ...syncing, chain: Chain.ofName("bitcoin/mainnet")! }], first, 10_000)
    assert.match(two, /^ethereum\/mainnet 20%: .*; bitcoin\/mainnet 0%: /)
    assert.notInclude(two, "█")
  })

  it("counts from where a chain last began to catch up, and from lower where blocks are undone", () => {
    const first = new Map<string, number>()
    const percentOf = (change: Partial<Status>) => {
      const status = { ...syncing, ...change }
      SyncLine.noteFirst([status], first)
      return /(\d+)%/.exec(SyncLine.describe([status], first, 10_000))?.[1]
    }
    assert.strictEqual(percentOf({ height: 0 }), "0")
    assert.strictEqual(percentOf({ height: 5_000 }), "50")
    assert.isUndefined(percentOf({ state: "failing", height: 5_000 }))
    assert.strictEqual(percentOf({ height: 7_500 }), "75", "a failure is no new beginning")
    assert.isUndefined(percentOf({ state: "following", height: 10_000 }))
    assert.strictEqual(percentOf({ height: 10_000, head: 20_000 }), "0")
    assert.strictEqual(percentOf({ height: 15_000, head: 20_000 }), "50")
    assert.strictEqual(percentOf({ height: 9_000, head: 20_000 }), "0")
    assert.strictEqual(percentOf({ height: 14_500, head: 20_000 }), "50")
  })
})

describe("LiveLine", () => {
  it.effect("stays below the log, within the terminal, and goes without a trace", () =>
    Effect.gen(function* () {
      let written = ""
      const write = (text: string) => {
        written += text
      }
      const logger = Logger.make<unknown, void>(({ message }) => write(`${String(message)}\n`))
      const { line, loggers } = LiveLine.make({ columns: 11, write }, new Set([logger]))
      const log = (text: string) => Effect.logInfo(text).pipe(Effect.provideService(Logger.CurrentLoggers, loggers))
      yield* log("first")
      yield* line.show("half of all blocks")
      yield* log("second")
      yield* line.show("half of all blocks")
      yield* line.show("")
      yield* log("third")
      const clear = "\r\x1b[2K"
      assert.strictEqual(written, `first\nhalf of al${clear}second\nhalf of al${clear}third\n`)
    })
  )
})
