/**
 * A transaction of a UTXO chain with all of its parts, from its wire format: what `internal/RawTransaction` reads of a block,
 * which is only what moves, is not enough to show a transaction to somebody.
 *
 * Sources: BIP-144 (segwit), DIP-2 (Dash special transactions), Zcash protocol specification §7.1 (versions 1 to 4 without
 * shielded parts; the ids of later versions are no hashes of these bytes, ZIP-244).
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Result from "effect/Result"
import { withoutToken } from "./internal/CashToken.ts"
import { Malformed, reading } from "./internal/Malformed.ts"
import { sha256d } from "./internal/MerkleRoot.ts"
import { RawBytes, written } from "./internal/RawBytes.ts"

export interface Input {
  readonly transactionId: Uint8Array
  readonly outputIndex: number
  readonly scriptSig: Uint8Array
  readonly sequence: number
  readonly witness: ReadonlyArray<Uint8Array>
}

export interface Output {
  /** In the smallest units. */
  readonly amount: bigint
  /** The locking script, without a token of Bitcoin Cash. */
  readonly script: Uint8Array
}

export interface WholeTransaction {
  readonly id: Uint8Array
  /** The id, but of all bytes, the witness too (BIP-141). */
  readonly hash: Uint8Array
  readonly version: number
  readonly inputs: ReadonlyArray<Input>
  readonly outputs: ReadonlyArray<Output>
  readonly lockTime: number
  /** In bytes. */
  readonly size: number
  /** BIP-141. */
  readonly weight: number
}

const witnessFlag = 1
const specialVersion = 3
const overwintered = 0x8000_0000
/** Bytes of version 4 in front of which the shielded parts begin: their balance and three empty lists. */
const noShielded = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

const many = <A>(raw: RawBytes, read: () => A): Array<A> => Array.from({ length: raw.size() }, read)

const readInput = (raw: RawBytes) => () => ({
  transactionId: raw.hash(),
  outputIndex: raw.uint32(),
  scriptSig: raw.take(raw.size()),
  sequence: raw.uint32()
})

const readOutput = (raw: RawBytes, chain: Chain) => () => {
  const amount = raw.uint64()
  const locking = raw.take(raw.size())
  return { amount, script: chain.utxo?.cashTokens ? withoutToken(locking) : locking }
}

const readZcashEnd = (raw: RawBytes, version: number): void => {
  if (version >= 3) raw.skip(4)
  const shielded = version === 4 ? noShielded : version >= 2 ? [0] : []
  if (shielded.some((byte) => raw.take(1)[0] !== byte)) throw new Malformed("has shielded parts")
}

const read = (chain: Chain, bytes: Uint8Array): WholeTransaction => {
  const raw = new RawBytes(bytes)
  const { specialTransactions, wireFormat } = chain.utxo!
  const isZcash = wireFormat === "zcash"
  const header = raw.uint32()
  const version = isZcash ? (header & ~overwintered) >>> 0 : header
  if (isZcash && version > 4) throw new Malformed(`is of version ${version}, which is not decoded here`)
  if (isZcash && (header & overwintered) !== 0) raw.skip(4)
  // A segwit transaction has the mark of one without inputs, and a flag (BIP-144).
  const mayHaveWitness = !isZcash && !specialTransactions
  const flags = mayHaveWitness && raw.bytes[raw.at] === 0 ? (raw.bytes[raw.at + 1] ?? 0) : 0
  if (flags !== 0) raw.skip(2)
  if ((flags & ~witnessFlag) !== 0) throw new Malformed(`has the flags ${flags}, which are not decoded here`)
  const from = raw.at
  const inputs = many(raw, readInput(raw))
  const outputs = many(raw, readOutput(raw, chain))
  const to = raw.at
  const witnesses = inputs.map(() => (flags === 0 ? [] : many(raw, () => raw.take(raw.size()))))
  const lockTimeAt = raw.at
  const lockTime = raw.uint32()
  if (isZcash) readZcashEnd(raw, version)
  if (specialTransactions && (version & 0xffff) === specialVersion && version >>> 16 !== 0) raw.skip(raw.size())
  if (raw.at !== bytes.length) throw new Malformed(`has ${bytes.length - raw.at} bytes too many`)
  const hash = written(sha256d(raw.bytes))
  const stripped =
    flags === 0
      ? undefined
      : Buffer.concat([
          raw.bytes.subarray(0, 4),
          raw.bytes.subarray(from, to),
          raw.bytes.subarray(lockTimeAt, lockTimeAt + 4)
        ])
  return {
    id: stripped === undefined ? hash : written(sha256d(stripped)),
    hash,
    version,
    inputs: inputs.map((input, i) => ({ ...input, witness: witnesses[i]! })),
    outputs,
    lockTime,
    size: bytes.length,
    weight: 3 * (stripped ?? bytes).length + bytes.length
  }
}

/** Reads the bytes of one transaction; the failure is the rule that they break, as a sentence without its subject. */
export const decode = (chain: Chain, bytes: Uint8Array): Result.Result<WholeTransaction, string> =>
  Result.mapError(
    reading(() => read(chain, bytes)),
    (rule) => rule.replace("the raw block ends", "ends")
  )
