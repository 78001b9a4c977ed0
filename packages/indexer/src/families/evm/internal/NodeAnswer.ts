/** Reading what an EVM node has answered. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { NodeInconsistent } from "../../node/NodeError.ts"
import * as Hex from "./Hex.ts"

/** Reads an answer; a broken rule is a {@link NodeInconsistent}, anything else thrown is a defect of ours. */
export const read = <A>(rpc: JsonRpc, method: string, decode: () => A): Effect.Effect<A, NodeInconsistent> =>
  Effect.suspend(() => {
    const decoded = Result.try(decode)
    if (Result.isSuccess(decoded)) return Effect.succeed(decoded.success)
    const cause = decoded.failure
    return cause instanceof Hex.Malformed
      ? Effect.fail(new NodeInconsistent({ node: rpc.node, method, message: cause.message }))
      : Effect.die(cause)
  })
