/** Forms of locking scripts by the names that nodes have for them. */
import * as LockingScript from "@headwater/core/utxo/LockingScript"

const OP_RETURN = 0x6a

/** The form of a locking script by the name that nodes have for it. */
export const typeOf = (script: Uint8Array): string => {
  const template = LockingScript.parse(script)
  switch (template?.kind) {
    case "pubKeyHash":
      return "pubkeyhash"
    case "scriptHash":
      return "scripthash"
    case "witness": {
      const { program, version } = template
      if (version === 0) return program.length === 20 ? "witness_v0_keyhash" : "witness_v0_scripthash"
      return version === 1 && program.length === 32 ? "witness_v1_taproot" : "witness_unknown"
    }
    case undefined:
      return script[0] === OP_RETURN ? "nulldata" : "nonstandard"
  }
}
