/**
 * Any transaction of a UTXO chain with what its inputs spend: by id, where the node has an index of transactions, and those
 * of a block.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as BatchInParts from "../node/BatchInParts.ts"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import { BlockMissing, type NodeError, orNone } from "../node/NodeError.ts"
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
import type { Capabilities } from "./internal/Capabilities.ts"
import * as HashAt from "./internal/HashAt.ts"
import { refuse } from "./internal/Malformed.ts"
import * as MempoolEntry from "./internal/MempoolEntry.ts"
import {
  consistent,
  consistentInSlices,
  isBeingIndexed,
  isNoTransaction,
  orMissing,
  saysIndexed
} from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"

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
    transactions: ReadonlyArray<Mined>,
    mostCalls: number
  ) => Effect.Effect<ReadonlyArray<ExplorerTransaction>, NodeError | Refused>
  /** Those of the transactions that wait for a block still, with at most so many calls. */
  readonly waiting: (
    ids: ReadonlyArray<string>,
    mostCalls: number
  ) => Effect.Effect<ReadonlyArray<ExplorerTransaction>, NodeError | Refused>
}

/** A transaction of which it is known where it is. */
export interface Mined extends Pick<ExplorerTransaction, "time"> {
  /** 64 hex digits in lower case. */
  readonly id: string
  readonly block: NonNullable<ExplorerTransaction["block"]>
}

/** A block of the chain as its ids. */
interface Listed {
  readonly hash: string
  readonly height: number
  readonly time: number
  readonly ids: ReadonlyArray<string>
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
  { decoded, listed, prevouts, txindex, verbose }: Capabilities,
  minedOutputs: MinedOutputs
): TransactionExplorer => {
  const { complete, decode } = completing(chain, minedOutputs)
  const ask = asking(rpc)

  const listedBy = Effect.fnUntraced(function* (one: JsonRpc, name: BlockName): Effect.fn.Return<Listed, NodeError> {
    const hash = "hash" in name ? name.hash : yield* HashAt.hex(one, name.height)
    const answer = yield* orMissing(
      one,
      hash
    )(one.call("getblock", [hash, ...(listed ?? decoded ?? [])], "decimalText"))
    const block = yield* consistent(one, "getblock", () => {
      const json = NodeJson.record(answer, () => "the block")
      const ids = NodeJson.list(json.tx, () => "tx").map((entry, index) => {
        const id = Predicate.isReadonlyObject(entry) ? entry.txid : entry
        return text(NodeJson.hash(id, () => `tx[${index}]`))
      })
      const height = NodeJson.count(json.height, () => "height")
      return { hash, height, time: NodeJson.count(json.time, () => "time"), ids }
    })
    // Nodes know blocks by their hash that have left the chain.
    if ((yield* HashAt.hex(one, block.height)) !== hash) return yield* new BlockMissing({ node: one.node, block: hash })
    return block
  })

  /** As the node was found at the start; one that had no index then may have been given one (Bitcoin Core 0.21 says so). */
  const isIndexed = (one: JsonRpc): Effect.Effect<boolean, NodeError> =>
    txindex
      ? Effect.succeed(true)
      : Effect.match(one.call("getindexinfo", ["txindex"]), {
          onFailure: () => false,
          onSuccess: (info) =>
            Predicate.isReadonlyObject(info) && Predicate.isReadonlyObject(info.txindex) && info.txindex.synced === true
        })

  /** The transactions as the block shows them, where the node shows what they spend; else one by one. */
  const givenBy = Effect.fnUntraced(function* (
    one: JsonRpc,
    { hash, height }: Listed,
    ids: ReadonlyArray<string>,
    offset: number
  ): Effect.fn.Return<ReadonlyArray<Given>, NodeError | NotShown> {
    // The first transaction of a chain is in no index.
    if (decoded !== undefined && (prevouts !== false || height === 0)) {
      const answer = yield* orMissing(one, hash)(one.call("getblock", [hash, ...decoded], "decimalText"))
      const shown = yield* consistent(one, "getblock", () => {
        const { tx } = NodeJson.record(answer, () => "the block")
        return NodeJson.list(tx, () => "tx")
          .slice(offset, offset + ids.length)
          .map((entry, index) => NodeJson.record(entry, () => `tx[${offset + index}]`))
      })
      if (shown.every(({ hex }) => hex !== undefined)) {
        return shown.map(({ hex, vin }, index) => ({ id: ids[index]!, hex, inputs: vin }))
      }
    }
    if (!(yield* isIndexed(one))) return yield* noIndex
    const calls = ids.map((id) => ({ method: "getrawtransaction", params: [id] }))
    const answers = yield* BatchInParts.batch(one, calls)
    return ids.map((id, index) => ({ id, hex: answers[index], inputs: undefined }))
  })

  const transactionsOf = Effect.fnUntraced(function* (
    one: JsonRpc,
    name: BlockName,
    { limit, offset }: OffsetPage,
    mostCalls: number
  ): Effect.fn.Return<
    { readonly items: ReadonlyArray<ExplorerTransaction>; readonly total: number },
    NodeError | Refused
  > {
    const block = yield* listedBy(one, name)
    const ids = block.ids.slice(offset, offset + limit)
    const { hash, height, time } = block
    const given = yield* givenBy(one, block, ids, offset)
    const items = yield* complete(one, given, mostCalls, (index) => ({
      time,
      block: { hash, height, position: offset + index }
    }))
    // The coins of a chain's first block cannot be spent.
    const isFirst = height === 0
    return {
      total: block.ids.length,
      items: isFirst ? items.map((item) => ({ ...item, isSpent: item.isSpent.map(() => false) })) : items
    }
  })

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

  const mined = Effect.fnUntraced(function* (
    one: JsonRpc,
    wanted: ReadonlyArray<Mined>,
    mostCalls: number
  ): Effect.fn.Return<ReadonlyArray<ExplorerTransaction>, NodeError | Refused> {
    if (!(yield* isIndexed(one))) return yield* noIndex
    const calls = wanted.map(({ id }) => ({ method: "getrawtransaction", params: [id] }))
    const answers = yield* BatchInParts.batch(one, calls)
    const given = wanted.map(({ id }, index) => ({ id, hex: answers[index], inputs: undefined }))
    return yield* complete(one, given, mostCalls, (index) => wanted[index]!)
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
