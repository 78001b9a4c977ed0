/**
 * Outputs of mined transactions, spent or not, as nodes with an index of transactions show them (`txindex=1`; Zebra always
 * has one). A node without an index finds transactions that have an output unspent.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf, type Outpoint } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { chunksOf } from "../../Chunks.ts"
import type { JsonRpc } from "../node/JsonRpc.ts"
import type { NodeError } from "../node/NodeError.ts"
import type { MinedOutputs, Output } from "../SideSources.ts"
import * as BlockBody from "./internal/BlockBody.ts"
import { reading, refuse } from "./internal/Malformed.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import { RawBytes } from "./internal/RawBytes.ts"
import * as RawTransaction from "./internal/RawTransaction.ts"
import * as RawZcashTransaction from "./internal/RawZcashTransaction.ts"

/** Transactions asked for at a time: one may take megabytes. */
const asked = 20

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** The outputs of a raw transaction, which has to have the id that was asked for. Throws `Malformed`. */
const outputsOf = (chain: Chain, id: Uint8Array, answer: unknown) => {
  const raw = new RawBytes(NodeJson.bytes(answer, () => "the transaction"))
  const body = BlockBody.empty()
  if (chain.utxo!.wireFormat === "zcash") RawZcashTransaction.read(raw, chain, 0, body)
  else RawTransaction.read(raw, chain, 0, body)
  if (Buffer.compare(body.transactions[0]!, id) !== 0) refuse("the transaction", "is not the one that was asked for")
  return new Map(
    body.transfers.flatMap(
      ({ amount, position, to }): ReadonlyArray<[number, Output]> =>
        to === undefined ? [] : [[position, { script: to, amount }]]
    )
  )
}

/** Asks the nodes in their order: each for what those before it did not show. Fails where no node answers at all. */
export const make = (chain: Chain, nodes: ReadonlyArray<JsonRpc>): MinedOutputs => {
  /** Adds what one node shows of these transactions, by the key of the outpoint, and takes them out of `missing`. */
  const ask = Effect.fnUntraced(function* (
    rpc: JsonRpc,
    missing: Map<string, ReadonlyArray<Outpoint>>,
    found: Map<string, Output>
  ) {
    for (const ids of chunksOf([...missing.keys()], asked)) {
      const answers = yield* rpc.results(ids.map((id) => ({ method: "getrawtransaction", params: [id] })))
      for (const [i, answer] of answers.entries()) {
        // Whatever a node says of a transaction that it does not show: another node may, or the same one later.
        if (Result.isFailure(answer)) continue
        const id = ids[i]!
        const outpoints = missing.get(id)!
        const outputs = reading(() => outputsOf(chain, outpoints[0]!.transactionId, answer.success))
        if (Result.isFailure(outputs)) {
          yield* Effect.logWarning(`${rpc.node} shows transaction ${id} in no known way: ${outputs.failure}`)
          continue
        }
        missing.delete(id)
        for (const outpoint of outpoints) {
          const output = outputs.success.get(outpoint.index)
          if (output !== undefined) found.set(keyOf(outpoint), output)
        }
      }
    }
  })

  return Effect.fn("MinedOutputs")(function* (
    outpoints: ReadonlyArray<Outpoint>
  ): Effect.fn.Return<ReadonlyArray<Output | undefined>, NodeError> {
    const missing = new Map(Map.groupBy(outpoints, ({ transactionId }) => hex(transactionId)))
    const found = new Map<string, Output>()
    let answered = 0
    let failure: NodeError | undefined
    for (const rpc of nodes) {
      if (missing.size === 0) break
      const result = yield* Effect.result(ask(rpc, missing, found))
      if (Result.isSuccess(result)) answered++
      else failure = result.failure
    }
    if (answered === 0 && failure !== undefined) return yield* failure
    return outpoints.map((outpoint) => found.get(keyOf(outpoint)))
  })
}
