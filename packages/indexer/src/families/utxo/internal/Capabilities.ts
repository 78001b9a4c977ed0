/** What a UTXO node can be asked for, found out once: by asking it for its newest block. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { JsonRpc } from "../../node/JsonRpc.ts"
import { LongText } from "../../node/LongText.ts"
import type { NodeError } from "../../node/NodeError.ts"
import { isBeingIndexed, isNoTransaction } from "./NodeAnswer.ts"
import type * as NodeJson from "./NodeJson.ts"

/** Arguments behind the hash or id that a call is about: verbosity, as nodes of different ages take it. */
export type Parameters = ReadonlyArray<number | boolean>

export interface Capabilities {
  /** What makes `getblock` list ids, show decoded transactions, give the raw block; undefined where it does not. */
  readonly listed: Parameters | undefined
  readonly decoded: Parameters | undefined
  readonly raw: Parameters | undefined
  /** What makes `getrawtransaction` decode. */
  readonly verbose: Parameters
  /** Whether `getrawtransaction` finds transactions in blocks. */
  readonly txindex: boolean
  /** Whether inputs show what they spend; undefined where the newest blocks hold no input to tell it by. */
  readonly prevouts: boolean | undefined
}

const listedParameters: ReadonlyArray<Parameters> = [[1], [true]]
/** The last one is bcoin's. */
const decodedParameters: ReadonlyArray<Parameters> = [[3], [2], [true, true]]
const rawParameters: ReadonlyArray<Parameters> = [[0], [false]]
const verboseParameters: ReadonlyArray<Parameters> = [[1], [true]]

/** Blocks that are searched for an input. */
const blocksToLookAt = 20

interface BlockOf<Transaction> {
  readonly previousblockhash?: unknown
  readonly tx: ReadonlyArray<Transaction>
}

const isBlock = (value: unknown): value is BlockOf<unknown> =>
  Predicate.isReadonlyObject(value) && Array.isArray(value.tx)
const isListed = (value: unknown): value is BlockOf<string> => isBlock(value) && typeof value.tx[0] === "string"
const isDecoded = (value: unknown): value is BlockOf<NodeJson.Json> =>
  isBlock(value) && Predicate.isReadonlyObject(value.tx[0])
/** The first block of a chain, whose transaction no node finds by its id. */
const isFirst = (block: BlockOf<unknown>): boolean => typeof block.previousblockhash !== "string"
const isText = (value: unknown): value is string | LongText => typeof value === "string" || value instanceof LongText

/** The first of `candidates` that `getblock` takes, with its answer; undefined if it takes none. */
const firstTaken = Effect.fnUntraced(function* <A>(
  rpc: JsonRpc,
  hash: string,
  candidates: ReadonlyArray<Parameters>,
  fits: (answer: unknown) => answer is A
): Effect.fn.Return<{ readonly parameters: Parameters; readonly answer: A } | undefined, NodeError> {
  for (const parameters of candidates) {
    const answer = yield* Effect.result(rpc.call("getblock", [hash, ...parameters], "decimalText"))
    if (Result.isSuccess(answer)) {
      if (fits(answer.success)) return { parameters, answer: answer.success }
    } else if (answer.failure._tag !== "NodeRejected") {
      return yield* answer.failure
    }
  }
  return undefined
})

const findVerbose = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  mined: unknown
): Effect.fn.Return<Pick<Capabilities, "verbose" | "txindex">, NodeError> {
  for (const verbose of verboseParameters) {
    const answer = yield* Effect.result(rpc.call("getrawtransaction", [mined, ...verbose], "decimalText"))
    if (Result.isSuccess(answer)) {
      if (Predicate.isReadonlyObject(answer.success)) return { verbose, txindex: true }
    } else if (answer.failure._tag !== "NodeRejected") {
      return yield* answer.failure
    } else if (isNoTransaction(answer.failure)) {
      return { verbose, txindex: isBeingIndexed(answer.failure) }
    }
  }
  return { verbose: verboseParameters[0]!, txindex: false }
})

/**
 * Whether a node that finds the newest coinbase has an index. Without one a node finds transactions by its coins, hence
 * those that have an output unspent, as every new coinbase has; an index has all transactions of all blocks.
 */
const hasIndex = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  newest: BlockOf<string>,
  listed: Parameters,
  verbose: Parameters
): Effect.fn.Return<boolean, NodeError> {
  const info = yield* Effect.result(rpc.call("getindexinfo", []))
  if (Result.isSuccess(info) && Predicate.isReadonlyObject(info.success))
    return Predicate.isReadonlyObject(info.success.txindex)
  let block = newest
  for (let looked = 0; looked < blocksToLookAt; looked++) {
    const calls = block.tx.map((id) => ({ method: "getrawtransaction", params: [id, ...verbose] }))
    const refusals = (yield* rpc.results(calls, "decimalText")).filter(Result.isFailure)
    // Nodes of before Bitcoin Core 0.21 do not say what indexes they have; of one that is being made they do.
    if (refusals.length > 0) return refusals.some(({ failure }) => isBeingIndexed(failure))
    if (isFirst(block)) return true
    const previous = yield* Effect.result(rpc.call("getblock", [block.previousblockhash, ...listed], "decimalText"))
    // The first coinbase of a chain is in no index.
    if (Result.isFailure(previous) || !isListed(previous.success) || !previous.success.previousblockhash) return true
    block = previous.success
  }
  return true
})

/** Whether a decoded block shows what its inputs spend; undefined if it has none. */
const showsPrevouts = (block: BlockOf<unknown>): boolean | undefined => {
  for (const transaction of block.tx) {
    if (!Predicate.isReadonlyObject(transaction) || !Array.isArray(transaction.vin)) continue
    const [input]: ReadonlyArray<unknown> = transaction.vin
    if (Predicate.isReadonlyObject(input) && input.txid !== undefined) return Predicate.isReadonlyObject(input.prevout)
  }
  return undefined
}

const findPrevouts = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  newest: BlockOf<unknown>,
  parameters: Parameters
): Effect.fn.Return<boolean | undefined> {
  let block = newest
  for (let looked = 0; looked < blocksToLookAt; looked++) {
    const shown = showsPrevouts(block)
    if (shown !== undefined || typeof block.previousblockhash !== "string") return shown
    const previous = yield* Effect.result(rpc.call("getblock", [block.previousblockhash, ...parameters], "decimalText"))
    if (Result.isFailure(previous) || !isDecoded(previous.success)) return undefined
    block = previous.success
  }
  return undefined
})

/**
 * Asks the node, whose newest block is `tip`. A call that the node refuses is a capability that it lacks. Fails
 * where the node cannot be reached.
 */
export const find = Effect.fnUntraced(function* (rpc: JsonRpc, tip: string): Effect.fn.Return<Capabilities, NodeError> {
  const listed = yield* firstTaken(rpc, tip, listedParameters, isListed)
  const decoded = yield* firstTaken(rpc, tip, decodedParameters, isDecoded)
  const raw = yield* firstTaken(rpc, tip, rawParameters, isText)
  const found = yield* findVerbose(rpc, listed?.answer.tx[0] ?? decoded?.answer.tx[0]?.txid)
  return {
    listed: listed?.parameters,
    decoded: decoded?.parameters,
    raw: raw?.parameters,
    verbose: found.verbose,
    txindex:
      listed === undefined
        ? found.txindex
        : (found.txindex || isFirst(listed.answer)) &&
          (yield* hasIndex(rpc, listed.answer, listed.parameters, found.verbose)),
    prevouts: decoded === undefined ? undefined : yield* findPrevouts(rpc, decoded.answer, decoded.parameters)
  }
})
