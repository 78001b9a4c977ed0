/** What a node says of transactions that wait for a block. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { NodeRejected } from "../../node/NodeError.ts"
import { isMethodMissing } from "./NodeAnswer.ts"

const notFound = -5

/**
 * Reads entries by the ids of their transactions; fails with `NodeRejected` where none waits by that id. Zebra says it of all at
 * once, which are asked for once here.
 */
export const reading = Effect.fnUntraced(function* (node: JsonRpc) {
  const all = yield* Effect.cached(node.call("getrawmempool", [true], "decimalText"))
  const amongAll = (id: string) =>
    Effect.flatMap(all, (answer) => {
      const entry = Predicate.isReadonlyObject(answer) ? answer[id] : undefined
      const message = "transaction not in mempool"
      return entry === undefined
        ? Effect.fail(new NodeRejected({ node: node.node, method: "getrawmempool", code: notFound, message }))
        : Effect.succeed(entry)
    })
  return (id: string) =>
    Effect.catchIf(
      node.call("getmempoolentry", [id], "decimalText"),
      (error) => error._tag === "NodeRejected" && isMethodMissing(error),
      () => amongAll(id)
    )
})
