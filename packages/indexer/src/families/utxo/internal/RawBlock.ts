/**
 * A block in its wire format (`getblock <hash> 0`), for nodes that show no decoded transactions.
 *
 * Behind the header stand, by chain: a merged-mining proof (Dogecoin AuxPoW), an Equihash solution (Zcash); behind the
 * transactions the MWEB block (Litecoin), which is not read.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Proof from "../../node/Proof.ts"
import * as BlockBody from "./BlockBody.ts"
import { Malformed } from "./Malformed.ts"
import { sha256d } from "./MerkleRoot.ts"
import { RawBytes, written } from "./RawBytes.ts"
import * as RawTransaction from "./RawTransaction.ts"
import * as RawZcashTransaction from "./RawZcashTransaction.ts"
import * as WitnessCommitment from "./WitnessCommitment.ts"

export interface RawBlock {
  /** Hash of the header; absent where the chain's is not double SHA-256 (X11). */
  readonly hash: Uint8Array | undefined
  readonly merkleRoot: Uint8Array
  readonly body: BlockBody.BlockBody
  /** Proves the witnesses; throws `Malformed`. */
  readonly witnesses: () => Generator<void, Proof.Outcome>
  /** Whether the ids are those of the node, since they are no hashes of these bytes. */
  readonly idsUnproven: boolean
}

const auxPowVersion = 0x100

/** Passes over the parent block's coinbase, the two branches that lead to it, and the parent's header. */
const skipAuxPow = (raw: RawBytes, chain: Chain): void => {
  RawTransaction.read(raw, chain, 0, BlockBody.empty())
  raw.skip(32)
  for (const _branch of ["coinbase", "chain"]) {
    raw.skipMany(32)
    raw.skip(4)
  }
  raw.skip(80)
}

/**
 * Reads a whole block. `listed` are the ids that the node gives to its transactions: only the ids of Zcash version 5 are
 * taken from there, and those of transactions that cannot be read; the others are computed. Throws `Malformed`.
 */
export function* read(chain: Chain, bytes: Uint8Array, listed: ReadonlyArray<Uint8Array>): Generator<void, RawBlock> {
  const { auxPow, headerHash, mweb, wireFormat } = chain.utxo!
  const raw = new RawBytes(bytes)
  const version = raw.uint32()
  raw.skip(32)
  const merkleRoot = raw.hash()
  const zcash = wireFormat === "zcash"
  raw.skip(zcash ? 32 + 4 + 4 + 32 : 4 + 4 + 4)
  if (zcash) raw.skip(raw.size())
  const hash = headerHash !== undefined ? undefined : written(sha256d(bytes.subarray(0, raw.at)))
  if (auxPow && (version & auxPowVersion) !== 0) skipAuxPow(raw, chain)

  const body = BlockBody.empty()
  const transactions = raw.size()
  if (transactions !== listed.length) throw new Malformed(`${transactions} transactions, ${listed.length} listed`)
  const from = raw.at
  const witnessed: Array<WitnessCommitment.Witnessed> = []
  let idsUnproven = false
  let lost = false
  for (let index = 0; index < transactions; index++) {
    const id = listed[index]!
    const read = (own: BlockBody.BlockBody) => {
      if (lost) throw new Malformed("stands in the raw block behind a transaction that is not understood")
      // Where a transaction that cannot be read ends, nobody knows.
      lost = true
      if (zcash) idsUnproven = RawZcashTransaction.read(raw, chain, index, id, own) === "listed" || idsUnproven
      else witnessed.push(RawTransaction.read(raw, chain, index, own))
      lost = false
    }
    BlockBody.add(body, lost ? "" : raw.bytes.subarray(raw.at), read, id)
    yield
  }
  if (!lost && !mweb && raw.at !== bytes.length) throw new Malformed("bytes behind the raw block")
  function* witnesses(): Generator<void, Proof.Outcome> {
    if (lost) return Proof.allBut(Proof.unknown("transactions", "one of them is not understood"))
    return zcash ? Proof.nothing : yield* WitnessCommitment.proof(chain, bytes.subarray(from), witnessed)
  }
  return { hash, merkleRoot, body, witnesses, idsUnproven: idsUnproven || lost }
}
