/** The locking script of the coin that an input spends, where the input alone leaves no doubt of the script. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Unlocking from "@headwater/core/utxo/Unlocking"
import type { Input } from "@headwater/indexer/families/utxo/WholeTransaction"
import * as Script from "./Script.ts"
import { isKey, OP_16, typeOf } from "./ScriptType.ts"

const noOutput = 0xffff_ffff
const sequenceTag = 0x30
/** No script has an opcode behind this one (OP_NOP10). */
const lastOpcode = 0xb9

/** Whether bytes look like an ECDSA signature in DER with its type, as coins of a public key or of bare multisig are spent by. */
const isSignature = (bytes: Uint8Array): boolean => bytes[0] === sequenceTag && bytes[1] === bytes.length - 3

/** Bytes of a Schnorr signature with its type, which Bitcoin Cash has beside those of ECDSA. */
const schnorrSize = 65

/** A control block of taproot (BIP-341) is a byte, a key and any number of hashes. */
const hasSizeOfControlBlock = ({ length }: Uint8Array): boolean => length >= 33 && length % 32 === 1

/** Whether two items unlock the hash of a key: a script may be as long as a key, and begin as one. */
const areOfKeyHash = (chain: Chain, signature: Uint8Array | undefined, key: Uint8Array | undefined): boolean =>
  signature !== undefined &&
  (isSignature(signature) || (chain.utxo?.cashTokens === true && signature.length === schnorrSize)) &&
  key !== undefined &&
  isKey(key)

/** Whether pushed bytes are a script that a hash may stand for: neither a signature nor mere data. */
const isScript = (chain: Chain, bytes: Uint8Array): boolean => {
  if (isSignature(bytes)) return false
  if (typeOf(chain, bytes).startsWith("witness")) return true
  const opcodes = [...Script.opcodesOf(bytes)]
  return opcodes.some((opcode) => opcode > OP_16) && opcodes.every((opcode) => opcode <= lastOpcode)
}

const byScriptSig = (
  chain: Chain,
  { scriptSig }: Input,
  scripts: ReadonlyArray<AddressBytes>
): AddressBytes | undefined => {
  const { last: top, lastButOne, parts } = Script.endOf(scriptSig)
  if (top === undefined) return undefined
  if (parts === 2 && areOfKeyHash(chain, lastButOne, top)) {
    return scripts.find((script) => typeOf(chain, script) === "pubkeyhash")
  }
  if (isKey(top)) return undefined
  // The hash of a script has two lengths on Bitcoin Cash.
  if (chain.utxo?.cashTokens || !isScript(chain, top)) return undefined
  return scripts.find((script) => typeOf(chain, script) === "scripthash")
}

const byWitness = (
  chain: Chain,
  { witness }: Input,
  scripts: ReadonlyArray<AddressBytes>
): AddressBytes | undefined => {
  const top = witness.at(-1)
  if (top === undefined) return undefined
  if (witness.length === 2 && areOfKeyHash(chain, witness[0], top)) return scripts[1]
  if (scripts.some((script) => typeOf(chain, script) === "witness_v1_taproot")) return undefined
  // A witness ends with no script in what spends taproot by a leaf of a version that has no rules yet.
  const isKnown = hasSizeOfControlBlock(top) ? isScript(chain, top) : Script.isWhole(top)
  return isKnown ? scripts[0] : undefined
}

export const of = (chain: Chain, input: Input): AddressBytes | undefined => {
  const { outputIndex, scriptSig, witness } = input
  if (outputIndex === noOutput) return undefined
  const scripts = Unlocking.scriptsOf({ scriptSig, witness: witness.slice(-Unlocking.witnessItems) })
  if (scripts === undefined) return undefined
  return (scriptSig.length > 0 ? byScriptSig : byWitness)(chain, input, scripts)
}
