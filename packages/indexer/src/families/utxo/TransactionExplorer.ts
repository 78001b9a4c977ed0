/**
 * Any transaction of a UTXO chain with what its inputs spend: by id, where the node has an index of transactions, and those of
 * a block. Transactions and the ones that they spend from are decoded here from their bytes, whose hash is the id.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import { keyOf } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as BatchInParts from "../node/BatchInParts.ts"
import type { JsonRpc, Nodes } from "../node/JsonRpc.ts"
import { BlockMissing, type NodeError, NodeRejected } from "../node/NodeError.ts"
import type { OffsetPage } from "../OffsetPage.ts"
import type { MinedOutputs, Output } from "../SideSources.ts"
import type { BlockName } from "./BlockExplorer.ts"
import * as BlockBody from "./internal/BlockBody.ts"
import type { Capabilities } from "./internal/Capabilities.ts"
import { refuse } from "./internal/Malformed.ts"
import {
  consistent,
  consistentInSlices,
  isBeingIndexed,
  isNoTransaction,
  orMissing,
  saysIndexed
} from "./internal/NodeAnswer.ts"
import * as NodeJson from "./internal/NodeJson.ts"
import * as NodeTransaction from "./internal/NodeTransaction.ts"
import * as WholeTransaction from "./WholeTransaction.ts"

/** The chain's nodes do not show something for good, whatever the transaction. */
export class NotShown extends Schema.TaggedError<NotShown>()("NotShown", { message: Schema.String }) {}

/** What transactions spend, and which of their outputs are spent, takes more calls of the node than a request may take. */
export class TooManyCalls extends Schema.TaggedError<TooManyCalls>()("TooManyCalls", { calls: Schema.Finite }) {}

/** Why nodes that answer show nothing. */
export type Refused = NotShown | TooManyCalls

export interface ExplorerTransaction {
  readonly transaction: WholeTransaction.WholeTransaction
  /** What each input spends; undefined for a coinbase, and for what Litecoin moves inside MWEB. */
  readonly spent: ReadonlyArray<Output | undefined>
  /** Whether each output is spent, in a block or by a transaction that waits. */
  readonly isSpent: ReadonlyArray<boolean>
  readonly isCoinbase: boolean
  /** In the smallest unit. */
  readonly fee: bigint
  /** Undefined for one that waits. */
  readonly block: { readonly hash: string; readonly height: number; readonly position: number } | undefined
  /** Of the block, or when the node saw one that waits; in seconds since the Unix epoch. */
  readonly time: number
}

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

/** A transaction as a node gives it: its bytes, and what its inputs spend where the node shows it. */
interface Given {
  readonly id: string
  readonly hex: unknown
  readonly inputs: unknown
}

const noOutput = 0xffff_ffff
const methodNotFound = -32601
const notFound = -5
const noIndex = new NotShown({
  message: "The chain's node has no index of transactions (txindex=1), and does not show what inputs spend"
})

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const isCoinbaseOf = ({ inputs }: WholeTransaction.WholeTransaction): boolean =>
  inputs.length === 1 && inputs[0]!.outputIndex === noOutput

/** Of a type of Dash that takes coins out of its pool: what it pays stands behind everything else (DIP-27). */
const assetUnlock = 9

const sum = (amounts: ReadonlyArray<bigint>) => amounts.reduce((total, amount) => total + amount, 0n)

/** What a transaction leaves for the miner. Throws `Malformed` where that would be less than nothing. */
const feeOf = (transaction: WholeTransaction.WholeTransaction, spent: ReadonlyArray<Output | undefined>): bigint => {
  if (isCoinbaseOf(transaction)) return 0n
  const { extra, outputs, version, zcash } = transaction
  // Version, index, then the fee.
  if (extra !== undefined && version >>> 16 === assetUnlock) {
    return extra.length >= 13 ? BigInt(Buffer.from(extra).readUInt32LE(9)) : refuse("the payload", "ends early")
  }
  const fee =
    sum(spent.map((output) => output?.amount ?? 0n)) +
    (zcash?.revealed.all ?? 0n) -
    sum(outputs.map(({ amount }) => amount))
  return fee < 0n ? refuse("the outputs", "must not be more than the inputs") : fee
}

