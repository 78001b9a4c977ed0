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

/** An empty script of this many bytes, but for the `length` bytes of `data` from `from` on, which stand at `at`. */
const holding = (size: number, at: number, data: Uint8Array, from: number, length: number): Uint8Array => {
  const script = new Uint8Array(size)
  for (let index = 0; index < length; index++) script[at + index] = data[from + index]!
  return script
}

/** Of the hash of 20 bytes that begins at `from`. */
export const pubKeyHash = (hashes: Uint8Array, from = 0): Uint8Array => {
  const script = holding(25, 3, hashes, from, 20)
  script[0] = OP_DUP
  script[1] = OP_HASH160
  script[2] = 20
  script[23] = OP_EQUALVERIFY
  script[24] = OP_CHECKSIG
  return script
}

/** Of the hash of 20 or 32 bytes that begins at `from`. */
export const scriptHash = (hashes: Uint8Array, from = 0, length = hashes.length): Uint8Array => {
  const script = holding(length + 3, 2, hashes, from, length)
  script[0] = length === 32 ? OP_HASH256 : OP_HASH160
  script[1] = length
  script[length + 2] = OP_EQUAL
  return script
}

/**
 * BIP-141: version 0 … 16 and 2 … 40 bytes, which begin at `from`.
 *
 * @example
 * ```ts
 * import * as LockingScript from "@headwater/core/utxo/LockingScript"
 *
 * LockingScript.witness(1, new Uint8Array(32)).subarray(0, 2) // => Uint8Array.of(0x51, 32)
 * ```
 */
export const witness = (version: number, programs: Uint8Array, from = 0, length = programs.length): Uint8Array => {
  const script = holding(length + 2, 2, programs, from, length)
  script[0] = version === 0 ? 0 : OP_1 + version - 1
  script[1] = length
  return script
}

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
