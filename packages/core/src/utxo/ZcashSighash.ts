/**
 * The hashes that inputs of a Zcash transaction of version 5 sign (ZIP-244), with SIGHASH_ALL.
 */
import * as Wire from "./internal/Wire.ts"
import * as Zip244 from "./internal/Zip244.ts"

export interface Input extends Wire.Outpoint {
  /** Of the output that is spent. */
  readonly amount: bigint
  readonly script: Uint8Array
  readonly sequence: number
}

export interface UnsignedTransaction extends Zip244.Header {
  readonly inputs: ReadonlyArray<Input>
  readonly outputs: ReadonlyArray<Wire.Output>
  /** The digests of the shielded parts, Sapling's and Orchard's; of a transaction that has none if not given. */
  readonly shielded?: readonly [Uint8Array, Uint8Array]
}

export { header, versionGroupId } from "./internal/Zip244.ts"

const sighashAll = 1

/** The hash of each input, in their order. In steps: see `Steps`. */
export function* digests(transaction: UnsignedTransaction): Generator<void, ReadonlyArray<Uint8Array>> {
  const { branchId, inputs, outputs, shielded = Zip244.unshielded } = transaction
  const { ofEach, hash } = Zip244
  const { outpoint, paid, uint32, uint64 } = Wire
  const ofHeader = Zip244.ofHeader(transaction)
  const common = [
    yield* Zip244.ofOutpoints(inputs),
    yield* ofEach("ZTxTrAmountsHash", inputs, ({ amount }, hash) => hash(uint64(amount))),
    yield* ofEach("ZTxTrScriptsHash", inputs, ({ script }, hash) => hash(Wire.sized(script))),
    yield* Zip244.ofSequences(inputs),
    yield* Zip244.ofOutputs(outputs)
  ]
  yield
  const hashes: Array<Uint8Array> = []
  for (const input of inputs) {
    const own = hash("Zcash___TxInHash", outpoint(input), paid(input), uint32(input.sequence))
    const transparent = hash("ZTxIdTranspaHash", Uint8Array.of(sighashAll), ...common, own)
    hashes.push(Zip244.ofParts(branchId, ofHeader, transparent, ...shielded))
    yield
  }
  return hashes
}
