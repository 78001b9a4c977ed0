/** What a UTXO node's answer means: an unknown block, an unknown transaction, or something that can be read. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeInconsistent, type NodeRejected, ProofFailed } from "../../node/NodeError.ts"
import { Mismatch, reading } from "./Malformed.ts"

/** "No such mempool or blockchain transaction"; bcoin has no code of its own for "Transaction not found". */
export const isNoTransaction = (error: NodeRejected): boolean =>
  error.code === -5 || /transaction not found/i.test(error.message)

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

/** Runs a reader that throws `Malformed`, or `Mismatch` for what does not fit the block's own hashes. */
export const consistent = <A>(
  rpc: JsonRpc,
  method: string,
  read: () => A
): Effect.Effect<A, NodeInconsistent | ProofFailed> =>
  Effect.suspend((): Effect.Effect<A, NodeInconsistent | ProofFailed> => {
    const result = Result.try(() => reading(read))
    if (Result.isFailure(result)) {
      const cause = result.failure
      return cause instanceof Mismatch
        ? Effect.fail(new ProofFailed({ node: rpc.node, method, message: cause.message }))
        : Effect.die(cause)
    }
    return Effect.fromResult(
      Result.mapError(result.success, (message) => new NodeInconsistent({ node: rpc.node, method, message }))
    )
  })
