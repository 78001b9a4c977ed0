/** Reading what an EVM node has answered. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { NodeInconsistent, type NodeRejected, ProofFailed } from "../../node/NodeError.ts"
import * as Hex from "./Hex.ts"

/** What was thrown of an answer: a broken rule is a {@link NodeInconsistent}, anything else is a defect of ours. */
const refused = (rpc: JsonRpc, method: string) => (cause: unknown) =>
  cause instanceof Hex.Malformed
    ? Effect.fail(new NodeInconsistent({ node: rpc.node, method, message: cause.message }))
    : Effect.die(cause)

/** Reads an answer, which breaks no rule, or is a {@link NodeInconsistent}. */
export const read = <A>(rpc: JsonRpc, method: string, decode: () => A): Effect.Effect<A, NodeInconsistent> =>
  Effect.suspend(() => Result.match(Result.try(decode), { onFailure: refused(rpc, method), onSuccess: Effect.succeed }))

/** As {@link read}, of an answer about a whole block. */
export const readInSlices = <A>(rpc: JsonRpc, method: string, decode: () => Generator<void, A>) =>
  Effect.catch(TimeSlice.attempt(decode), refused(rpc, method))

/** The node does not have the method at all; hardhat says -32004, ganache -32700 with words. */
export const isMethodMissing = ({ code, message }: NodeRejected): boolean =>
  code === -32601 ||
  /method.*(?:not (?:found|exist|supported|available|allowed|implemented)|does not exist)|unknown method|unsupported method/i.test(
    message
  )

/** What a proof says of an answer: a mismatch is a {@link ProofFailed}. */
export const proved = <A>(rpc: JsonRpc, method: string, proof: () => Generator<void, A>) =>
  Effect.catch(TimeSlice.attempt(proof), (cause) =>
    cause instanceof Hex.Mismatch
      ? Effect.fail(
          new ProofFailed({
            ...{ node: rpc.node, method, message: cause.message },
            ...(cause.content === undefined ? {} : { content: cause.content })
          })
        )
      : Effect.die(cause)
  )
