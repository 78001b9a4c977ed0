/**
 * What nodes answer to calls of contracts. A contract that fails is an answer, and a node that fails is none: errors alone tell
 * which of the two it was, in the words of each node.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Call, JsonRpc } from "../../node/JsonRpc.ts"
import type { NodeError, NodeRejected } from "../../node/NodeError.ts"

/** Errors that say something about the node and nothing about the contract: not to be taken for a missing name. */
const nodeTrouble = /trie node|state|header|pruned|not (?:found|available|supported)|does not exist|timeout|timed out/i

const isNodeTrouble = ({ code, message }: NodeRejected): boolean =>
  code === -32601 || (code !== 3 && nodeTrouble.test(message) && !/revert/i.test(message))

/** Errors that say what the contract did. */
const contractTrouble =
  /revert|exception|execution|\b[ev]?vm\b|opcode|instruction|invalid|\bgas\b|stack|jump|halt|flow|depth|static|write protection|memory/i
/** EIP-1474's code of a call that reverts, and that of OpenEthereum and its successors for a call that fails. */
const contractCodes: ReadonlySet<number> = new Set([3, -32015])

/** Errors that may be either's: `Internal error` is what hosted nodes say in passing, and Besu of a contract that halts. */
const isDoubtful = ({ code, message }: NodeRejected): boolean =>
  !contractCodes.has(code) && !contractTrouble.test(message)

/** How often a call is sent whose error may be either's, until it is the contract's; and the wait in between. */
const attempts = 3
const wait = "500 millis"

/**
 * What the calls return, undefined where the contract fails; fails where the node does. `inDoubt`: whose an error is in the end
 * that may be either's; the contract's, unless money would be lost by that.
 */
export const of = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  calls: ReadonlyArray<Call>,
  inDoubt: "contract" | "node" = "contract"
): Effect.fn.Return<ReadonlyArray<unknown>, NodeError> {
  const found: Array<unknown> = calls.map(() => undefined)
  let open = [...calls.keys()]
  for (let attempt = 1; open.length > 0; attempt++) {
    if (attempt > 1) yield* Effect.sleep(wait)
    const results = yield* rpc.results(open.map((place) => calls[place]!))
    const doubtful: Array<number> = []
    for (const [i, result] of results.entries()) {
      const place = open[i]!
      if (Result.isSuccess(result)) found[place] = result.success
      else if (isNodeTrouble(result.failure)) return yield* result.failure
      else if (isDoubtful(result.failure)) {
        if (attempt < attempts) doubtful.push(place)
        else if (inDoubt === "node") return yield* result.failure
      }
    }
    open = doubtful
  }
  return found
})
