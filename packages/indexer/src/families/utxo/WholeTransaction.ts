/**
 * A transaction of a UTXO chain with all of its parts, from its wire format: what `internal/RawTransaction` reads of a block,
 * which is only what moves, is not enough to show a transaction to somebody.
 *
 * Sources: BIP-144 (segwit), LIP-4 (MWEB), DIP-2 (Dash special transactions), Zcash protocol specification §7.1, ZIP-244 and
 * ZIP-229 (ids of versions 5 and 6).
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as TransactionSize from "@headwater/core/utxo/TransactionSize"
import * as ZcashTransactionId from "@headwater/core/utxo/ZcashTransactionId"
import * as Result from "effect/Result"
import * as AssetUnlock from "./internal/AssetUnlock.ts"
import { withoutToken } from "./internal/CashToken.ts"
import { sha256d } from "./internal/DoubleSha256.ts"
import { Malformed, reading } from "./internal/Malformed.ts"
import * as MwebParts from "./internal/MwebParts.ts"
import { RawBytes, written } from "./internal/RawBytes.ts"
import * as RawZcashTransaction from "./internal/RawZcashTransaction.ts"
import * as ShieldedParts from "./internal/ShieldedParts.ts"
import * as SpecialTransaction from "./internal/SpecialTransaction.ts"

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

/** What transactions of Zcash say beside those of Bitcoin. */
export interface Zcash {
  /** Whether the format is one since Overwinter, which has the next two. */
  readonly overwintered: boolean
  readonly versionGroupId: number
  readonly expiryHeight: number
  readonly revealed: ShieldedParts.Revealed
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
  /** On Zcash. */
  readonly shielded?: ShieldedParts.Shielded
  readonly zcash?: Zcash
  /** On Dash: the type of a special transaction, and what it says behind everything else (DIP-2). */
  readonly special?: { readonly type: number; readonly payload: Uint8Array }
  /** On Litecoin, where a part of it moves coins in MWEB. */
  readonly mweb?: MwebParts.Mweb
  /** What that part leaves for the miner, in the smallest units, beside what its inputs are more than its outputs. */
  readonly mwebFee?: bigint
  /** Of a transaction that is in MWEB alone, which blocks do not list by its id: the excess of its first kernel. */
  readonly kernel?: Uint8Array
}

const witnessFlag = 1

/** The id of bytes with a length in a longer form than it needs would be one that no node has: none reads them. */
class CanonicalBytes extends RawBytes {
  override size(): number {
    const from = this.at
    const size = super.size()
    if (this.at - from > TransactionSize.compactSize(size)) {
      throw new Malformed("has a length that takes more bytes than it needs")
    }
    return size
  }
}

const checkEnd = (raw: RawBytes): void => {
  if (raw.at !== raw.bytes.length) throw new Malformed(`has ${raw.bytes.length - raw.at} bytes too many`)
}

/** As a loop: an array from a length and a function takes a multiple, and a witness may have hundreds of thousands of items. */
const many = <A>(raw: RawBytes, read: () => A): Array<A> => {
  const items: Array<A> = []
  for (let left = raw.size(); left > 0; left--) items.push(read())
  return items
}

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

/** Versions 1 to 6, which have a format of their own from version 3 on. */
const readZcash = (chain: Chain, raw: RawBytes): WholeTransaction => {
  const { form, overwintered, version, versionGroupId } = RawZcashTransaction.readBeginning(raw)
  const isNew = form === 5 || form === 6
  const [branchId, lockTime, expiryHeight] = isNew ? [raw.uint32(), raw.uint32(), raw.uint32()] : [0, 0, 0]
  const inputs = many(raw, readInput(raw)).map((input) => ({ ...input, witness: [] }))
  const outputs = many(raw, readOutput(raw, chain))
  const end = isNew ? ShieldedParts.readNew(raw, form, lockTime) : ShieldedParts.readOld(raw, form)
  checkEnd(raw)
  const id = isNew
    ? ZcashTransactionId.of({
        ...{ ...end, version: form, versionGroupId, branchId, locktime: lockTime, expiryHeight, outputs },
        inputs: inputs.map((input) => ({ ...input, index: input.outputIndex }))
      })
    : written(sha256d(raw.bytes))
  const { length } = raw.bytes
  return {
    ...{ id, hash: id, version, inputs, outputs, lockTime: end.lockTime, size: length, weight: 4 * length },
    shielded: end.shielded,
    zcash: {
      ...{ overwintered, versionGroupId, revealed: end.revealed },
      expiryHeight: isNew ? expiryHeight : end.expiryHeight
    }
  }
}

