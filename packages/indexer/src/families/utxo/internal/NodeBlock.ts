/** A block as a UTXO node's JSON shows it, whatever stands in its `tx`: read, and checked against what was asked. */

import * as Amount from "@headwater/core/Amount"
import type { Block } from "@headwater/core/Block"
import type { BlockDetails } from "@headwater/core/BlockDetails"
import * as Bytes from "@headwater/core/Bytes"
import * as Steps from "@headwater/core/Steps"
import * as Result from "effect/Result"
import type { BlockBody } from "./BlockBody.ts"
import { Mismatch, refuse } from "./Malformed.ts"
import { merkleRoot } from "./MerkleRoot.ts"
import * as NodeJson from "./NodeJson.ts"
import type { Listed } from "./RawBlock.ts"

/** Which block was asked for. */
export interface Asked {
  readonly hash: string
  readonly height: number
}

/** A block by its hash, whose height may not be known. */
export interface AskedByHash extends Pick<Asked, "hash"> {
  readonly height?: number
}

export interface NodeBlock {
  readonly height: number
  readonly hash: Uint8Array
  readonly parent: Uint8Array
  readonly time: number
  readonly merkleRoot: Uint8Array
  /** How many transactions the node says there are. */
  readonly count: unknown
  /** Ids or decoded transactions, as many as the node says there are. */
  readonly tx: ReadonlyArray<unknown>
  /** The node's answer. */
  readonly json: NodeJson.Json
}

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

const readParent = (json: NodeJson.Json, height: number): Uint8Array =>
  height === 0 && (json.previousblockhash === undefined || json.previousblockhash === null)
    ? new Uint8Array(32)
    : NodeJson.hash(json.previousblockhash, () => "previousblockhash")

/** Reads everything but the transactions. Throws `Malformed`, also where it is not the block that was asked for. */
export const read = (value: unknown, asked: AskedByHash): NodeBlock => {
  const json = NodeJson.record(value, () => "the block")
  const hash = NodeJson.hash(json.hash, () => "hash")
  const height = NodeJson.count(json.height, () => "height")
  const tx = NodeJson.list(json.tx, () => "tx")
  if (json.hash !== asked.hash) refuse("hash", "is not the one that was asked for")
  if (asked.height !== undefined && height !== asked.height)
    refuse("height", `is ${height}, but the node gave this hash for ${asked.height}`)
  if (tx.length === 0) refuse("tx", "must not be empty")
  return {
    height,
    hash,
    parent: readParent(json, height),
    time: NodeJson.count(json.time, () => "time"),
    merkleRoot: NodeJson.hash(json.merkleroot, () => "merkleroot"),
    count: json.nTx,
    tx,
    json
  }
}

/** The ids of a block that was asked for without its transactions; each throws `Malformed`. */
export const listed = ({ tx }: NodeBlock): Listed => ({
  length: tx.length,
  at: (index) => NodeJson.hash(tx[index], () => `tx[${index}]`)
})

/** The first four bytes of an id as a number of 32 bits, which V8 keeps in a set without an object. */
const startOf = (id: Uint8Array): number => (id[0]! << 24) | (id[1]! << 16) | (id[2]! << 8) | id[3]!

/** Whether no id is there twice. */
function* areDifferent(ids: ReadonlyArray<Uint8Array>): Generator<void, boolean> {
  const starts = new Set<number>()
  yield* Steps.forEach(ids, (id) => starts.add(startOf(id)))
  if (starts.size === ids.length) return true
  const whole = new Set<string>()
  yield* Steps.forEach(ids, (id) => whole.add(Bytes.key(id)))
  return whole.size === ids.length
}

/**
 * Puts head and body together. Throws `Mismatch` where the transactions are not those, and all of those, whose Merkle
 * root the block has; where that cannot be told, as without the id of one, where their number is not that of the block.
 */
export function* assemble(block: Omit<NodeBlock, "json">, body: BlockBody): Generator<void, Block> {
  const known = body.transactions.filter(({ length }) => length > 0)
  if (!(yield* areDifferent(known))) refuse("tx", "must not have a transaction twice")
  if (known.length < body.transactions.length) {
    if (typeof block.count === "number" && block.count !== block.tx.length) {
      refuse("tx", `has ${block.tx.length} entries, but nTx says otherwise`)
    }
  } else if (!isSame(yield* merkleRoot(body.transactions), block.merkleRoot)) {
    throw new Mismatch("merkleroot is not that of the transactions: some are missing, foreign or in another order")
  }
  const { height, hash, parent, time } = block
  return { height, hash, parent, time, ...body }
}

/** Digits of a difficulty after the point are cut off, also where the node writes an exponent. */
const floor = (value: unknown): number => {
  const scale = 100
  const read = Amount.parse(String(value), scale)
  return Result.isFailure(read)
    ? refuse("difficulty", read.failure.message)
    : Number(read.success / 10n ** BigInt(scale))
}

const bitsOf = (value: unknown): number =>
  typeof value === "string" && /^[0-9a-f]{1,8}$/i.test(value)
    ? Number.parseInt(value, 16)
    : NodeJson.count(value, () => "bits")

const int32 = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : refuse("version", "must be an integer")

/**
 * The details of a block that was read; `size` is what its raw form measures where the node does not say it. Throws
 * `Malformed`.
 */
export const details = (value: unknown, asked: AskedByHash, rawSize: number | undefined): BlockDetails => {
  const json = NodeJson.record(value, () => "the block")
  const block = read(value, asked)
  const version = int32(json.version)
  const size = NodeJson.count(json.size ?? rawSize, () => "size")
  return {
    bits: bitsOf(json.bits),
    chainwork: typeof json.chainwork === "string" ? json.chainwork : "",
    difficulty: floor(json.difficulty),
    merkleRoot: Buffer.from(block.merkleRoot).toString("hex"),
    size,
    version,
    hash: asked.hash,
    height: block.height,
    previousBlockHash: Buffer.from(block.parent).toString("hex"),
    strippedSize: NodeJson.count(json.strippedsize ?? size, () => "strippedsize"),
    timestamp: block.time,
    transactionsCount: block.tx.length,
    versionHex: typeof json.versionHex === "string" ? json.versionHex : (version >>> 0).toString(16).padStart(8, "0"),
    weight: NodeJson.count(json.weight ?? size * 4, () => "weight")
  }
}
