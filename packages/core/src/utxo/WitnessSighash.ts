/**
 * The hashes that inputs with a witness sign, of version 0 (BIP-143, and with FORKID on Bitcoin Cash) and of taproot's keys
 * (BIP-341). Parts that all inputs share are hashed once: their cost grows with the number of inputs.
 */
import { sha256 } from "@noble/hashes/sha2.js"
import { concatBytes } from "@noble/hashes/utils.js"
import { taggedHash } from "./BitcoinHash.ts"
import { type Outpoint, type Output, outpoint, paid, sized, uint32, uint64 } from "./internal/Wire.ts"

export interface Input extends Outpoint {
  /** Of the output that is spent. */
  readonly amount: bigint
  /** Of version 0 the script that its witness is for; of taproot the locking script that is spent. */
  readonly script: Uint8Array
}

export interface UnsignedTransaction {
  readonly version: number
  readonly locktime: number
  /** Of every input. */
  readonly sequence: number
  readonly inputs: ReadonlyArray<Input>
  readonly outputs: ReadonlyArray<Output>
}

const sha256d = (bytes: Uint8Array) => sha256(sha256(bytes))

/** The parts of all inputs, and of all outputs, each as one. In steps. */
function* partsOf({ inputs, outputs, sequence }: UnsignedTransaction): Generator<void, ReadonlyArray<Uint8Array>> {
  const parts: Array<Uint8Array> = []
  for (const part of [
    () => inputs.map(outpoint),
    () => inputs.map(({ amount }) => uint64(amount)),
    () => inputs.map(({ script }) => sized(script)),
    () => inputs.map(() => uint32(sequence)),
    () => outputs.map(paid)
  ]) {
    parts.push(concatBytes(...part()))
    yield
  }
  return parts
}

/** BIP-143, by the type of the signature. In steps: see `Steps`. */
export function* ofVersion0(
  transaction: UnsignedTransaction,
  type: number
): Generator<void, ReadonlyArray<Uint8Array>> {
  const { inputs, locktime, sequence, version } = transaction
  const parts = yield* partsOf(transaction)
  const [outpoints, , , sequences, outputs] = parts.map(sha256d)
  const hashes: Array<Uint8Array> = []
  for (const input of inputs) {
    hashes.push(
      sha256d(
        concatBytes(
          ...[uint32(version), outpoints!, sequences!, outpoint(input), sized(input.script), uint64(input.amount)],
          ...[uint32(sequence), outputs!, uint32(locktime), uint32(type)]
        )
      )
    )
    yield
  }
  return hashes
}

/** BIP-341, of a spending by the key with SIGHASH_DEFAULT. In steps: see `Steps`. */
export function* ofTaproot(transaction: UnsignedTransaction): Generator<void, ReadonlyArray<Uint8Array>> {
  const { inputs, locktime, version } = transaction
  const parts = yield* partsOf(transaction)
  const tagged = taggedHash("TapSighash")
  const common = concatBytes(new Uint8Array(2), uint32(version), uint32(locktime), ...parts.map((part) => sha256(part)))
  const hashes: Array<Uint8Array> = []
  for (const index of inputs.keys()) {
    hashes.push(tagged(concatBytes(common, new Uint8Array(1), uint32(index))))
    yield
  }
  return hashes
}
