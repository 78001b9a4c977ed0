/**
 * Blocks from one chain's nodes, in the way that they have: decoded (`getblock` 3, 2, or bcoin's two booleans), as ids
 * whose transactions are fetched in batches, or raw. Which ways work is found out once, on the newest block.
 */
import type { Block } from "@headwater/core/Block"
import type { BlockDetails } from "@headwater/core/BlockDetails"
import type { Chain } from "@headwater/core/Chain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JsonRpc } from "../JsonRpc.ts"
import { type NodeError, NodeInconsistent } from "../NodeError.ts"
import * as BlockBody from "./BlockBody.ts"
import { refuse } from "./Malformed.ts"
import { consistent, isNoTransaction, orMissing } from "./NodeAnswer.ts"
import * as NodeBlock from "./NodeBlock.ts"
import * as NodeJson from "./NodeJson.ts"
import * as NodeTransaction from "./NodeTransaction.ts"
import * as RawBlock from "./RawBlock.ts"

/** How a block's transactions are had from a node. */
export type Way = "decoded" | "transactions" | "raw"

/** Arguments behind the subject of a call, as nodes of different ages take them. */
export type Parameters = ReadonlyArray<number | boolean>

export interface BlockReader {
  /** The ways that the node has, best first. A block that it refuses in one way is asked for in the next. */
  readonly ways: ReadonlyArray<Way>
  /** Whether inputs show what they spend; undefined where the newest blocks hold no input to tell it by. */
  readonly prevouts: boolean | undefined
  /** What makes `getrawtransaction` decode. */
  readonly verbose: Parameters
  /** Reads and checks a block. */
  readonly block: (asked: NodeBlock.Asked) => Effect.Effect<Block, NodeError>
  readonly details: (asked: NodeBlock.Asked) => Effect.Effect<BlockDetails, NodeError>
}

const decodedParameters: ReadonlyArray<Parameters> = [[3], [2], [true, true]]
const listParameters: ReadonlyArray<Parameters> = [[1], [true]]
const rawParameters: ReadonlyArray<Parameters> = [[0], [false]]
const verboseParameters: ReadonlyArray<Parameters> = [[1], [true]]

const isBlock = (value: unknown): value is { readonly tx: ReadonlyArray<unknown> } =>
  NodeJson.isRecord(value) && Array.isArray(value.tx)
const isList = (value: unknown): value is { readonly tx: readonly [string] } =>
  isBlock(value) && typeof value.tx[0] === "string"
const isDecoded = (value: unknown): value is { readonly tx: ReadonlyArray<unknown> } =>
  isBlock(value) && NodeJson.isRecord(value.tx[0])
const isText = (value: unknown): value is string => typeof value === "string"

/** Blocks that are looked through for an input at start. */
const blocksToLookAt = 20

/** The first of `candidates` that the node takes, with its answer; undefined if it takes none. */
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

/** How `getrawtransaction` is made to decode, and whether it finds a transaction that is in a block. */
const findVerbose = Effect.fnUntraced(function* (
  rpc: JsonRpc,
  mined: string
): Effect.fn.Return<{ readonly parameters: Parameters; readonly finds: boolean }, NodeError> {
  for (const parameters of verboseParameters) {
    const answer = yield* Effect.result(rpc.call("getrawtransaction", [mined, ...parameters], "decimalText"))
    if (Result.isSuccess(answer)) {
      if (NodeJson.isRecord(answer.success)) return { parameters, finds: true }
    } else if (answer.failure._tag !== "NodeRejected") {
      return yield* answer.failure
    } else if (isNoTransaction(answer.failure)) {
      return { parameters, finds: false }
    }
  }
  return { parameters: verboseParameters[0]!, finds: false }
})

/** Whether a decoded block shows what its inputs spend; undefined if it has none. */
const showsPrevouts = (block: unknown): boolean | undefined => {
  if (!NodeJson.isRecord(block) || !Array.isArray(block.tx)) return undefined
  const spending = block.tx.find(
    (transaction) =>
      NodeJson.isRecord(transaction) && Array.isArray(transaction.vin) && transaction.vin[0]?.txid !== undefined
  )
  return spending === undefined ? undefined : NodeJson.isRecord(spending.vin[0].prevout)
}

