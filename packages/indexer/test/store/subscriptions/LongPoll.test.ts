import { assert, describe, it } from "@effect/vitest"
import * as LongPoll from "@headwater/indexer/store/subscriptions/internal/LongPoll"
import * as Effect from "effect/Effect"
import { atClock } from "../../families/evm/EvmBlocks.ts"

describe("LongPoll", () => {
  it.live("waits no longer where the clock is put back meanwhile", () =>
    Effect.gen(function* () {
      let looks = 0
      const clock = { aheadMillis: 0 }
      const look = Effect.sync(() => {
        clock.aheadMillis = -86_400_000
        return ++looks
      })
      const waited = LongPoll.until(look, () => false, 100, Effect.succeed(Effect.never))
      const found = yield* Effect.timeout(atClock(waited, clock), "5 seconds")
      assert.strictEqual(found, 2)
    })
  )
})
