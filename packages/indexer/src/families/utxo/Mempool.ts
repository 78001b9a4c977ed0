/** The transactions that wait at a UTXO chain's node. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { Mempool, MempoolTransaction } from "../SideSources.ts"
import * as BlockBody from "./internal/BlockBody.ts"
import type { Parameters } from "./internal/Capabilities.ts"
import { refuse } from "./internal/Malformed.ts"
import { consistent, consistentInSlices, isNoTransaction } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"
import * as UnspentOutputs from "./internal/UnspentOutputs.ts"

/** `verbose` is the second argument of `getrawtransaction` that the chain's node takes. */
export const make = (chain: Chain, rpc: JsonRpc, verbose: Parameters): Mempool => {
  const readIds = (answer: unknown): ReadonlyArray<string> =>
    NodeJson.list(answer, () => "the mempool").map((id, index) =>
      typeof id === "string" && /^[0-9a-f]{64}$/.test(id) ? id : refuse(`[${index}]`, "must be 64 hex digits")
    )

  /** The answers to those ids that the node still has. */
  const fetch = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
    const calls = ids.map((id) => ({ method: "getrawtransaction", params: [id, ...verbose] }))
    const found: Array<{ readonly id: string; readonly answer: unknown }> = []
    for (const [index, result] of (yield* rpc.results(calls, "decimalText")).entries()) {
      if (Result.isSuccess(result)) found.push({ id: ids[index]!, answer: result.success })
      else if (!isNoTransaction(result.failure)) return yield* result.failure
    }
    return found
  })

  function* read(id: string, answer: unknown): Generator<void, ReadonlyArray<MempoolTransaction>> {
    const transaction = NodeJson.record(answer, () => id)
    if (transaction.txid !== id) refuse("txid", "is not the one that was asked for")
    if (typeof transaction.blockhash === "string") return []
    const body = BlockBody.empty()
    yield* NodeTransaction.read(chain, transaction, 0, body)
    const own = body.transactions[0]!
    // Its net is not certain; the block in which it is mined names it.
    if (body.notUnderstood !== undefined) return [{ id: own, transfers: [], spends: [] }]
    return [{ id: own, transfers: body.transfers, spends: body.spends }]
  }

  return {
    ids: Effect.flatMap(rpc.call("getrawmempool", []), (answer) =>
      consistent(rpc, "getrawmempool", () => readIds(answer))
    ),
    transactions: (ids) =>
      Effect.flatMap(fetch(ids), (found) =>
        consistentInSlices(rpc, "getrawtransaction", function* () {
          const transactions: Array<MempoolTransaction> = []
          for (const { answer, id } of found) transactions.push(...(yield* read(id, answer)))
          return transactions
        })
      ),
    tip: Effect.flatMap(rpc.call("getbestblockhash", []), (answer) =>
      consistent(rpc, "getbestblockhash", () => NodeJson.hash(answer, () => "the hash"))
    ),
    timeOf: (id) =>
      rpc.call("getmempoolentry", [id]).pipe(
        Effect.map((entry) =>
          Predicate.isReadonlyObject(entry) && Number.isSafeInteger(entry.time) ? (entry.time as number) : undefined
        ),
        Effect.catchTag("NodeRejected", () => Effect.undefined)
      ),
    outputs: Effect.fnUntraced(function* (outpoints) {
      const found = yield* UnspentOutputs.find(rpc, outpoints, false)
      if (found === undefined) return undefined
      return yield* consistent(rpc, "gettxout", () =>
        found.map((output) => output && NodeTransaction.readOutput(chain, output, () => "the output"))
      )
    })
  }
}
