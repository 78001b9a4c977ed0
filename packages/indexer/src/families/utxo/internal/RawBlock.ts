/**
 * A block in its wire format (`getblock <hash> 0`), for nodes that show no decoded transactions.
 *
 * Behind the header stand, by chain: a merged-mining proof (Dogecoin AuxPoW), an Equihash solution (Zcash); behind the
 * transactions the MWEB block (Litecoin), which is not read.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as ZcashTransactionId from "@headwater/core/utxo/ZcashTransactionId"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import * as BlockBody from "./BlockBody.ts"
import * as DoubleSha256 from "./DoubleSha256.ts"
import { Malformed } from "./Malformed.ts"
import { RawBytes, written, writtenAt } from "./RawBytes.ts"
import * as RawTransaction from "./RawTransaction.ts"
import * as RawZcashTransaction from "./RawZcashTransaction.ts"
import * as TransactionProof from "./TransactionProof.ts"
import * as WitnessCommitment from "./WitnessCommitment.ts"

export interface RawBlock {
  /** Hash of the header; absent where the chain's is not double SHA-256 (X11). */
  readonly hash: Uint8Array | undefined
  readonly parent: Uint8Array
  readonly merkleRoot: Uint8Array
  /** Seconds since the Unix epoch. */
  readonly time: number
  readonly body: BlockBody.BlockBody
  /** Proves the witnesses; throws `Malformed`. */
  readonly witnesses: () => Generator<void, Proof.Outcome>
  /** Whether a transaction cannot be read: its id, and those behind it, are the node's. */
  readonly isBroken: boolean
}

const auxPowVersion = 0x100

/** Passes over the parent block's coinbase, the two branches that lead to it, and the parent's header. */
const skipAuxPow = (raw: RawBytes, chain: Chain): void => {
  RawTransaction.readMoves(raw, chain, 0, BlockBody.empty())
  raw.skip(32)
  for (const _branch of ["coinbase", "chain"]) {
    raw.skipMany(32)
    raw.skip(4)
  }
  raw.skip(80)
}

type Place = RawTransaction.Place | RawZcashTransaction.New

/** Transactions that stand one behind another in the raw block, as far as they can be read. */
interface Transactions {
  readonly body: BlockBody.BlockBody
  /** What their ids are computed from. */
  readonly places: ReadonlyArray<Place>
  /** What was thrown, and where the transaction begins that it is about: where that one ends, nobody knows. */
  readonly broken: { readonly cause: unknown; readonly at: number } | undefined
}

/** Bytes of transactions that are read between two steps. */
const bytesOfStep = 8_192

interface Reading {
  readonly body: BlockBody.BlockBody
  readonly places: Array<Place>
  /** Where the transaction begins that is being read, and how many inputs and outputs stand before it. */
  at: number
  spends: number
  transfers: number
}

function* readEach(raw: RawBytes, chain: Chain, transactions: number, reading: Reading): Generator<void, void> {
  const format = chain.utxo!.wireFormat === "zcash" ? RawZcashTransaction : RawTransaction
  const { body, places } = reading
  let next = raw.at + bytesOfStep
  for (let transaction = 0; transaction < transactions; transaction++) {
    reading.at = raw.at
    reading.spends = body.spends.length
    reading.transfers = body.transfers.length
    places.push(format.readMoves(raw, chain, transaction, body))
    if (raw.at < next) continue
    next = raw.at + bytesOfStep
    yield
  }
}

function* readMoves(raw: RawBytes, chain: Chain, transactions: number): Generator<void, Transactions> {
  const reading: Reading = { body: BlockBody.empty(), places: [], at: raw.at, spends: 0, transfers: 0 }
  const outcome = yield* TimeSlice.caught(() => readEach(raw, chain, transactions, reading))
  const { at, body, places, spends, transfers } = reading
  if (Result.isSuccess(outcome)) return { body, places, broken: undefined }
  body.spends.length = spends
  body.transfers.length = transfers
  return { body, places, broken: { cause: outcome.failure, at } }
}

/** The ids that the node gives to a block's transactions: a list, or what reads one that is asked for. Throws `Malformed`. */
export type Listed = Pick<ReadonlyArray<Uint8Array>, "length" | "at">

