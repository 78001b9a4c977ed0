/** Transactions of the Bitcoin family for signing: the hash of each input, and all that a signer needs, as a PSBT (BIP-174). */
import * as Bytes from "@headwater/core/Bytes"
import { hash160 } from "@headwater/core/utxo/BitcoinHash"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import type { InputFormat } from "@headwater/core/utxo/TransactionSize"
import type { UtxoNetwork } from "@headwater/core/utxo/UtxoNetwork"
import * as WitnessSighash from "@headwater/core/utxo/WitnessSighash"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import { Psbt, Transaction } from "bitcoinjs-lib"
import * as Result from "effect/Result"

/** The key behind an input, or behind the change. */
export interface KeyPath {
  readonly publicKey: Uint8Array
  /** The first four bytes of the master key's hash; zeros where the wallet's key does not say them. */
  readonly fingerprint: Uint8Array
  /** From the master key, or from the wallet's own where the master key is not known: `m/0/3`. */
  readonly path: string
}

export interface Input {
  /** In the order in which it is written. */
  readonly transactionId: Uint8Array
  readonly index: number
  readonly script: Uint8Array
  readonly amount: bigint
  readonly key: KeyPath
  /** The transaction that is spent from; undefined where nobody shows it. */
  readonly maker: Uint8Array | undefined
}

export interface Output {
  readonly script: Uint8Array
  readonly amount: bigint
  /** Where the output goes back to the wallet. */
  readonly key?: KeyPath
}

export interface Unsigned {
  readonly format: InputFormat
  readonly version: number
  readonly locktime: number
  readonly sequence: number
  readonly inputs: ReadonlyArray<Input>
  readonly outputs: ReadonlyArray<Output>
}

const sighashAll = Transaction.SIGHASH_ALL
/** The type of every signature on Bitcoin Cash. */
const sighashForkId = 0x40

/** Transactions hold ids the other way round. */
const reversed = (bytes: Uint8Array): Uint8Array => bytes.toReversed()

const transactionOf = ({ inputs, locktime, outputs, sequence, version }: Unsigned): Transaction => {
  const transaction = new Transaction()
  transaction.version = version
  transaction.locktime = locktime
  for (const { index, transactionId } of inputs) transaction.addInput(reversed(transactionId), index, sequence)
  for (const { amount, script } of outputs) transaction.addOutput(script, amount)
  return transaction
}

/** The hash of each input, with SIGHASH_ALL; SIGHASH_DEFAULT, which is the same, of taproot. In steps: see `TimeSlice`. */
export const sighashes = ({ forkId }: UtxoNetwork, unsigned: Unsigned): Generator<void, ReadonlyArray<Uint8Array>> => {
  const { format, inputs } = unsigned
  if (format === "P2TR") return WitnessSighash.ofTaproot(unsigned)
  if (forkId) return WitnessSighash.ofVersion0(unsigned, sighashAll | sighashForkId)
  if (format === "P2PKH") {
    const transaction = transactionOf(unsigned)
    return TimeSlice.map(inputs, ({ script }, i) => transaction.hashForSignature(i, script, sighashAll))
  }
  const keyed = inputs.map((input) => ({ ...input, script: LockingScript.pubKeyHash(hash160(input.key.publicKey)) }))
  return WitnessSighash.ofVersion0({ ...unsigned, inputs: keyed }, sighashAll)
}

const xOnly = (publicKey: Uint8Array) => publicKey.slice(1)

const derivations = (format: InputFormat, { fingerprint, path, publicKey }: KeyPath) =>
  format === "P2TR"
    ? {
        tapInternalKey: xOnly(publicKey),
        tapBip32Derivation: [{ masterFingerprint: fingerprint, path, pubkey: xOnly(publicKey), leafHashes: [] }]
      }
    : { bip32Derivation: [{ masterFingerprint: fingerprint, path, pubkey: publicKey }] }

/** Whether bytes are a transaction with this id, of a form that readers of PSBTs know. */
const isTransaction = (bytes: Uint8Array, id: Uint8Array): boolean =>
  Result.match(
    Result.try(() => Transaction.fromBuffer(bytes).getHash()),
    { onFailure: () => false, onSuccess: (hash) => Bytes.equal(hash, reversed(id)) }
  )

/** Bytes of the transactions that a PSBT shows: one of many coins would be shown whole with each of them. */
const maxShown = 4_000_000

/**
 * PSBT version 0 in base64; undefined where what a legacy input spends from is not known, which its signer has to see, or
 * would be too much. In steps: see `TimeSlice`.
 */
export function* psbtOf({ forkId }: UtxoNetwork, unsigned: Unsigned): Generator<void, string | undefined> {
  const { format, inputs, locktime, outputs, sequence, version } = unsigned
  const psbt = new Psbt()
  psbt.setVersion(version)
  psbt.setLocktime(locktime)
  const isTooMuch = inputs.reduce((sum, { maker }) => sum + (maker?.length ?? 0), 0) > maxShown
  for (const { amount, index, key, maker, script, transactionId } of inputs) {
    yield
    const isMade = maker !== undefined && !isTooMuch && isTransaction(maker, transactionId)
    if (format === "P2PKH" && !isMade) return undefined
    // Not by the PSBT itself, which looks through all earlier inputs for signatures: a minute for 1,400.
    psbt.data.addInput({
      ...{ hash: reversed(transactionId), index, sequence },
      ...(format === "P2PKH" ? {} : { witnessUtxo: { script, value: amount } }),
      ...(isMade && format !== "P2TR" ? { nonWitnessUtxo: maker } : {}),
      ...(format === "P2SH-P2WPKH" ? { redeemScript: LockingScript.witness(0, hash160(key.publicKey)) } : {}),
      // Of taproot the default, which has no field.
      ...(format === "P2TR" ? {} : { sighashType: forkId ? sighashAll | sighashForkId : sighashAll }),
      ...derivations(format, key)
    })
  }
  for (const { amount, key, script } of outputs) {
    yield
    psbt.data.addOutput({ script, value: amount, ...(key === undefined ? {} : derivations(format, key)) })
  }
  return psbt.toBase64()
}
