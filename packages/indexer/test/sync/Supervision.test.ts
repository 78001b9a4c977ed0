import * as Chain from "@headwater/core/chains/Chain"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/testing/TestClock"
import { ChainStatus } from "../../src/families/node/ChainStatus.ts"
import { WrongNetwork } from "../../src/sync/ChainConnection.ts"
import { UnrecoverableFork } from "../../src/sync/Fork.ts"
import * as Supervision from "../../src/sync/Supervision.ts"

describe("Supervision", () => {
  for (const stopped of [
    new UnrecoverableFork({ message: "too deep" }),
    new WrongNetwork({ message: "another one" })
  ]) {
    it.effect(`looks at a chain again that has stopped, and says once why: ${stopped._tag}`, () =>
      Effect.gen(function* () {
        const chain = yield* Effect.fromResult(Chain.find("ethereum", "devnet"))
        const statuses = yield* ChainStatus
        let looks = 0
        const follow = Effect.suspend(() => (++looks < 4 ? Effect.fail(stopped) : Effect.never))
        const said: Array<unknown> = []
        const logger = Logger.make(({ logLevel, message }) => void said.push([logLevel, message].flat()))
        yield* Supervision.keepFollowingForGood(chain, follow).pipe(
          Effect.provide(Logger.layer([logger])),
          Effect.forkChild
        )
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(looks, 1)
        assert.strictEqual(statuses.get(chain)?.state, "stopped")
        yield* TestClock.adjust("10 minutes")
        assert.strictEqual(looks, 4)
        assert.deepStrictEqual(said, [["Error", stopped.message]])
      }).pipe(Effect.provide(ChainStatus.layer))
    )
  }
})
