/**
 * The curve of all keys, as far as extended keys need it: what bip32 asks a library for. {@link noble} runs everywhere;
 * tiny-secp256k1, which has the same functions as WebAssembly, is a layer of the service `Secp256k1`.
 */
import { secp256k1 } from "@noble/curves/secp256k1.js"
import * as Result from "effect/Result"

const { Point } = secp256k1
type Point = InstanceType<typeof Point>

/** Bytes are big-endian. A function that takes a point or a scalar throws where it is none. */
export interface Secp256k1 {
  /** Whether bytes are a point, of 33 bytes or of 65. */
  readonly isPoint: (bytes: Uint8Array) => boolean
  /** Whether bytes are a private key: 32 of them, above zero and below the order of the group. */
  readonly isPrivate: (bytes: Uint8Array) => boolean
  /** The public key of a private one: 33 bytes, or 65 where `compressed` is false. */
  readonly pointFromScalar: (privateKey: Uint8Array, compressed?: boolean) => Uint8Array | null
  /** `point + scalar × G`, null at infinity; of as many bytes as `point` unless `compressed` is given. */
  readonly pointAddScalar: (point: Uint8Array, scalar: Uint8Array, compressed?: boolean) => Uint8Array | null
  /** The sum of two scalars in the group, null where that is zero. */
  readonly privateAdd: (privateKey: Uint8Array, scalar: Uint8Array) => Uint8Array | null
  /** ECDSA with the nonce of RFC 6979: r and s, 64 bytes, s in the lower half. */
  readonly sign: (hash: Uint8Array, privateKey: Uint8Array, extraEntropy?: Uint8Array) => Uint8Array
  /** Whether a signature is of a key; `strict` refuses s of the upper half. */
  readonly verify: (hash: Uint8Array, publicKey: Uint8Array, signature: Uint8Array, strict?: boolean) => boolean
}

const bytesOf = (point: Point, compressed: boolean): Uint8Array | null =>
  point.is0() ? null : point.toBytes(compressed)

/** By @noble/curves, in JavaScript alone. */
export const noble: Secp256k1 = {
  isPoint: (bytes) => Result.isSuccess(Result.try(() => Point.fromBytes(bytes))),
  isPrivate: (bytes) => secp256k1.utils.isValidSecretKey(bytes),
  pointFromScalar: (privateKey, compressed = true) => secp256k1.getPublicKey(privateKey, compressed),
  pointAddScalar: (point, scalar, compressed = point.length === 33) =>
    // Of public numbers, which may show in the time that it takes.
    bytesOf(Point.fromBytes(point).add(Point.BASE.multiplyUnsafe(Point.Fn.fromBytes(scalar))), compressed),
  privateAdd: (privateKey, scalar) => {
    const { Fn } = Point
    const sum = Fn.add(Fn.fromBytes(privateKey), Fn.fromBytes(scalar))
    return Fn.is0(sum) ? null : Fn.toBytes(sum)
  },
  sign: (hash, privateKey, extraEntropy) =>
    secp256k1.sign(hash, privateKey, { prehash: false, ...(extraEntropy && { extraEntropy }) }),
  verify: (hash, publicKey, signature, strict = false) =>
    secp256k1.verify(signature, hash, publicKey, { prehash: false, lowS: strict })
}
