import { assert, describe, it } from "@effect/vitest"
import * as Broadcasting from "@headwater/indexer/families/Broadcasting"
import { NodeUnreachable } from "@headwater/indexer/families/node/NodeError"
import * as Effect from "effect/Effect"

describe("What came of giving a transaction to every node", () => {
  it.effect("says where one has refused it that another one did not answer about", () =>
    Effect.gen(function* () {
      const taken = Effect.succeed({ state: "taken" } as const)
      const refused = Effect.succeed({ state: "refused", message: "underpriced" } as const)
      const silent = Effect.fail(new NodeUnreachable({ node: "second", method: "send", message: "no answer" }))
      const sent = (...nodes: ReadonlyArray<Effect.Effect<Broadcasting.Answer, NodeUnreachable>>) =>
        Broadcasting.toEvery(nodes, (answer) => answer)
      assert.deepStrictEqual(yield* sent(refused, silent, taken), { state: "taken" })
      assert.deepStrictEqual(yield* sent(refused, refused), { state: "refused", message: "underpriced" })
      assert.deepStrictEqual(yield* sent(silent, silent), { state: "unanswered", message: "no answer" })
      const half = { state: "unanswered", message: "no answer", isRefused: true } as const
      assert.deepStrictEqual(yield* sent(refused, silent), half)
    })
  )
})
