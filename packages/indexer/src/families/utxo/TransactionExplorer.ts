/**
 * Any transaction of a UTXO chain with what its inputs spend: by id, where the node has an index of transactions, and those
 * of a block.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import { type NodeError, orNone } from "../node/NodeError.ts"
import type { OffsetPage } from "../OffsetPage.ts"
import type { MinedOutputs } from "../SideSources.ts"
import type { BlockName } from "./BlockExplorer.ts"
import {
  completing,
  type ExplorerTransaction,
  type Given,
  type NotShown,
  noIndex,
  type Refused
} from "./ExplorerTransaction.ts"
import * as BlockTransactions from "./internal/BlockTransactions.ts"
import type { Capabilities } from "./internal/Capabilities.ts"
import * as ListedBlock from "./internal/ListedBlock.ts"
import { refuse } from "./internal/Malformed.ts"
import * as MempoolEntry from "./internal/MempoolEntry.ts"
import { consistent, consistentInSlices, isBeingIndexed, isNoTransaction, saysIndexed } from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"

export type { Mined } from "./internal/BlockTransactions.ts"

export interface TransactionExplorer {
  /** By the id as 64 hex digits in lower case, with at most so many calls; undefined where there is no such transaction. */
  readonly transaction: (
    id: string,
    mostCalls: number
  ) => Effect.Effect<ExplorerTransaction | undefined, NodeError | Refused>
  /** The bytes of a transaction as hex digits. */
  readonly rawData: (id: string) => Effect.Effect<string | undefined, NodeError | Refused>
  /** With at most so many calls. Fails with `BlockMissing` where the chain has no such block. */
  readonly transactionsOf: (
    name: BlockName,
    page: OffsetPage,
    mostCalls: number
  ) => Effect.Effect<
    { readonly items: ReadonlyArray<ExplorerTransaction>; readonly total: number },
    NodeError | Refused
  >
  /** Transactions in blocks, in the order that they are asked for, with at most so many calls. */
  readonly mined: (
    transactions: ReadonlyArray<BlockTransactions.Mined>,
    mostCalls: number
  ) => Effect.Effect<ReadonlyArray<ExplorerTransaction>, NodeError | Refused>
  /** Those of the transactions that wait for a block still, with at most so many calls. */
  readonly waiting: (
    ids: ReadonlyArray<string>,
    mostCalls: number
  ) => Effect.Effect<ReadonlyArray<ExplorerTransaction>, NodeError | Refused>
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

/** What no node shows is a value while the nodes are asked in turn. */
const asking =
  (nodes: Nodes) =>
  <A>(work: (one: JsonRpc) => Effect.Effect<A, NodeError | Refused>) =>
    Effect.flatMap(
      nodes.withOne((one) =>
        Effect.flatMap(Effect.result(work(one)), (result): Effect.Effect<Result.Result<A, Refused>, NodeError> => {
          if (Result.isSuccess(result)) return Effect.succeed(Result.succeed(result.success))
          const { failure } = result
          return failure._tag === "NotShown" || failure._tag === "TooManyCalls"
            ? Effect.succeed(Result.fail(failure))
            : Effect.fail(failure)
        })
      ),
      Effect.fromResult
    )

