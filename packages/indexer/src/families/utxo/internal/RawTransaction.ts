/**
 * A transaction in the wire format of each UTXO chain: what moves in plain sight, and its id.
 *
 * Sources: BIP-144 (segwit), LIP-4 (MWEB: flag 8), DIP-2 (Dash special transactions).
 * Zcash has its own format, see `RawZcashTransaction.ts`.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Unlocking, witnessItems } from "@headwater/core/utxo/Unlocking"
import * as BlockBody from "./BlockBody.ts"
import { withoutToken } from "./CashToken.ts"
import { Malformed } from "./Malformed.ts"
import { sha256d } from "./MerkleRoot.ts"
import { RawBytes, written } from "./RawBytes.ts"
import type * as WitnessCommitment from "./WitnessCommitment.ts"

const witnessFlag = 1
const mwebFlag = 8
const noOutput = 0xffffffff
const specialVersion = 3

/** Where the parts of an input begin that unlock an output; the witness stands behind the outputs, if there is one. */
interface Parts {
  readonly scriptSig: number
  witness: number | undefined
}

const unlockingAt = (bytes: Uint8Array, { scriptSig, witness }: Parts): Unlocking => {
  const raw = new RawBytes(bytes)
  const next = () => raw.take(raw.size())
  raw.at = scriptSig
  const unlocking = { scriptSig: next(), witness: [] as Array<Uint8Array> }
  if (witness === undefined) return unlocking
  raw.at = witness
  for (let items = raw.size(); items > 0; items--) {
    const item = next()
    if (items <= witnessItems) unlocking.witness.push(item)
  }
  return unlocking
}

/** The inputs, of which a coinbase is none, are added to `body`. Returns the parts of all that are on the wire. */
export const readInputs = (raw: RawBytes, transaction: number, body: BlockBody.BlockBody): ReadonlyArray<Parts> => {
  const { bytes } = raw
  const inputs: Array<Parts> = []
  for (let left = raw.size(); left > 0; left--) {
    const transactionId = raw.hash()
    const index = raw.uint32()
    const position = inputs.length
    const parts: Parts = { scriptSig: raw.at, witness: undefined }
    inputs.push(parts)
    raw.skip(raw.size())
    raw.skip(4)
    if (index === noOutput) continue
    const unlocking = () => unlockingAt(bytes, parts)
    body.spends.push({ transaction, position, outpoint: { transactionId, index }, unlocking })
  }
  return inputs
}

/** The spendable outputs are added to `body`. */
export const readOutputs = (raw: RawBytes, chain: Chain, transaction: number, body: BlockBody.BlockBody): void => {
  const outputs = raw.size()
  for (let position = 0; position < outputs; position++) {
    const amount = raw.uint64()
    const locking = new Uint8Array(raw.take(raw.size()))
    const script = chain.utxo!.cashTokens ? withoutToken(locking) : locking
    if (!BlockBody.isSpendable(script)) continue
    // A locking script is the canonical address on a UTXO chain.
    body.transfers.push({
      kind: "coin",
      transaction,
      position,
      from: undefined,
      to: script as AddressBytes,
      amount
    })
  }
}

/** Adds the next transaction of the raw block to `body`, and says what its witness is. Throws `Malformed`. */
export const read = (
  raw: RawBytes,
  chain: Chain,
  transaction: number,
  body: BlockBody.BlockBody
): WitnessCommitment.Witnessed => {
  const { specialTransactions } = chain.utxo!
  const start = raw.at
  const version = raw.uint32()
  // An empty list of inputs that is followed by a flag marks an extended transaction; without a flag it is one
  // without inputs (Dash quorum commitments).
  const flags = raw.bytes[raw.at] === 0 && !specialTransactions ? (raw.bytes[raw.at + 1] ?? 0) : 0
  if (flags !== 0) raw.skip(2)
  const from = raw.at
  const inputs = readInputs(raw, transaction, body)
  readOutputs(raw, chain, transaction, body)
  const to = raw.at
  if ((flags & witnessFlag) !== 0) {
    for (const input of inputs) {
      input.witness = raw.at
      for (let items = raw.size(); items > 0; items--) raw.skip(raw.size())
    }
  }
  const witnessEnd = raw.at
  // In a block only the HogEx has it, and it is empty there: the MWEB transactions stand behind the list.
  if ((flags & mwebFlag) !== 0 && raw.bytes[raw.skip(1)] !== 0) throw new Malformed("an MWEB transaction in the list")
  if ((flags & ~(witnessFlag | mwebFlag)) !== 0) throw new Malformed(`transaction flags ${flags} are not known`)
  const lockTime = raw.take(4)
  if (specialTransactions && (version & 0xffff) === specialVersion && version >>> 16 !== 0) {
    raw.skip(raw.size())
  }
  const hashed =
    flags === 0
      ? raw.bytes.subarray(start, raw.at)
      : Buffer.concat([raw.bytes.subarray(start, start + 4), raw.bytes.subarray(from, to), lockTime])
  const id = written(sha256d(hashed))
  body.transactions.push(id)
  const hasWitness = (flags & witnessFlag) !== 0
  const end = raw.at
  return {
    hasWitness,
    // The MWEB is no part of the hash.
    witnessId: () =>
      !hasWitness
        ? id
        : flags === witnessFlag
          ? written(sha256d(raw.bytes.subarray(start, end)))
          : written(
              sha256d(
                Buffer.concat([
                  raw.bytes.subarray(start, start + 4),
                  Uint8Array.of(0, witnessFlag),
                  raw.bytes.subarray(from, witnessEnd),
                  lockTime
                ])
              )
            )
  }
}
