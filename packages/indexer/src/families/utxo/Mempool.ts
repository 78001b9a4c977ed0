/** The transactions that wait at a UTXO chain's node. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { CoinTransfer, Spend } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import * as BlockBody from "./internal/BlockBody.ts"
import type { Parameters } from "./internal/Capabilities.ts"
import { refuse } from "./internal/Malformed.ts"
import { consistent, isNoTransaction } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"

export interface MempoolTransaction {
  readonly id: Uint8Array
  /** Outputs, and inputs whose node said what they spend. Their `transaction` is 0. */
  readonly transfers: ReadonlyArray<CoinTransfer>
  /** Every input in plain sight. */
  readonly spends: ReadonlyArray<Spend>
}

/** An output that a waiting transaction may spend. */
export interface Output {
  readonly script: AddressBytes
  /** In the coin's smallest unit. */
  readonly amount: bigint
}

export interface Mempool {
  /** Ids, as hex, of what waits now. */
  readonly ids: Effect.Effect<ReadonlyArray<string>, NodeError>
  /** The transactions with these ids, in this order; those that have left meanwhile, mined or not, are left out. */
  readonly transactions: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<MempoolTransaction>, NodeError>
  /** When the node first saw a transaction, in seconds since the Unix epoch; undefined where it does not say. */
  readonly timeOf: (id: string) => Effect.Effect<number | undefined, NodeError>
  /**
   * Mined outputs that no mined transaction has spent, in the order of the outpoints; undefined for what is none.
   * Undefined as a whole where the node cannot be asked (no `gettxout`).
   */
  readonly outputs: (
    outpoints: ReadonlyArray<Spend["outpoint"]>
  ) => Effect.Effect<ReadonlyArray<Output | undefined> | undefined, NodeError>
  /** Waits until the node has announced a transaction since this was last waited for: a hint to look. */
  readonly announced?: Effect.Effect<void>
}

const methodNotFound = -32601

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

  const read = (id: string, answer: unknown): ReadonlyArray<MempoolTransaction> => {
    const transaction = NodeJson.record(answer, () => id)
    if (transaction.txid !== id) refuse("txid", "is not the one that was asked for")
    if (typeof transaction.blockhash === "string") return []
    const body = BlockBody.empty()
    NodeTransaction.read(chain, transaction, 0, body)
    return [{ id: body.transactions[0]!, transfers: body.transfers, spends: body.spends }]
  }

  return {
    ids: Effect.flatMap(rpc.call("getrawmempool", []), (answer) =>
      consistent(rpc, "getrawmempool", () => readIds(answer))
    ),
    transactions: (ids) =>
      Effect.flatMap(fetch(ids), (found) =>
        consistent(rpc, "getrawtransaction", () => found.flatMap(({ id, answer }) => read(id, answer)))
      ),
    timeOf: (id) =>
      rpc.call("getmempoolentry", [id]).pipe(
        Effect.map((entry) =>
          NodeJson.isRecord(entry) && Number.isSafeInteger(entry.time) ? (entry.time as number) : undefined
        ),
        Effect.catchTag("NodeRejected", () => Effect.undefined)
      ),
    outputs: Effect.fnUntraced(function* (outpoints) {
      const calls = outpoints.map(({ index, transactionId }) => ({
        method: "gettxout",
        params: [Buffer.from(transactionId).toString("hex"), index, false]
      }))
      const found: Array<Output | undefined> = []
      for (const result of yield* rpc.results(calls, "decimalText")) {
        if (Result.isFailure(result)) {
          if (result.failure.code === methodNotFound) return undefined
          return yield* result.failure
        }
        const answer = result.success
        found.push(
          answer === null
            ? undefined
            : yield* consistent(rpc, "gettxout", () => NodeTransaction.readOutput(chain, answer, () => "the output"))
        )
      }
      return found
    })
  }
}