export const make = (
  chain: Chain,
  rpc: Nodes,
  capabilities: Capabilities,
  minedOutputs: MinedOutputs
): TransactionExplorer => {
  const { txindex, verbose } = capabilities
  const { complete, decode } = completing(chain, minedOutputs)
  const ask = asking(rpc)
  const listedBy = ListedBlock.reading(capabilities)
  const { mined, transactionsOf } = BlockTransactions.make(capabilities, listedBy, complete)

  /** What `getrawtransaction` says, undefined where the node knows no such transaction. */
  const known = Effect.fnUntraced(function* (one: JsonRpc, id: string) {
    const answer = yield* Effect.catchTag(
      one.call("getrawtransaction", [id, ...verbose], "decimalText"),
      "NodeRejected",
      (error): Effect.Effect<undefined, NodeError | NotShown> => {
        if (!isNoTransaction(error)) return Effect.fail(error)
        // Its own word comes first: an index may have been switched on or off since the start, and another node may have one.
        if (saysIndexed(error) ?? txindex) return Effect.undefined
        return Effect.fail(txindex || isBeingIndexed(error) ? error : noIndex)
      }
    )
    // A node without an index finds few of the transactions in blocks: this one may be among the others.
    if (answer === null) return txindex ? undefined : yield* noIndex
    if (answer === undefined) return undefined
    const json = yield* consistent(one, "getrawtransaction", () => NodeJson.record(answer, () => "the answer"))
    return { json, given: { id, hex: json.hex, inputs: undefined } }
  })

  /** Where a transaction is; undefined where its block has left the chain. */
  const placeOf = Effect.fnUntraced(function* (
    one: JsonRpc,
    entryOf: Effect.Success<ReturnType<typeof MempoolEntry.reading>>,
    id: string,
    json: NodeJson.Json
  ): Effect.fn.Return<Pick<ExplorerTransaction, "block" | "time"> | undefined, NodeError> {
    if (typeof json.blockhash !== "string") {
      const entry = yield* entryOf(id)
      const time = yield* consistent(one, "getmempoolentry", () =>
        NodeJson.count(NodeJson.record(entry, () => "the entry").time, () => "time")
      )
      return { block: undefined, time }
    }
    const block = yield* orNone(listedBy(one, { hash: json.blockhash.toLowerCase() }))
    if (block === undefined) return undefined
    const { hash, height, ids, time } = block
    const position = ids.indexOf(id)
    return yield* consistent(one, "getrawtransaction", () =>
      position < 0
        ? refuse("blockhash", "is of a block without the transaction")
        : { time, block: { hash, height, position } }
    )
  })

  const transaction = Effect.fnUntraced(function* (
    one: JsonRpc,
    id: string,
    mostCalls: number
  ): Effect.fn.Return<ExplorerTransaction | undefined, NodeError | Refused> {
    const found = yield* known(one, id)
    if (found === undefined) return undefined
    const place = yield* placeOf(one, yield* MempoolEntry.reading(one), id, found.json)
    return place === undefined ? undefined : (yield* complete(one, [found.given], mostCalls, () => place))[0]
  })

  const waiting = Effect.fnUntraced(function* (
    one: JsonRpc,
    ids: ReadonlyArray<string>,
    mostCalls: number
  ): Effect.fn.Return<ReadonlyArray<ExplorerTransaction>, NodeError | Refused> {
    const given: Array<Given> = []
    const places: Array<Pick<ExplorerTransaction, "block" | "time">> = []
    const entryOf = yield* MempoolEntry.reading(one)
    for (const id of ids) {
      // It may leave between two calls; a node without an index, or that makes one, knows no more of it then.
      const found = yield* Effect.catchIf(
        known(one, id),
        (error) => error._tag === "NotShown" || (error._tag === "NodeRejected" && saysIndexed(error) === false),
        () => Effect.undefined
      )
      if (found === undefined) continue
      const place = yield* Effect.catchTag(
        placeOf(one, entryOf, id, found.json),
        "NodeRejected",
        () => Effect.undefined
      )
      if (place === undefined || place.block !== undefined) continue
      given.push(found.given)
      places.push(place)
    }
    return yield* complete(one, given, mostCalls, (index) => places[index]!)
  })

  return {
    transaction: Effect.fn("TransactionExplorer.transaction")((id, mostCalls) =>
      ask((one) => transaction(one, id, mostCalls))
    ),
    rawData: Effect.fn("TransactionExplorer.rawData")((id) =>
      ask(
        Effect.fnUntraced(function* (one) {
          const found = yield* known(one, id)
          if (found === undefined) return undefined
          if ((yield* placeOf(one, yield* MempoolEntry.reading(one), id, found.json)) === undefined) return undefined
          yield* decode(one, found.given)
          return yield* consistentInSlices(one, "getrawtransaction", function* () {
            return text(yield* NodeJson.longBytes(found.given.hex, () => "hex"))
          })
        })
      )
    ),
    mined: Effect.fn("TransactionExplorer.mined")((transactions, mostCalls) =>
      ask((one) => mined(one, transactions, mostCalls))
    ),
    waiting: Effect.fn("TransactionExplorer.waiting")((ids, mostCalls) => ask((one) => waiting(one, ids, mostCalls))),
    transactionsOf: Effect.fn("TransactionExplorer.transactionsOf")((name, page, mostCalls) =>
      ask((one) => transactionsOf(one, name, page, mostCalls))
    )
  }
}
