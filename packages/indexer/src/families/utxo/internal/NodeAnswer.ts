/** What a UTXO node's answer means: an unknown block, an unknown transaction, or something that can be read. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeInconsistent, type NodeRejected, ProofFailed } from "../../node/NodeError.ts"
import { Malformed, Mismatch } from "./Malformed.ts"

/** The node does not have the method that was called. */
export const isMethodMissing = ({ code, message }: NodeRejected): boolean =>
  code === -32601 || /method not found/i.test(message)

/** "No such mempool or blockchain transaction"; bcoin has no code of its own for "Transaction not found". */
export const isNoTransaction = (error: NodeRejected): boolean =>
  error.code === -5 || /transaction not found/i.test(error.message)

/**
 * What Bitcoin Core and its descendants say beside, while their index of transactions is being made: "Blockchain transactions
 * are still in the process of being indexed". The transaction may be mined.
 */
export const isBeingIndexed = (error: NodeRejected): boolean => /being indexed/i.test(error.message)

/**
 * Whether the node that knows no such transaction has an index of all of them, in the words of Bitcoin Core and its
 * descendants: "No such mempool or blockchain transaction", or "No such mempool transaction. Use -txindex"; undefined where
 * it does not say.
 */
export const saysIndexed = (error: NodeRejected): boolean | undefined => {
  if (/mempool or blockchain transaction/i.test(error.message)) return true
  return /-txindex/i.test(error.message) || isBeingIndexed(error) ? false : undefined
}

const notFoundCodes: ReadonlySet<number> = new Set([-5, -8])

/** `Block not available (pruned data)`. */
const isPruned = (error: NodeRejected): boolean => /block not available|not available \(/i.test(error.message)

/** `Block not found`, `Block height out of range`; -8 is also the code of a verbosity that the node does not have. */
const isNotFound = (error: NodeRejected): boolean =>
  (notFoundCodes.has(error.code) || /block not found|height out of range/i.test(error.message) || isPruned(error)) &&
  !/verbos/i.test(error.message)

/** Turns the node's word for an unknown block, an error or `null`, into `BlockMissing`. */
export const orMissing =
  (rpc: JsonRpc, block: string) =>
  (call: Effect.Effect<unknown, NodeError>): Effect.Effect<unknown, NodeError> =>
    call.pipe(
      Effect.catchTag("NodeRejected", (error) =>
        Effect.fail(
          isNotFound(error)
            ? new BlockMissing({ node: error.node, block: isPruned(error) ? `${block} (${error.message})` : block })
            : error
        )
      ),
      Effect.filterOrFail(
        (result) => result !== null && result !== undefined,
        () => new BlockMissing({ node: rpc.node, block })
      )
    )

/** What a reader has thrown: `Malformed`, or `Mismatch` for what does not fit the block's own hashes. */
const refused =
  ({ node }: JsonRpc, method: string) =>
  (cause: unknown): Effect.Effect<never, NodeInconsistent | ProofFailed> => {
    if (cause instanceof Mismatch) return Effect.fail(new ProofFailed({ node, method, message: cause.message }))
    if (cause instanceof Malformed) return Effect.fail(new NodeInconsistent({ node, method, message: cause.message }))
    return Effect.die(cause)
  }

/** Runs a reader that throws `Malformed` or `Mismatch`. */
export const consistent = <A>(
  rpc: JsonRpc,
  method: string,
  read: () => A
): Effect.Effect<A, NodeInconsistent | ProofFailed> =>
  Effect.suspend(() => Result.match(Result.try(read), { onFailure: refused(rpc, method), onSuccess: Effect.succeed }))

/** As {@link consistent}, of an answer about a whole block. */
export const consistentInSlices = <A>(rpc: JsonRpc, method: string, read: () => Generator<void, A>) =>
  Effect.catch(TimeSlice.attempt(read), refused(rpc, method))
