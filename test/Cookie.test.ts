/** A daemon whose node lets in who may read its cookie file, and writes a new one at each start. */
import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headwater from "./Headwater.ts"
import * as Litecoind from "./Litecoind.ts"
import { locations } from "./Stores.ts"

const { location } = locations[0]!

describe.skipIf(!Litecoind.installed)("a node's cookie", () => {
  it.live(
    "is read at the start, and again when the node has started anew, while the daemon goes on",
    () =>
      Effect.gen(function* () {
        const litecoind = yield* Litecoind.start()
        yield* litecoind.mine(3)
        const first = readFileSync(litecoind.cookie, "utf8")
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          log: { level: "debug" },
          chains: {
            "litecoin/regtest": {
              nodes: [new URL(litecoind.url).origin],
              ...{ cookie: litecoind.cookie, start: 0, pollMillis: 200 }
            }
          }
        })
        /** Waits until the daemon answers with the node's block of this height. */
        const reached = Effect.fnUntraced(function* (height: number) {
          for (let i = 0; i < 600; i++) {
            const { body, status } = yield* headwater.get("/blocks/utxo/litecoin/regtest/latest/details")
            if (status === 200 && body.data.item.height === height) return
            yield* Effect.sleep("100 millis")
          }
          return yield* Effect.die(new Error(`block ${height} is not reached:\n${headwater.log()}`))
        })
        yield* reached(3)
        yield* litecoind.restart()
        assert.notStrictEqual(readFileSync(litecoind.cookie, "utf8"), first)
        yield* litecoind.mine(2)
        yield* reached(5)
        for (const cookie of [first, readFileSync(litecoind.cookie, "utf8")]) {
          assert.notInclude(headwater.log(), cookie.split(":")[1]!)
        }
        assert.strictEqual(yield* headwater.terminate, 0)
      }).pipe(Effect.scoped),
    180_000
  )
})
