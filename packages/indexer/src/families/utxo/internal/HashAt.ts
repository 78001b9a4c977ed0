/** The hash of the block that a node's chain has at a height. Fails with `BlockMissing` where there is none. */
import * as Effect from "effect/Effect"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { consistent, orMissing } from "./NodeAnswer.ts"
import * as NodeJson from "./NodeJson.ts"

/** As bytes. */
export const bytes = Effect.fnUntraced(function* (node: JsonRpc, height: number) {
  const answer = yield* orMissing(node, String(height))(node.call("getblockhash", [height]))
  return yield* consistent(node, "getblockhash", () => NodeJson.hash(answer, () => "the hash"))
})

/** As 64 hex digits in lower case. */
export const hex = (node: JsonRpc, height: number) =>
  Effect.map(bytes(node, height), (hash) => Buffer.from(hash).toString("hex"))
