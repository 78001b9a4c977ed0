/**
 * The commitment of a block's coinbase to the witnesses of its transactions (BIP-141).
 *
 * It stands in the last output of the coinbase that has its form, and takes in 32 bytes of the coinbase's own witness.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Proof from "../../node/Proof.ts"
import { sha256d } from "./DoubleSha256.ts"
import { rootOf } from "./MerkleRoot.ts"
import { RawBytes } from "./RawBytes.ts"

/** OP_RETURN, 36 bytes, and the mark. */
const mark = Buffer.from("6a24aa21a9ed", "hex")
const length = mark.length + 32

const isMarked = (script: Buffer): boolean =>
  script.length >= length && Buffer.compare(script.subarray(0, mark.length), mark) === 0

/** The commitment of a coinbase, and the bytes of its witness that belong to it; throws `Malformed`. */
const ofCoinbase = (coinbase: Uint8Array) => {
  const raw = new RawBytes(coinbase)
  raw.skip(4)
  const marked = raw.bytes[raw.at] === 0
  const witnessed = marked && (raw.bytes[raw.at + 1]! & 1) !== 0
  if (marked) raw.skip(2)
  for (let inputs = raw.size(); inputs > 0; inputs--) {
    raw.skip(36)
    raw.skip(raw.size())
    raw.skip(4)
  }
  let commitment: Buffer | undefined
  for (let outputs = raw.size(); outputs > 0; outputs--) {
    raw.skip(8)
    const script = raw.take(raw.size())
    if (isMarked(script)) commitment = script.subarray(mark.length, length)
  }
  const reserved = witnessed && raw.size() === 1 ? raw.take(raw.size()) : undefined
  return { commitment, reserved: reserved?.length === 32 ? reserved : undefined }
}

/** The transactions of a block on the wire. */
interface Witnessed {
  /** Whether a transaction behind the coinbase has one. */
  readonly areAny: () => boolean
  /** The hashes of all of each transaction, one behind another, each as it is computed. */
  readonly hashes: () => Generator<void, Uint8Array>
}

/** Proves the witnesses of a block whose coinbase is given; throws `Malformed` where the coinbase cannot be read. */
export function* proof(
  chain: Chain,
  coinbase: Uint8Array,
  { areAny, hashes }: Witnessed
): Generator<void, Proof.Outcome> {
  if (chain.utxo!.address.segwit === undefined) return Proof.nothing
  const { commitment, reserved } = ofCoinbase(coinbase)
  if (commitment === undefined || reserved === undefined) {
    if (areAny()) {
      return Proof.mismatch("the block has witnesses, and its coinbase commits to none")
    }
    // Before segregated witness was in force, coinbases had commitments that nothing checked.
    const reason = "the coinbase has a commitment, and no transaction shows a witness"
    return commitment === undefined ? Proof.nothing : Proof.allBut(Proof.unknown("witnesses", reason))
  }
  // The coinbase counts as zeros, since its own hash would hold the commitment.
  const root = yield* rootOf((yield* hashes()).fill(0, 0, 32))
  return Buffer.compare(sha256d(Buffer.concat([root, reserved])), commitment) === 0
    ? Proof.nothing
    : Proof.mismatch("the witnesses are not those that the coinbase commits to")
}
