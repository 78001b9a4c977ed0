/** Unspent outputs as a node has them (`gettxout`). */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Call, JsonRpc } from "../../node/JsonRpc.ts"
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
