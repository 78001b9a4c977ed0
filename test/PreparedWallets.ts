/** Random wallets whose transactions Headwater prepares, and what signs them: by the PSBT, and by the hashes alone. */
import { assert } from "@effect/vitest"
import { type BIP32Interface, BIP32Factory } from "bip32"
import { crypto, initEccLib, type Network, payments, Psbt, script, Transaction } from "bitcoinjs-lib"
import * as ecc from "tiny-secp256k1"

initEccLib(ecc)

/** Litecoin's regtest. */
const network: Network = {
  messagePrefix: "",
  bech32: "rltc",
  bip32: { public: 0x043587cf, private: 0x04358394 },
  pubKeyHash: 0x6f,
  scriptHash: 0x3a,
  wif: 0xef
}

/** Of every node that follows the rules of segwit. */
export const formats = ["P2PKH", "P2SH-P2WPKH", "P2WPKH"] as const
export type Format = (typeof formats)[number] | "P2TR"

/** How deep the wallet's key is: the PSBT names the master key where that can be known. */
const origins = ["m", "m/0'", "m/84'/1'/0'"] as const

export interface PreparedWallet {
  readonly format: Format
  readonly extendedPublicKey: string
  readonly master: BIP32Interface
  readonly account: BIP32Interface
  readonly address: (branch: number, index: number) => string
}

const xOnly = (publicKey: Uint8Array) => publicKey.subarray(1)

/** The key that signs for a taproot output without scripts (BIP-86). */
const tweaked = (key: BIP32Interface) => key.tweak(crypto.taggedHash("TapTweak", xOnly(key.publicKey)))

const paymentOf = (format: Format, pubkey: Uint8Array, network: Network) => {
  if (format === "P2TR") return payments.p2tr({ internalPubkey: xOnly(pubkey), network })
  if (format === "P2PKH") return payments.p2pkh({ pubkey, network })
  const segwit = payments.p2wpkh({ pubkey, network })
  return format === "P2WPKH" ? segwit : payments.p2sh({ redeem: segwit, network })
}

export const wallet = (seed: number, format: Format, depth: number, on = network): PreparedWallet => {
  const bytes = new Uint8Array(32)
  new DataView(bytes.buffer).setUint32(0, seed + 1)
  const master = BIP32Factory(ecc).fromSeed(bytes, on)
  const origin = origins[depth]!
  const account = origin === "m" ? master : master.derivePath(origin)
  return {
    ...{ format, master, account },
    extendedPublicKey: account.neutered().toBase58(),
    address: (branch, index) => paymentOf(format, account.derive(branch).derive(index).publicKey, on).address!
  }
}

export interface Prepared {
  readonly locktime: number
  readonly version: number
  readonly size: number
  readonly fee: { readonly amount: string }
  readonly inputs: ReadonlyArray<{
    readonly address: string
    readonly change: number
    readonly derivationIndex: number
    readonly outputIndex: number
    readonly satoshis: number
    readonly script: string
    readonly sighash: string
    readonly transactionId: string
    readonly sequence: number
  }>
  readonly outputs: ReadonlyArray<{ readonly address: string; readonly satoshis: number; readonly script: string }>
  readonly psbt: string
  readonly reservedUntil: number
}

/** Signs with what the PSBT says of its keys. */
export const signPsbt = ({ account, master }: PreparedWallet, { psbt: text }: Prepared): Transaction => {
  const psbt = Psbt.fromBase64(text, { network })
  psbt.setMaximumFeeRate(1_000_000)
  for (const [i, { bip32Derivation, tapBip32Derivation }] of psbt.data.inputs.entries()) {
    const { masterFingerprint, path } = (tapBip32Derivation ?? bip32Derivation)![0]!
    const isKnown = Buffer.from(masterFingerprint).some((byte) => byte !== 0)
    if (isKnown) assert.deepStrictEqual(Buffer.from(masterFingerprint), Buffer.from(master.fingerprint))
    const key = (isKnown ? master : account).derivePath(isKnown ? path : path.replace("m/", ""))
    psbt.signInput(i, tapBip32Derivation === undefined ? key : tweaked(key))
  }
  psbt.finalizeAllInputs()
  return psbt.extractTransaction()
}

/** Signs the hashes, and puts the transaction together from the fields of the answer alone. */
export const signHashes = ({ account, format }: PreparedWallet, prepared: Prepared): Transaction => {
  const transaction = new Transaction()
  transaction.version = prepared.version
  transaction.locktime = prepared.locktime
  for (const { outputIndex, sequence, transactionId } of prepared.inputs) {
    transaction.addInput(Buffer.from(transactionId, "hex").reverse(), outputIndex, sequence)
  }
  for (const output of prepared.outputs) {
    transaction.addOutput(Buffer.from(output.script, "hex"), BigInt(output.satoshis))
  }
  for (const [i, { change, derivationIndex, sighash }] of prepared.inputs.entries()) {
    const key = account.derive(change).derive(derivationIndex)
    if (format === "P2TR") {
      transaction.setWitness(i, [tweaked(key).signSchnorr(Buffer.from(sighash, "hex"))])
      continue
    }
    const signature = script.signature.encode(key.sign(Buffer.from(sighash, "hex")), Transaction.SIGHASH_ALL)
    const segwit = payments.p2wpkh({ pubkey: key.publicKey, network })
    if (format === "P2PKH") transaction.setInputScript(i, script.compile([signature, key.publicKey]))
    else transaction.setWitness(i, [signature, key.publicKey])
    if (format === "P2SH-P2WPKH") transaction.setInputScript(i, script.compile([segwit.output!]))
  }
  return transaction
}

/** The text of an amount in the smallest unit. */
export const coinsText = (satoshis: bigint) => {
  const digits = satoshis.toString().padStart(9, "0")
  return `${digits.slice(0, -8)}.${digits.slice(-8)}`
}

export const satoshisOf = (text: string): bigint => {
  const [whole = "0", fraction = ""] = text.split(".")
  return BigInt(whole) * 100_000_000n + BigInt(fraction.padEnd(8, "0"))
}