/** Finds out which ways the chain's node has; `tip` is its newest block. Fails where it has none. */
export const make = Effect.fnUntraced(function* (
  chain: Chain,
  rpc: JsonRpc,
  tip: string,
  only: Way | undefined
): Effect.fn.Return<BlockReader, NodeError> {
  const getBlock = (hash: string, parameters: Parameters) =>
    orMissing(rpc, hash)(rpc.call("getblock", [hash, ...parameters], "decimalText"))

  const list = yield* firstTaken(rpc, tip, listParameters, isList)
  if (list === undefined) {
    return yield* new NodeInconsistent({ node: rpc.node, method: "getblock", message: "lists no transaction ids" })
  }
  const decoded = yield* firstTaken(rpc, tip, decodedParameters, isDecoded)
  const verbose = yield* findVerbose(rpc, list.answer.tx[0])
  const raw = yield* firstTaken(rpc, tip, rawParameters, isText)

  let newest: unknown = decoded?.answer
  let prevouts = showsPrevouts(newest)
  for (let looked = 0; decoded !== undefined && prevouts === undefined && looked < blocksToLookAt; looked++) {
    const previous = NodeJson.isRecord(newest) ? newest.previousblockhash : undefined
    if (typeof previous !== "string") break
    newest = yield* getBlock(previous, decoded.parameters)
    prevouts = showsPrevouts(newest)
  }

  const readDecoded = (parameters: Parameters) =>
    Effect.fnUntraced(function* (asked: NodeBlock.Asked) {
      const answer = yield* getBlock(asked.hash, parameters)
      return yield* consistent(rpc, "getblock", () => {
        const block = NodeBlock.read(answer, asked)
        const body = BlockBody.empty()
        for (const [index, transaction] of block.tx.entries()) NodeTransaction.read(chain, transaction, index, body)
        return NodeBlock.assemble(block, body)
      })
    })

  const readTransactions = (parameters: Parameters) =>
    Effect.fnUntraced(function* (asked: NodeBlock.Asked) {
      const answer = yield* getBlock(asked.hash, list.parameters)
      const block = yield* consistent(rpc, "getblock", () => NodeBlock.read(answer, asked))
      const transactions = yield* rpc.batch(
        block.tx.map((id) => ({ method: "getrawtransaction", params: [id, ...parameters] })),
        "decimalText"
      )
      return yield* consistent(rpc, "getrawtransaction", () => {
        const body = BlockBody.empty()
        for (const [index, transaction] of transactions.entries()) {
          NodeTransaction.read(chain, transaction, index, body)
        }
        return NodeBlock.assemble(block, body)
      })
    })

  const readRaw = (parameters: Parameters) =>
    Effect.fnUntraced(function* (asked: NodeBlock.Asked) {
      const answer = yield* getBlock(asked.hash, list.parameters)
      const hex = yield* getBlock(asked.hash, parameters)
      return yield* consistent(rpc, "getblock", () => {
        const block = NodeBlock.read(answer, asked)
        const bytes = Buffer.from(NodeJson.bytes(hex, () => "the raw block"))
        const { hash, merkleRoot, body } = RawBlock.read(chain, bytes, NodeBlock.listedIds(block))
        if (hash !== undefined && Buffer.compare(hash, block.hash) !== 0) refuse("hash", "is not that of the raw block")
        if (Buffer.compare(merkleRoot, block.merkleRoot) !== 0) refuse("merkleroot", "is not that of the raw block")
        return NodeBlock.assemble(block, body)
      })
    })

  const readers = [
    ...(decoded === undefined ? [] : [{ way: "decoded" as const, read: readDecoded(decoded.parameters) }]),
    ...(verbose.finds ? [{ way: "transactions" as const, read: readTransactions(verbose.parameters) }] : []),
    ...(raw === undefined ? [] : [{ way: "raw" as const, read: readRaw(raw.parameters) }])
  ].filter(({ way }) => only === undefined || way === only)
  if (readers.length === 0) {
    return yield* new NodeInconsistent({
      node: rpc.node,
      method: "getblock",
      message: "shows a block's transactions in no known way"
    })
  }

  return {
    ways: readers.map(({ way }) => way),
    prevouts,
    verbose: verbose.parameters,
    block: (asked) =>
      readers
        .map(({ read }) => read(asked))
        .reduce((first, next) => Effect.catchTag(first, "NodeRejected", () => next)),
    details: Effect.fnUntraced(function* (asked) {
      const answer = yield* getBlock(asked.hash, list.parameters)
      // Old Zebra versions say no size.
      const unsized = NodeJson.isRecord(answer) && answer.size === undefined
      const bytes = unsized && raw !== undefined ? yield* getBlock(asked.hash, raw.parameters) : undefined
      const rawSize = typeof bytes === "string" ? bytes.length / 2 : undefined
      return yield* consistent(rpc, "getblock", () => NodeBlock.details(answer, asked, rawSize))
    })
  }
})