/** Counts the calls that what a stranger put into a block takes. */
type TakeCalls = (calls: number) => Effect.Effect<void, TooManyCalls>

const takeOf = (mostCalls: number): TakeCalls => {
  let taken = 0
  return (calls) =>
    Effect.suspend(() => {
      taken += calls
      return taken <= mostCalls ? Effect.void : Effect.fail(new TooManyCalls({ calls: taken }))
    })
}

export const make = (
  chain: Chain,
  rpc: Nodes,
  { decoded, listed, prevouts, txindex, verbose }: Capabilities,
  minedOutputs: MinedOutputs
): TransactionExplorer => {
  const decode = (one: JsonRpc, { hex, id }: Given) =>
    consistentInSlices(one, "getrawtransaction", function* () {
      const read = WholeTransaction.decode(chain, yield* NodeJson.longBytes(hex, () => "the transaction"))
      if (Result.isFailure(read)) return refuse("the transaction", read.failure)
      if (text(read.success.id) !== id) refuse("the transaction", "is not the one that was asked for")
      return read.success
    })

  /** What the node's answer about a block shows of an input. */
  const shownBy = (inputs: unknown, index: number): Output | undefined => {
    const input: unknown = Array.isArray(inputs) ? inputs[index] : undefined
    const prevout = Predicate.isReadonlyObject(input) ? input.prevout : undefined
    return prevout === undefined ? undefined : NodeTransaction.readOutput(chain, prevout, () => `vin[${index}].prevout`)
  }

  const spentBy = Effect.fnUntraced(function* (
    one: JsonRpc,
    all: ReadonlyArray<Given & { readonly transaction: WholeTransaction.WholeTransaction }>,
    take: TakeCalls
  ) {
    const wanted = yield* consistent(one, "getblock", () =>
      all.flatMap(({ inputs, transaction }) =>
        isCoinbaseOf(transaction)
          ? []
          : transaction.inputs.map(({ outputIndex, transactionId }, index) => ({
              outpoint: { transactionId, index: outputIndex },
              shown: shownBy(inputs, index)
            }))
      )
    )
    const asked = wanted.filter(({ shown }) => shown === undefined).map(({ outpoint }) => outpoint)
    yield* take(asked.length)
    const answers = yield* minedOutputs(asked)
    const found = new Map(
      wanted.flatMap(({ outpoint, shown }) => (shown === undefined ? [] : [[keyOf(outpoint), shown] as const]))
    )
    for (const [index, outpoint] of asked.entries()) {
      const answer = answers[index]
      if (answer === undefined) return yield* noIndex
      found.set(keyOf(outpoint), answer)
    }
    return found
  })

  /** Whether each output that can be spent is; one that nobody can spend is not. */
  const spentAmong = Effect.fnUntraced(function* (
    one: JsonRpc,
    all: ReadonlyArray<WholeTransaction.WholeTransaction>,
    take: TakeCalls
  ) {
    const spendable = all.flatMap(({ id, outputs }) =>
      outputs.flatMap(({ script }, index) => (BlockBody.isSpendable(script) ? [`${text(id)} ${index}`] : []))
    )
    const calls = spendable.map((key) => {
      const [id, index] = key.split(" ")
      return { method: "gettxout", params: [id, Number(index), true] }
    })
    yield* take(calls.length)
    const answers = yield* Effect.catchIf(
      BatchInParts.batch(one, calls, "decimalText"),
      (error) => error._tag === "NodeRejected" && error.code === methodNotFound,
      () => new NotShown({ message: "The chain's node does not show which outputs are spent (gettxout)" })
    )
    const unspent = new Set(spendable.filter((_, index) => Predicate.isReadonlyObject(answers[index])))
    return all.map(({ id, outputs }) =>
      outputs.map(({ script }, index) => BlockBody.isSpendable(script) && !unspent.has(`${text(id)} ${index}`))
    )
  })

  const complete = Effect.fnUntraced(function* (
    one: JsonRpc,
    given: ReadonlyArray<Given>,
    mostCalls: number,
    placeOf: (index: number) => Pick<ExplorerTransaction, "block" | "time">
  ): Effect.fn.Return<ReadonlyArray<ExplorerTransaction>, NodeError | Refused> {
    const all = yield* Effect.forEach(given, (each) =>
      Effect.map(decode(one, each), (transaction) => ({ ...each, transaction }))
    )
    const take = takeOf(mostCalls)
    const coins = yield* spentBy(one, all, take)
    const isSpent = yield* spentAmong(
      one,
      all.map(({ transaction }) => transaction),
      take
    )
    return yield* consistent(one, "getrawtransaction", () =>
      all.map(({ transaction }, index): ExplorerTransaction => {
        const isCoinbase = isCoinbaseOf(transaction)
        const spent = transaction.inputs.map(({ outputIndex, transactionId }) =>
          coins.get(keyOf({ transactionId, index: outputIndex }))
        )
        return {
          ...{ transaction, spent, isCoinbase, isSpent: isSpent[index]!, fee: feeOf(transaction, spent) },
          ...placeOf(index)
        }
      })
    )
  })

  const hashAt = Effect.fnUntraced(function* (one: JsonRpc, height: number) {
    const answer = yield* orMissing(one, String(height))(one.call("getblockhash", [height]))
    return yield* consistent(one, "getblockhash", () => text(NodeJson.hash(answer, () => "the hash")))
  })

  const listedBy = Effect.fnUntraced(function* (one: JsonRpc, name: BlockName): Effect.fn.Return<Listed, NodeError> {
    const hash = "hash" in name ? name.hash : yield* hashAt(one, name.height)
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
    if ((yield* hashAt(one, block.height)) !== hash) return yield* new BlockMissing({ node: one.node, block: hash })
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
    if (decoded !== undefined && (prevouts === true || height === 0)) {
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

  /** What a node says of transactions that wait. Zebra says it of all at once, which are asked for once here. */
  const entriesOf = Effect.fnUntraced(function* (one: JsonRpc) {
    const all = yield* Effect.cached(one.call("getrawmempool", [true], "decimalText"))
    const amongAll = (id: string) =>
      Effect.flatMap(all, (answer) => {
        const entry = Predicate.isReadonlyObject(answer) ? answer[id] : undefined
        const message = "transaction not in mempool"
        return entry === undefined
          ? Effect.fail(new NodeRejected({ node: one.node, method: "getrawmempool", code: notFound, message }))
          : Effect.succeed(entry)
      })
    return (id: string) =>
      Effect.catchIf(
        one.call("getmempoolentry", [id], "decimalText"),
        (error) => error._tag === "NodeRejected" && error.code === methodNotFound,
        () => amongAll(id)
      )
  })

  /** Where a transaction is; undefined where its block has left the chain. */
  const placeOf = Effect.fnUntraced(function* (
    one: JsonRpc,
    entryOf: Effect.Success<ReturnType<typeof entriesOf>>,
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
    const found = listedBy(one, { hash: json.blockhash.toLowerCase() })
    const block = yield* Effect.catchTag(found, "BlockMissing", () => Effect.undefined)
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
    const place = yield* placeOf(one, yield* entriesOf(one), id, found.json)
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
    const entryOf = yield* entriesOf(one)
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

  /** What no node shows is a value while the nodes are asked in turn. */
  const ask = <A>(work: (one: JsonRpc) => Effect.Effect<A, NodeError | Refused>) =>
    Effect.flatMap(
      rpc.withOne((one) =>
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

  return {
    transaction: Effect.fn("TransactionExplorer.transaction")((id, mostCalls) =>
      ask((one) => transaction(one, id, mostCalls))
    ),
    rawData: Effect.fn("TransactionExplorer.rawData")((id) =>
      ask(
        Effect.fnUntraced(function* (one) {
          const found = yield* known(one, id)
          if (found === undefined) return undefined
          if ((yield* placeOf(one, yield* entriesOf(one), id, found.json)) === undefined) return undefined
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
