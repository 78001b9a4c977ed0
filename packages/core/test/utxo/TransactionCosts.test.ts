import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import * as TransactionSize from "@headwater/core/utxo/TransactionSize"
import { Transaction } from "bitcoinjs-lib"
import * as fc from "fast-check"

const network = (name: string) => Chain.ofName(`${name}/mainnet`)!.utxo!

const hash = new Uint8Array(20).fill(7)
const scripts = {
  P2PKH: LockingScript.pubKeyHash(hash),
  P2SH: LockingScript.scriptHash(hash),
  P2WPKH: LockingScript.witness(0, hash),
  P2WSH: LockingScript.witness(0, new Uint8Array(32)),
  P2TR: LockingScript.witness(1, new Uint8Array(32))
}

const formats = ["P2PKH", "P2SH-P2WPKH", "P2WPKH", "P2TR"] as const

/** A transaction of that shape as a signer makes it, with signatures of the greatest length. */
const signed = (format: TransactionSize.InputFormat, inputs: number, outputs: ReadonlyArray<Uint8Array>) => {
  const transaction = new Transaction()
  const [signature, key] = [new Uint8Array(72), new Uint8Array(33)]
  for (let i = 0; i < inputs; i++) {
    const at = transaction.addInput(new Uint8Array(32).fill(i), i)
    if (format === "P2PKH") transaction.setInputScript(at, Uint8Array.of(72, ...signature, 33, ...key))
    else transaction.setWitness(at, format === "P2TR" ? [new Uint8Array(64)] : [signature, key])
    if (format === "P2SH-P2WPKH") transaction.setInputScript(at, Uint8Array.of(22, ...LockingScript.witness(0, hash)))
  }
  for (const script of outputs) transaction.addOutput(script, 1n)
  return transaction
}

describe("TransactionCosts", () => {
  it("knows the size of a signed transaction before it is signed", () => {
    const shapes = fc.record({
      format: fc.constantFrom(...formats),
      inputs: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 250, max: 260 })),
      outputs: fc.array(fc.constantFrom(...Object.values(scripts)), { minLength: 1, maxLength: 300 })
    })
    fc.assert(
      fc.property(shapes, ({ format, inputs, outputs }) => {
        const sizes = outputs.map(TransactionSize.outputSize)
        const transaction = signed(format, inputs, outputs)
        assert.strictEqual(TransactionSize.weightOf({ format, inputs, outputs: sizes }), transaction.weight())
        assert.strictEqual(TransactionSize.virtualSize({ format, inputs, outputs: sizes }), transaction.virtualSize())
      }),
      { numRuns: 200 }
    )
  })

  it("has the dust limits that the chains' nodes have", () => {
    const expected: Readonly<Record<string, Readonly<Partial<Record<keyof typeof scripts, bigint>>>>> = {
      bitcoin: { P2PKH: 546n, P2SH: 540n, P2WPKH: 294n, P2WSH: 330n, P2TR: 330n },
      litecoin: { P2PKH: 5_460n, P2SH: 5_400n, P2WPKH: 2_940n, P2TR: 3_300n },
      dash: { P2PKH: 546n, P2SH: 540n },
      "bitcoin-cash": { P2PKH: 546n, P2SH: 540n },
      dogecoin: { P2PKH: 1_000_000n, P2SH: 1_000_000n },
      zcash: { P2PKH: 54n, P2SH: 54n }
    }
    for (const [chain, limits] of Object.entries(expected)) {
      for (const [name, limit] of Object.entries(limits)) {
        assert.strictEqual(
          TransactionCosts.dustOf(network(chain), scripts[name as keyof typeof scripts]),
          limit,
          `${chain} ${name}`
        )
      }
    }
  })

  it("charges a rate by virtual bytes, one amount whatever the size, and Zcash by actions", () => {
    const payment = { format: "P2WPKH", scripts: [scripts.P2WPKH], change: scripts.P2WPKH } as const
    const byRate = TransactionCosts.of(network("bitcoin"), payment, { rate: 1_500n, longTermRate: 10_000n })
    // 110 and 141 virtual bytes.
    assert.strictEqual(byRate.feeOf(1, false), 165n)
    assert.strictEqual(byRate.feeOf(1, true), 212n)
    assert.strictEqual(byRate.inputFee, 102n)
    assert.strictEqual(byRate.longTermInputFee, 680n)
    const exact = TransactionCosts.of(network("bitcoin"), payment, { exact: 5_000n })
    assert.strictEqual(exact.feeOf(1, true), 5_000n)
    assert.strictEqual(exact.feeOf(30, false), 5_000n)
    assert.strictEqual(exact.inputFee, 0n)

    const ofZcash = { format: "P2PKH", scripts: [scripts.P2PKH], change: scripts.P2PKH } as const
    const { feeOf } = TransactionCosts.of(network("zcash"), ofZcash, { rate: 1n, longTermRate: 1n })
    assert.strictEqual(feeOf(1, false), 10_000n)
    assert.strictEqual(feeOf(2, true), 10_000n)
    assert.strictEqual(feeOf(3, true), 15_000n)
    // 100 inputs of 148 bytes are 99 actions of 150.
    assert.strictEqual(feeOf(100, true), 495_000n)
    // By ZIP-2009.
    const lowered = { action: 1_000n, least: 100n }
    const since = TransactionCosts.of(network("zcash"), ofZcash, { rate: 1n, longTermRate: 1n, action: 1_000n })
    assert.deepStrictEqual([since.feeOf(1, true), since.feeOf(3, true), since.inputFee], [2_000n, 3_000n, 1_000n])
    // Else change of more than it costs to spend would go to the fee.
    assert.strictEqual(since.longTermInputFee, 1_000n)
    assert.strictEqual(TransactionCosts.leastFee(network("zcash"), ofZcash, lowered, 3, true), 3_000n)
    assert.strictEqual(TransactionCosts.leastFee(network("zcash"), ofZcash, { least: 100n }, 3, true), 15_000n)
    assert.strictEqual(TransactionCosts.conventionalRate(), 147_058n)
    const toMany = { ...ofZcash, scripts: new Array(6).fill(scripts.P2PKH) }
    assert.strictEqual(
      TransactionCosts.of(network("zcash"), toMany, { rate: 1n, longTermRate: 1n }).feeOf(1, true),
      35_000n
    )
  })

  it("takes no more inputs than a transaction has that nodes relay", () => {
    for (const format of formats) {
      const payment = { format, scripts: [scripts.P2TR], change: scripts.P2TR }
      const { maxInputs } = TransactionCosts.of(network("bitcoin"), payment, { exact: 1n })
      const outputs = [TransactionSize.outputSize(scripts.P2TR), TransactionSize.outputSize(scripts.P2TR)]
      assert.isAtMost(TransactionSize.weightOf({ format, inputs: maxInputs, outputs }), 400_000)
      assert.isAbove(TransactionSize.weightOf({ format, inputs: maxInputs + 1, outputs }), 399_900)
    }
  })
})