/** For a reader that goes by the bytes alone: what stands behind a transaction that cannot be read is left out. */
export const unlisted: Listed = { length: 0, at: () => new Uint8Array() }

/** Adds the ids of the transactions that were read. */
function* addIds(bytes: Uint8Array, { body, places }: Transactions): Generator<void, void> {
  const messages = new DoubleSha256.Messages(places.length)
  for (const place of places) {
    if (!(RawZcashTransaction.isNew(place) || place.isZeroed)) RawTransaction.addIdMessage(messages, place)
  }
  const hashes = yield* DoubleSha256.ofEach(bytes, messages)
  let next = 0
  for (let index = 0; index < places.length; index++) {
    const place = places[index]!
    if (RawZcashTransaction.isNew(place)) body.transactions.push(yield* ZcashTransactionId.steps(place))
    else body.transactions.push(place.isZeroed ? RawTransaction.idOf(bytes, place) : writtenAt(hashes, next++ * 32))
  }
}

/** Adds the transactions that were not read, by the ids that the node gives to them. */
function* addBroken(raw: RawBytes, { body, broken }: Transactions, listed: Listed): Generator<void, void> {
  if (broken === undefined) return
  const behind = new Malformed("stands in the raw block behind a transaction that is not understood")
  const first = body.transactions.length
  for (let index = first; index < listed.length; index++) {
    const [bytes, cause] = index === first ? [raw.bytes.subarray(broken.at), broken.cause] : ["", behind]
    const refuse = () => {
      throw cause
    }
    BlockBody.add(body, bytes, refuse, listed.at(index)!)
    yield
  }
}

function* witnessesOf(
  chain: Chain,
  bytes: Uint8Array,
  from: number,
  { body, broken, places }: Transactions
): Generator<void, Proof.Outcome> {
  if (broken !== undefined) return Proof.allBut(Proof.unknown("transactions", "one of them is not understood"))
  if (chain.utxo!.wireFormat === "zcash") {
    return Proof.allBut(...TransactionProof.zcashUnlocking(body, (index) => RawZcashTransaction.isNew(places[index]!)))
  }
  // Zcash alone has others.
  const all = places as ReadonlyArray<RawTransaction.Place>
  return yield* WitnessCommitment.proof(chain, bytes.subarray(from), {
    areAny: () => all.slice(1).some(RawTransaction.hasWitness),
    hashes: () => RawTransaction.witnessHashes(bytes, all, body.transactions)
  })
}

/**
 * Reads a whole block. `listed` are the ids that the node gives to its transactions: those of transactions that cannot be read
 * are taken from there, the others are computed. Throws `Malformed`.
 */
export function* read(chain: Chain, bytes: Uint8Array, listed: Listed): Generator<void, RawBlock> {
  const { auxPow, headerHash, mweb, wireFormat } = chain.utxo!
  const raw = new RawBytes(bytes)
  const version = raw.uint32()
  const parent = raw.hash()
  const merkleRoot = raw.hash()
  const zcash = wireFormat === "zcash"
  if (zcash) raw.skip(32)
  const time = raw.uint32()
  raw.skip(zcash ? 4 + 32 : 4 + 4)
  if (zcash) raw.skip(raw.size())
  const hash = headerHash !== undefined ? undefined : written(DoubleSha256.sha256d(bytes.subarray(0, raw.at)))
  if (auxPow && (version & auxPowVersion) !== 0) skipAuxPow(raw, chain)

  const count = raw.size()
  if (listed !== unlisted && count !== listed.length)
    throw new Malformed(`${count} transactions, ${listed.length} listed`)
  const from = raw.at
  const transactions = yield* readMoves(raw, chain, count)
  const { body, broken } = transactions
  yield* addIds(bytes, transactions)
  yield* addBroken(raw, transactions, listed)
  if (broken === undefined && !mweb && raw.at !== bytes.length) throw new Malformed("bytes behind the raw block")
  return {
    ...{ hash, parent, merkleRoot, time, body },
    witnesses: () => witnessesOf(chain, bytes, from, transactions),
    isBroken: broken !== undefined
  }
}