const readBitcoin = (chain: Chain, raw: RawBytes): WholeTransaction => {
  const { specialTransactions } = chain.utxo!
  const version = raw.uint32()
  // A segwit transaction has the mark of one without inputs, and a flag (BIP-144).
  const flags = !specialTransactions && raw.bytes[raw.at] === 0 ? (raw.bytes[raw.at + 1] ?? 0) : 0
  if (flags !== 0) raw.skip(2)
  if ((flags & ~(witnessFlag | MwebParts.flag)) !== 0)
    throw new Malformed(`has the flags ${flags}, which are not decoded here`)
  const from = raw.at
  const inputs = many(raw, readInput(raw))
  const outputs = many(raw, readOutput(raw, chain))
  const to = raw.at
  const hasWitness = (flags & witnessFlag) !== 0
  const witnesses = inputs.map(() => (hasWitness ? many(raw, () => raw.take(raw.size())) : []))
  const witnessTo = raw.at
  if (hasWitness && witnesses.every(({ length }) => length === 0)) {
    throw new Malformed("has the mark of witnesses, and none")
  }
  const hidden = (flags & MwebParts.flag) === 0 ? undefined : MwebParts.read(raw)
  const lockTimeAt = raw.at
  const lockTime = raw.uint32()
  const special = SpecialTransaction.hasPayload(chain, version)
    ? { type: version >>> 16, payload: raw.take(raw.size()) }
    : undefined
  checkEnd(raw)
  const { bytes } = raw
  // The MWEB part counts neither for the hash nor for the weight (LIP-4).
  const stripped =
    flags === 0
      ? bytes
      : Buffer.concat([bytes.subarray(0, 4), bytes.subarray(from, to), bytes.subarray(lockTimeAt, lockTimeAt + 4)])
  const counted = !hasWitness
    ? stripped
    : flags === witnessFlag
      ? bytes
      : Buffer.concat([
          ...[bytes.subarray(0, 4), Uint8Array.of(0, witnessFlag), bytes.subarray(from, witnessTo)],
          bytes.subarray(lockTimeAt, lockTimeAt + 4)
        ])
  const isHidden = hidden !== undefined && inputs.length + outputs.length === 0
  const isZeroed = special !== undefined && AssetUnlock.isZeroed(version, special.payload)
  const id = (isHidden ? hidden.id : undefined) ?? written(isZeroed ? AssetUnlock.hash(bytes) : sha256d(stripped))
  return {
    id,
    hash: hasWitness ? written(sha256d(counted)) : id,
    version: SpecialTransaction.versionOf(chain, version),
    inputs: inputs.map((input, i) => ({ ...input, witness: witnesses[i]! })),
    outputs,
    lockTime,
    size: bytes.length,
    // As Litecoin Core has it: of a transaction within MWEB nothing counts but what comes out.
    weight: (isHidden ? 0 : 3 * stripped.length + counted.length) + (hidden?.weight ?? 0),
    ...(hidden === undefined ? {} : { mweb: hidden.mweb, mwebFee: hidden.fee }),
    ...(isHidden && hidden.excess !== undefined ? { kernel: hidden.excess } : {}),
    ...(special === undefined ? {} : { special })
  }
}

const read = (chain: Chain, bytes: Uint8Array): WholeTransaction => {
  const raw = new CanonicalBytes(bytes)
  return chain.utxo!.wireFormat === "zcash" ? readZcash(chain, raw) : readBitcoin(chain, raw)
}

/** Reads the bytes of one transaction; the failure is the rule that they break, as a sentence without its subject. */
export const decode = (chain: Chain, bytes: Uint8Array): Result.Result<WholeTransaction, string> =>
  Result.mapError(
    reading(() => read(chain, bytes)),
    (rule) => rule.replace("the raw block ends", "ends")
  )
