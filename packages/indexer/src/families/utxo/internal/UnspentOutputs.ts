/** Unspent outputs as a node has them (`gettxout`), and outputs in its mempool. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Call, JsonRpc } from "../../node/JsonRpc.ts"
import type { Parameters } from "./Capabilities.ts"
import { isMethodMissing } from "./NodeAnswer.ts"
import type * as NodeJson from "./NodeJson.ts"

/** An output of a transaction. */
export interface Outpoint {
  readonly index: number
  readonly transactionId: Uint8Array
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")

/** As nodes write them. */
export const textOf = ({ index, transactionId }: Outpoint) => `${hex(transactionId)}:${index}`

/** What a node answers of each output, nothing where it is not unspent; undefined as a whole where the node cannot be asked. */
export const find = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  outpoints: ReadonlyArray<Outpoint>,
  withMempool: boolean
) {
  const found: Array<NodeJson.Json | undefined> = []
  const calls = outpoints.map(
    ({ index, transactionId }): Call => ({ method: "gettxout", params: [hex(transactionId), index, withMempool] })
  )
  for (const result of yield* rpc.results(calls, "decimalText")) {
    if (Result.isFailure(result)) {
      if (isMethodMissing(result.failure)) return undefined
      return yield* result.failure
    }
    found.push(Predicate.isReadonlyObject(result.success) ? result.success : undefined)
  }
  return found
})

/**
 * The outputs of transactions that wait, by their outpoints: `gettxout` does not show one that another waiting transaction
 * spends. `verbose` is the second argument of `getrawtransaction` that the chain's node takes.
 */
export const ofWaiting = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  outpoints: ReadonlyArray<Outpoint>,
  verbose: Parameters
) {
  const ids = [...new Set(outpoints.map(({ transactionId }) => hex(transactionId)))]
  const answers = yield* rpc.results(
    ids.map((id): Call => ({ method: "getrawtransaction", params: [id, ...verbose] })),
    "decimalText"
  )
  const outputs = new Map<string, unknown>()
  for (const [i, id] of ids.entries()) {
    const transaction = Result.getOrUndefined(answers[i]!)
    // A node with an index of transactions shows mined ones too.
    if (!Predicate.isReadonlyObject(transaction) || transaction.blockhash !== undefined) continue
    outputs.set(id, transaction.vout)
  }
  return ({ index, transactionId }: Outpoint): NodeJson.Json | undefined => {
    const all = outputs.get(hex(transactionId))
    const output: unknown = Array.isArray(all) ? all[index] : undefined
    return Predicate.isReadonlyObject(output) ? { ...output, confirmations: 0 } : undefined
  }
})
