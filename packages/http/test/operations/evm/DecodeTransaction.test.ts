import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as DecodeTransaction from "@headwater/http/operations/evm/DecodeTransaction"
import * as Effect from "effect/Effect"
import { concat, decodeRlp, encodeRlp, keccak256, sha256, toBeHex, Wallet } from "ethers"
import { exampleOf, operationNamed, requestExampleOf } from "../../Contract.ts"

const secp256k1Order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const wallet = new Wallet(`0x${"11".repeat(32)}`)
const common = { chainId: 1, nonce: 1, gasLimit: 21_000, to: wallet.address, value: 5n }
const market = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n }
/** Of a blob: what no node would take, and ethers does not look at. */
const commitment = `0x${"44".repeat(48)}`
const forms = [
  { ...common, type: 0, gasPrice: 10n },
  { ...common, type: 1, gasPrice: 10n },
  { ...common, ...market, type: 2 },
  { ...common, ...market, type: 3, maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${sha256(commitment).slice(4)}`] },
  {
    ...{ ...common, ...market, type: 4 },
    authorizationList: [
      { address: wallet.address, nonce: 2n, chainId: 1n, signature: wallet.signingKey.sign(`0x${"33".repeat(32)}`) }
    ]
  }
]

const decode = (rawTransactionHex: string) =>
  DecodeTransaction.make(Chain.ofName("ethereum/mainnet")!)({ rawTransactionHex } as never)

/** The fields of a transaction, and the transaction of other fields. */
const parts = (raw: string, type: number) => ({
  fields: decodeRlp(type === 0 ? raw : `0x${raw.slice(4)}`) as Array<string>,
  written: (fields: Array<string>) =>
    type === 0 ? encodeRlp(fields) : concat([Uint8Array.of(type), encodeRlp(fields)])
})

describe("a raw transaction of an EVM chain", () => {
  it.effect("is decoded as the document shows", () =>
    Effect.gen(function* () {
      const operation = operationNamed("rawTransactions.evmDecode")
      const { rawTransactionHex } = requestExampleOf(operation)
      assert.deepStrictEqual(yield* decode(String(rawTransactionHex)), exampleOf(operation).item)
      const broadcast = requestExampleOf(operationNamed("broadcasts.broadcast"))
      assert.strictEqual(broadcast.signedTransactionHex, rawTransactionHex)
    })
  )

  it.effect.each(forms)("has the hash of its bytes: no other form of it is read, type $type", (form) =>
    Effect.gen(function* () {
      const raw = yield* Effect.promise(() => wallet.signTransaction(form))
      const { type } = form
      assert.deepInclude(yield* decode(raw), { id: keccak256(raw), type, sender: wallet.address, nonce: 1 })
      assert.strictEqual((yield* decode(raw.slice(2).toUpperCase())).id, keccak256(raw))
      const { fields, written } = parts(raw, type)
      const nonce = type === 0 ? 0 : 1
      assert.strictEqual(written(fields), raw)
      const longer = written(fields.with(nonce, "0x0001"))
      assert.include((yield* Effect.flip(decode(longer))).message, "must be encoded in the one canonical form")
      const unsigned = fields.slice(0, -3)
      if (type > 0) assert.strictEqual((yield* decode(written(unsigned))).id, keccak256(written(unsigned)))
      const longerUnsigned = written(unsigned.with(nonce, "0x0001"))
      assert.include((yield* Effect.flip(decode(longerUnsigned))).message, "must be encoded in the one canonical form")
    })
  )

  it.effect.each(forms)("has a signature that a sender follows from, and that nodes take, type $type", (form) =>
    Effect.gen(function* () {
      const raw = yield* Effect.promise(() => wallet.signTransaction(form))
      const { fields, written } = parts(raw, form.type)
      const s = toBeHex(secp256k1Order - BigInt(fields.at(-1)!), 32)
      const high = yield* Effect.flip(decode(written(fields.with(-1, s))))
      assert.include(high.message, "rawTransactionHex: the signature's s must be in its lower half")
      for (const r of ["0x", `0x${"ff".repeat(32)}`]) {
        const unsigned = yield* Effect.flip(decode(written(fields.with(-2, r))))
        assert.include(unsigned.message, "rawTransactionHex: the signature must be one that a sender follows from")
      }
    })
  )

  it.effect("of type 3 may have its blobs beside it, in either form", () =>
    Effect.gen(function* () {
      const raw = yield* Effect.promise(() => wallet.signTransaction(forms[3]!))
      const inner = decodeRlp(`0x${raw.slice(4)}`)
      const blob = `0x${"00".repeat(131_072)}`
      for (const sidecar of [
        [[blob], [commitment], [commitment]],
        ["0x01", [blob], [commitment], new Array<string>(128).fill(commitment)]
      ]) {
        const whole = concat(["0x03", encodeRlp([inner, ...sidecar] as Parameters<typeof encodeRlp>[0])])
        assert.strictEqual((yield* decode(whole)).id, keccak256(raw))
        const { fields } = parts(raw, 3)
        const longer = concat([
          "0x03",
          encodeRlp([fields.with(1, "0x0001"), ...sidecar] as Parameters<typeof encodeRlp>[0])
        ])
        assert.include((yield* Effect.flip(decode(longer))).message, "must be encoded in the one canonical form")
      }
    })
  )
})
