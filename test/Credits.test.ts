/** Credits through the running daemon: what a call and a callback cost is taken from the balance, once. */
import { assert, describe, it } from "@effect/vitest"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Anvil from "./Anvil.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { taken } from "./Stores.ts"

describe("credits", () => {
  for (const { location, name } of taken(import.meta.url)) {
    it.live(`are taken for a subscription and for each callback that was accepted, ${name}`, () =>
      Effect.gen(function* () {
        const anvil = yield* Anvil.start({})
        const receiver = yield* Receiver.start()
        const place = yield* location as Effect.Effect<Parameters<typeof Headwater.start>[0]>
        const headwater = yield* Headwater.start(place, {
          chains: { "ethereum/devnet": { nodes: [anvil.url], start: "latest", pollMillis: 200 } },
          callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca },
          credits: { enabled: true }
        })
        const subscribe = headwater.post("/blockchain-events/ethereum/devnet/block-mined", {
          callbackUrl: `${receiver.url}/`
        })
        assert.strictEqual((yield* subscribe).status, 402)
        yield* Effect.gen(function* () {
          const { id } = yield* (yield* Accounts).find("test")
          yield* (yield* Credits).grant({ account: id, amount: 1000, detail: "start" })
        }).pipe(
          Effect.provide(Layer.mergeAll(Accounts.layer, Credits.layer).pipe(Layer.provide(Database.layer(place)))),
          Effect.orDie
        )
        assert.strictEqual((yield* subscribe).status, 201)
        yield* anvil.rpc("anvil_mine", ["0x3"])
        yield* receiver.until((accepted) => accepted.length >= 3)
        yield* Effect.sleep("500 millis")
        const callbacks = receiver.accepted().length
        const { body } = yield* headwater.get("/credits/balance")
        assert.strictEqual(body.data.item.available, 1000 - 30 - 50 * callbacks)
      }).pipe(Effect.scoped)
    )
  }
})
