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
 * The output at an outpoint, where its transaction waits: `gettxout` does not show one that another waiting transaction spends.
 * One after the other, and each transaction once: those that are mined may be large, and whoever asks ends at the first of them.
 * `verbose` is the second argument of `getrawtransaction` that the chain's node takes.
 */
export const waiting = (rpc: JsonRpc, verbose: Parameters) => {
  const made = new Map<string, ReadonlyArray<unknown>>()

  const outputsOf = Effect.fnUntraced(function* (id: string) {
    const call = rpc.call("getrawtransaction", [id, ...verbose], "decimalText")
    const transaction = yield* Effect.catchTag(call, "NodeRejected", () => Effect.undefined)
    // A node with an index of transactions shows mined ones too.
    const waits = Predicate.isReadonlyObject(transaction) && typeof transaction.blockhash !== "string"
    return waits && Array.isArray(transaction.vout) ? (transaction.vout as ReadonlyArray<unknown>) : []
  })

  return Effect.fnUntraced(function* ({ index, transactionId }: Outpoint) {
    const id = hex(transactionId)
    const outputs = made.get(id) ?? (yield* outputsOf(id))
    made.set(id, outputs)
    const output = outputs[index]
    // Those that stay in MWEB are listed behind the others, and have no index.
    return Predicate.isReadonlyObject(output) && output.ismweb !== true ? { ...output, confirmations: 0 } : undefined
  })
}
