import { assert, describe, layer } from "@effect/vitest"
import { noble } from "@headwater/core/keys/Secp256k1"
import { Secp256k1 } from "@headwater/core/services/Secp256k1"
import { layerTiny } from "@headwater/core/services/Secp256k1Tiny"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { BIP32Factory } from "bip32"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import * as tiny from "tiny-secp256k1"

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const scalarBytes = (scalar: bigint) => hexToBytes(scalar.toString(16).padStart(64, "0"))
const base = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
const opposite = base.replace("02", "03")
const hex = (bytes: Uint8Array | null) => bytes && bytesToHex(bytes)

describe.each(["layerNoble", "layerTiny"] as const)("%s", (name) => {
  layer(name === "layerNoble" ? Secp256k1.layerNoble : layerTiny)((it) => {
    it.effect("is what bip32 asks for: the first vector of BIP-32", () =>
      Effect.gen(function* () {
        const master = BIP32Factory(yield* Secp256k1).fromSeed(hexToBytes("000102030405060708090a0b0c0d0e0f"))
        assert.strictEqual(
          master.derivePath("m/0'/1/2'/2/1000000000").neutered().toBase58(),
          "xpub6H1LXWLaKsWFhvm6RVpEL9P4KfRZSW7abD2ttkWP3SSQvnyA8FSVqNTEcYFgJS2UaFcxupHiYkro49S8yGasTvXEYBVPamhGW6cFJodrTHy"
        )
      })
    )

    it.effect("knows points and scalars from other bytes", () =>
      Effect.gen(function* () {
        const { isPoint, isPrivate } = yield* Secp256k1
        const long = noble.pointFromScalar(scalarBytes(1n), false)!
        for (const point of [base, opposite, bytesToHex(long)]) assert.isTrue(isPoint(hexToBytes(point)), point)
        for (const bytes of [
          ...["", "02", base.slice(2), `${base}00`, base.replace("02", "04"), base.replace("02", "00"), "00"],
          // No square, the field's prime, and a point whose y is another one.
          ...[`02${"0".repeat(63)}5`, `02${"f".repeat(64)}`, bytesToHex(long).replace(/.$/, "0")]
        ]) {
          assert.isFalse(isPoint(hexToBytes(bytes)), bytes)
        }
        for (const [scalar, is] of [
          [0n, false],
          [1n, true],
          [order - 1n, true],
          [order, false],
          [2n ** 256n - 1n, false]
        ] as const) {
          assert.strictEqual(isPrivate(scalarBytes(scalar)), is, String(scalar))
        }
        assert.isFalse(isPrivate(new Uint8Array(31).fill(1)))
      })
    )

    it.effect("adds, up to infinity", () =>
      Effect.gen(function* () {
        const { pointAddScalar, pointFromScalar, privateAdd } = yield* Secp256k1
        const point = hexToBytes(base)
        assert.strictEqual(hex(pointAddScalar(point, scalarBytes(0n))), base)
        assert.strictEqual(hex(pointAddScalar(point, scalarBytes(order - 2n))), opposite)
        assert.isNull(pointAddScalar(point, scalarBytes(order - 1n)))
        assert.isNull(privateAdd(scalarBytes(1n), scalarBytes(order - 1n)))
        assert.strictEqual(hex(privateAdd(scalarBytes(order - 1n), scalarBytes(2n))), hex(scalarBytes(1n)))
        // As many bytes as were given, or as are asked for.
        const long = pointFromScalar(scalarBytes(1n), false)!
        assert.strictEqual(pointAddScalar(long, scalarBytes(1n))!.length, 65)
        assert.strictEqual(pointAddScalar(long, scalarBytes(1n), true)!.length, 33)
        assert.strictEqual(pointAddScalar(point, scalarBytes(1n), false)!.length, 65)
        for (const run of [
          () => pointAddScalar(point, scalarBytes(order)),
          () => pointAddScalar(hexToBytes(`02${"0".repeat(63)}5`), scalarBytes(1n)),
          () => pointFromScalar(scalarBytes(0n)),
          () => privateAdd(scalarBytes(1n), scalarBytes(order))
        ]) {
          assert.throws(run)
        }
      })
    )

    it.effect("refuses a signature of the upper half only where asked to", () =>
      Effect.gen(function* () {
        const { pointFromScalar, sign, verify } = yield* Secp256k1
        const [hash, key] = [new Uint8Array(32).fill(7), scalarBytes(5n)]
        const signature = sign(hash, key)
        const upper = Uint8Array.from([
          ...signature.subarray(0, 32),
          ...scalarBytes(order - BigInt(`0x${bytesToHex(signature.subarray(32))}`))
        ])
        const verified = (bytes: Uint8Array, strict?: boolean) => verify(hash, pointFromScalar(key)!, bytes, strict)
        assert.deepStrictEqual(
          [verified(signature), verified(signature, true), verified(upper), verified(upper, true)],
          [true, true, true, false]
        )
        assert.isFalse(verify(new Uint8Array(32).fill(8), pointFromScalar(key)!, signature))
      })
    )

    it.effect("says what the other says", () =>
      Effect.gen(function* () {
        const curve = yield* Secp256k1
        const other = name === "layerNoble" ? tiny : noble
        const scalar = fc.bigInt({ min: 1n, max: order - 1n }).map(scalarBytes)
        const hash = fc.uint8Array({ minLength: 32, maxLength: 32 })
        fc.assert(
          fc.property(scalar, scalar, hash, fc.option(hash), (one, two, message, entropy) => {
            const said = ({ pointAddScalar, pointFromScalar, privateAdd, sign }: typeof noble) => [
              ...[pointFromScalar(one), pointAddScalar(pointFromScalar(one)!, two), privateAdd(one, two)].map(hex),
              hex(sign(message, one, entropy ?? undefined))
            ]
            assert.deepStrictEqual(said(curve), said(other))
            assert.isTrue(curve.verify(message, curve.pointFromScalar(one)!, other.sign(message, one), true))
          }),
          { numRuns: 20 }
        )
      })
    )
  })
})
