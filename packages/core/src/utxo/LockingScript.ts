/** The locking scripts that have an address, as templates. */

/** The condition of a locking script; a 32-byte script hash exists on Bitcoin Cash only. */
export type Template =
  | { readonly kind: "pubKeyHash"; readonly hash: Uint8Array }
  | { readonly kind: "scriptHash"; readonly hash: Uint8Array }
  | { readonly kind: "witness"; readonly version: number; readonly program: Uint8Array }

const OP_1 = 0x51
const OP_DUP = 0x76
const OP_EQUAL = 0x87
const OP_EQUALVERIFY = 0x88
const OP_HASH160 = 0xa9
const OP_HASH256 = 0xaa
const OP_CHECKSIG = 0xac

const around = (before: ReadonlyArray<number>, data: Uint8Array, after: ReadonlyArray<number>): Uint8Array => {
  const script = new Uint8Array(before.length + data.length + after.length)
  script.set(before)
  script.set(data, before.length)
  script.set(after, before.length + data.length)
  return script
}

export const pubKeyHash = (hash: Uint8Array): Uint8Array =>
  around([OP_DUP, OP_HASH160, 20], hash, [OP_EQUALVERIFY, OP_CHECKSIG])

export const scriptHash = (hash: Uint8Array): Uint8Array =>
  around([hash.length === 32 ? OP_HASH256 : OP_HASH160, hash.length], hash, [OP_EQUAL])

/**
 * BIP-141: version 0 … 16 and 2 … 40 bytes.
 *
 * @example
 * ```ts
 * import * as LockingScript from "@headwater/core/utxo/LockingScript"
 *
 * LockingScript.witness(1, new Uint8Array(32)).subarray(0, 2) // => Uint8Array.of(0x51, 32)
 * ```
 */
export const witness = (version: number, program: Uint8Array): Uint8Array =>
  around([version === 0 ? 0 : OP_1 + version - 1, program.length], program, [])

/** The template of a script, or undefined where it has none. The bytes inside are views of `script`. */
export const parse = (script: Uint8Array): Template | undefined => {
  const [first, second, third] = script
  const { length } = script
  if (
    length === 25 &&
    first === OP_DUP &&
    second === OP_HASH160 &&
    third === 20 &&
    script[23] === OP_EQUALVERIFY &&
    script[24] === OP_CHECKSIG
  ) {
    return { kind: "pubKeyHash", hash: script.subarray(3, 23) }
  }
  if (
    script[length - 1] === OP_EQUAL &&
    ((length === 23 && first === OP_HASH160 && second === 20) ||
      (length === 35 && first === OP_HASH256 && second === 32))
  ) {
    return { kind: "scriptHash", hash: script.subarray(2, length - 1) }
  }
  if (length >= 4 && length <= 42 && second === length - 2) {
    const version = first === 0 ? 0 : first! - OP_1 + 1
    if (version === 0 ? first === 0 : version >= 1 && version <= 16) {
      return { kind: "witness", version, program: script.subarray(2) }
    }
  }
  return undefined
}
