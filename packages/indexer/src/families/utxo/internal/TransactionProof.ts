/**
 * Proof that transactions, as a node has decoded them, are what their own bytes say, which hash to their ids: inputs,
 * outputs and amounts. What inputs unlock with is taken from the bytes.
 */
import type { CoinTransfer, Spend, UnprovenPart } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as ZcashTransactionId from "@headwater/core/utxo/ZcashTransactionId"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as TimeSlice from "../../../TimeSlice.ts"
import * as Proof from "../../node/Proof.ts"
import * as BlockBody from "./BlockBody.ts"
import { reading, refuse } from "./Malformed.ts"
import { hashesOf } from "./MerkleRoot.ts"
import * as NodeJson from "./NodeJson.ts"
import { RawBytes } from "./RawBytes.ts"
import * as RawTransaction from "./RawTransaction.ts"
import * as RawZcashTransaction from "./RawZcashTransaction.ts"
import * as WitnessCommitment from "./WitnessCommitment.ts"

const isSame = (a: Uint8Array | undefined, b: Uint8Array | undefined): boolean =>
  a !== undefined && b !== undefined && Buffer.compare(a, b) === 0

const isSameSpend = (a: Spend, b: Spend): boolean =>
  a.transaction === b.transaction &&
  a.position === b.position &&
  a.outpoint.index === b.outpoint.index &&
  isSame(a.outpoint.transactionId, b.outpoint.transactionId)

const isSameOutput = (a: CoinTransfer, b: CoinTransfer): boolean =>
  a.transaction === b.transaction && a.position === b.position && a.amount === b.amount && isSame(a.to, b.to)

const isOutput = ({ to }: CoinTransfer): boolean => to !== undefined

/** Inputs or outputs that are compared between two steps. */
const comparedOfStep = 512

/** Where the first pair of two lists differs; undefined where they are the same. */
function* firstDifference<A>(
  shown: ReadonlyArray<A & { readonly transaction: number }>,
  own: ReadonlyArray<A & { readonly transaction: number }>,
  same: (a: A, b: A) => boolean
): Generator<void, number | undefined> {
  const length = Math.max(shown.length, own.length)
  for (let at = 0; at < length; at++) {
    const [a, b] = [shown[at], own[at]]
    if (a === undefined || b === undefined || !same(a, b)) return (a ?? b)!.transaction
    if (at % comparedOfStep === 0) yield
  }
  return undefined
}

const prevouts = Proof.uncommitted(
  "prevouts",
  "no block commits to what its inputs spend: scripts and amounts of inputs are on the node's word"
)

/** The part of a body whose inputs show what they spend. */
const ofPrevouts = (body: BlockBody.BlockBody): ReadonlyArray<UnprovenPart> =>
  body.transfers.some(({ from }) => from !== undefined) ? [prevouts] : []

const unlockingOfZcash = Proof.uncommitted(
  "witnesses",
  "what unlocks the inputs of Zcash transactions since version 5 is no part of their ids (ZIP-244), and is on the node's word"
)

/** The part of a Zcash block that unlocks the inputs of transactions since version 5, if there are any. */
export const zcashUnlocking = (
  { spends }: BlockBody.BlockBody,
  isNew: (transaction: number) => boolean
): ReadonlyArray<UnprovenPart> => (spends.some(({ transaction }) => isNew(transaction)) ? [unlockingOfZcash] : [])

/**
 * How `body` differs from `own`, which is read from bytes, in transactions other than `odd`; undefined where both are the
 * same, and what inputs of `body` unlock with is from the bytes then.
 */
function* differenceOf(
  body: BlockBody.BlockBody,
  own: BlockBody.BlockBody,
  odd: ReadonlySet<number>
): Generator<void, string | undefined> {
  const shown = <A extends { readonly transaction: number }>(all: ReadonlyArray<A>) =>
    odd.size === 0 ? all : all.filter(({ transaction }) => !odd.has(transaction))
  const input = yield* firstDifference(shown(body.spends), own.spends, isSameSpend)
  if (input !== undefined) return `tx[${input}].vin is not what the bytes of the transaction say`
  const output = yield* firstDifference(
    shown(body.transfers.filter(isOutput)),
    own.transfers.filter(isOutput),
    isSameOutput
  )
  if (output !== undefined) return `tx[${output}].vout is not what the bytes of the transaction say`
  const ownSpends = own.spends.values()
  for (const [index, spend] of body.spends.entries()) {
    if (odd.has(spend.transaction)) continue
    const unlocking = ownSpends.next().value?.unlocking
    if (spend.unlocking !== undefined && unlocking !== undefined) body.spends[index] = { ...spend, unlocking }
    if (index % comparedOfStep === 0) yield
  }
  return undefined
}

