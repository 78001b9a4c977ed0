/** Reading what an EVM node has answered. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { NodeInconsistent, type NodeRejected, ProofFailed } from "../../node/NodeError.ts"
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

/** The node does not have the method at all; hardhat says -32004, ganache -32700 with words. */
export const isMethodMissing = ({ code, message }: NodeRejected): boolean =>
  code === -32601 ||
  /method.*(?:not (?:found|exist|supported|available|allowed|implemented)|does not exist)|unknown method|unsupported method/i.test(
    message
  )

/** What a proof says of an answer: a mismatch is a {@link ProofFailed}. */
export const proved = <A>(rpc: JsonRpc, method: string, proof: Effect.Effect<A, Hex.Mismatch>) =>
  Effect.mapError(proof, ({ message }) => new ProofFailed({ node: rpc.node, method, message }))
