/** Forms of locking scripts by the names that nodes have for them. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as LockingScript from "@headwater/core/utxo/LockingScript"

const OP_PUSHDATA1 = 0x4c
const OP_PUSHDATA4 = 0x4e
const OP_1 = 0x51
export const OP_16 = 0x60
const OP_RETURN = 0x6a
const OP_CHECKSIG = 0xac
const OP_CHECKMULTISIG = 0xae

/** The witness versions of MWEB (LIP-2). */
const mwebHogAddress = 8
const mwebPegIn = 9

/** Whether bytes have the length that the first byte of a public key says (SEC 1). */
export const isKey = (bytes: Uint8Array): boolean => {
  const first = bytes[0]
  if (first === 2 || first === 3) return bytes.length === 33
  return (first === 4 || first === 6 || first === 7) && bytes.length === 65
}

/** Whether a script does nothing but push from `at` on. */
const isPushOnly = (script: Uint8Array, at: number): boolean => {
  while (at < script.length) {
    const opcode = script[at++]!
    if (opcode > OP_16) return false
    let length = opcode <= OP_PUSHDATA4 ? opcode : 0
    if (opcode >= OP_PUSHDATA1 && opcode <= OP_PUSHDATA4) {
      const size = 1 << (opcode - OP_PUSHDATA1)
      if (at + size > script.length) return false
      length = 0
      for (let index = size - 1; index >= 0; index--) length = length * 256 + script[at + index]!
      at += size
    }
    at += length
  }
  return at === script.length
}

const isPubkey = (script: Uint8Array): boolean =>
  script.at(-1) === OP_CHECKSIG && script[0] === script.length - 2 && isKey(script.subarray(1, -1))

/** Keys between two small numbers, of which the second counts the keys. */
const isMultisig = (script: Uint8Array): boolean => {
  if (script.length < 3 || script.at(-1) !== OP_CHECKMULTISIG) return false
  const needed = script[0]! - OP_1 + 1
  const count = script.at(-2)! - OP_1 + 1
  let keys = 0
  let at = 1
  while (at < script.length - 2) {
    const end = at + 1 + script[at]!
    if (end > script.length - 2 || !isKey(script.subarray(at + 1, end))) return false
    keys++
    at = end
  }
  return needed >= 1 && needed <= count && count <= 16 && keys === count
}

/** Whether the chain's nodes know segwit, which those of Bitcoin Cash, Dash and Zcash do not. */
const knowsWitness = ({ utxo }: Chain): boolean =>
  !utxo?.cashTokens && !utxo?.specialTransactions && utxo?.wireFormat !== "zcash"

/** The form of a locking script by the name that the chain's nodes have for it. */
export const typeOf = (chain: Chain, script: Uint8Array): string => {
  const template = LockingScript.parse(script)
  switch (template?.kind) {
    case "pubKeyHash":
      return "pubkeyhash"
    case "scriptHash":
      // Bitcoin Cash alone has those of 32 bytes.
      return template.hash.length === 20 || chain.utxo?.cashTokens ? "scripthash" : "nonstandard"
    case "witness": {
      if (!knowsWitness(chain)) return "nonstandard"
      const { program, version } = template
      const { length } = program
      if (version === 0) {
        return length === 20 ? "witness_v0_keyhash" : length === 32 ? "witness_v0_scripthash" : "nonstandard"
      }
      if (chain.utxo?.mweb && length === 32) {
        if (version === mwebHogAddress) return "witness_mweb_hogaddr"
        if (version === mwebPegIn) return "witness_mweb_pegin"
      }
      if (version === 1 && length === 32) return "witness_v1_taproot"
      return version === 1 && program[0] === 0x4e && program[1] === 0x73 && length === 2 ? "anchor" : "witness_unknown"
    }
    case undefined: {
      if (isPubkey(script)) return "pubkey"
      if (isMultisig(script)) return "multisig"
      return script[0] === OP_RETURN && isPushOnly(script, 1) ? "nulldata" : "nonstandard"
    }
  }
}