/** Proves `body` by `own`, which is read from the raw block. */
export function* ofBody(body: BlockBody.BlockBody, own: BlockBody.BlockBody): Generator<void, Proof.Outcome> {
  if (body.notUnderstood !== undefined || own.notUnderstood !== undefined) {
    return Proof.allBut(Proof.unknown("transactions", "one of them is not understood in full"))
  }
  const other = body.transactions.findIndex((id, index) => !isSame(id, own.transactions[index]))
  if (other !== -1) return Proof.mismatch(`tx[${other}].txid is not the hash of the transaction`)
  const difference = yield* differenceOf(body, own, new Set())
  if (difference !== undefined) return Proof.mismatch(difference)
  return Proof.allBut(...ofPrevouts(body))
}

/** A transaction's own bytes, read into `own`, but for the id. */
const readBytes = (chain: Chain, json: NodeJson.Json, index: number, own: BlockBody.BlockBody) =>
  reading(() => {
    const bytes = NodeJson.bytes(json.hex, () => "hex")
    const raw = new RawBytes(bytes)
    const format = chain.utxo!.wireFormat === "zcash" ? RawZcashTransaction : RawTransaction
    const place = format.readMoves(raw, chain, index, own)
    if (raw.at !== bytes.length) refuse("hex", "has bytes behind the transaction")
    return { bytes, place }
  })

/** A transaction whose bytes are known, and where its parts stand there. */
interface Witnessed {
  readonly bytes: Uint8Array
  readonly place: RawTransaction.Place
}

/** As `RawTransaction.witnessHashes`, of transactions each of which has bytes of its own. */
function* witnessHashes(
  witnessed: ReadonlyArray<Witnessed>,
  ids: ReadonlyArray<Uint8Array>
): Generator<void, Uint8Array> {
  const whole = yield* TimeSlice.map(witnessed, ({ bytes, place }, index) =>
    RawTransaction.hasWitness(place) ? RawTransaction.witnessIdOf(bytes, place) : ids[index]!
  )
  return yield* hashesOf(whole)
}

/**
 * Proves `body`, which was read from `transactions`; what its inputs unlock with is from their bytes afterwards. A
 * transaction without bytes, or with bytes of a form that is not known, is unproven.
 */
export function* of(
  chain: Chain,
  transactions: ReadonlyArray<unknown>,
  body: BlockBody.BlockBody
): Generator<void, Proof.Outcome> {
  const own = BlockBody.empty()
  const partial = new Set((body.notUnderstood ?? []).map(({ transactionId: id }) => (id ? Bytes.key(id) : "")))
  const isPartial = (id: Uint8Array) => partial.size > 0 && partial.has(Bytes.key(id))
  const witnessed: Array<Witnessed> = []
  const odd = new Set<number>()
  const unproven: Array<UnprovenPart> = [...ofPrevouts(body)]
  const isZcash = chain.utxo!.wireFormat === "zcash"
  const newOfZcash = new Set<number>()
  let coinbase: Uint8Array | undefined
  let reason: string | undefined
  for (const [index, transaction] of transactions.entries()) {
    yield
    const [spends, transfers] = [own.spends.length, own.transfers.length]
    const json = Predicate.isReadonlyObject(transaction) ? transaction : {}
    const read = isPartial(body.transactions[index]!)
      ? Result.fail("not understood in full")
      : readBytes(chain, json, index, own)
    if (Result.isFailure(read)) {
      own.spends.length = spends
      own.transfers.length = transfers
      odd.add(index)
      reason ??= json.hex === undefined ? "the node shows no bytes of them (hex)" : `tx[${index}]: ${read.failure}`
      continue
    }
    if (index === 0) coinbase = read.success.bytes
    const { bytes, place } = read.success
    const isNew = RawZcashTransaction.isNew(place)
    const id = isNew ? yield* ZcashTransactionId.steps(place) : RawTransaction.idOf(bytes, place)
    own.transactions.push(id)
    if (isNew) newOfZcash.add(index)
    else if (!isZcash) witnessed.push({ bytes, place })
    if (!isSame(id, body.transactions[index]))
      return Proof.mismatch(`tx[${index}].txid is not the hash of the transaction`)
  }

  const difference = yield* differenceOf(body, own, odd)
  if (difference !== undefined) return Proof.mismatch(difference)
  if (reason !== undefined) unproven.push(Proof.unknown("transactions", reason))
  unproven.push(...zcashUnlocking(own, (index) => newOfZcash.has(index)))
  if (odd.size > 0 || coinbase === undefined || witnessed.length === 0) return Proof.allBut(...unproven)
  const { mismatch, unproven: witnesses } = yield* WitnessCommitment.proof(chain, coinbase, {
    areAny: () => witnessed.slice(1).some(({ place }) => RawTransaction.hasWitness(place)),
    hashes: () => witnessHashes(witnessed, own.transactions)
  })
  return { mismatch, unproven: [...unproven, ...witnesses] }
}
