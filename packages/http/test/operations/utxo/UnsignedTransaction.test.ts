import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as Steps from "@headwater/core/Steps"
import { hash160 } from "@headwater/core/utxo/BitcoinHash"
import * as LockingScript from "@headwater/core/utxo/LockingScript"
import { psbtOf, sighashes, type Unsigned } from "@headwater/http/operations/utxo/UnsignedTransaction"
import { Psbt, Transaction } from "bitcoinjs-lib"

const network = Chain.ofName("bitcoin/mainnet")!.utxo!
const key = { publicKey: new Uint8Array(33).fill(2), fingerprint: new Uint8Array(4), path: "m/0/1" }
const segwit = LockingScript.witness(0, hash160(key.publicKey))

/** A payment of so many coins, each made by a transaction of its own, with so many outputs. */
const unsigned = (inputs: number, outputs: number, format: "P2PKH" | "P2WPKH", unused = 0): Unsigned => {
  const script = format === "P2PKH" ? LockingScript.pubKeyHash(hash160(key.publicKey)) : segwit
  return {
    ...{ format, version: 2, locktime: 0, sequence: 0xffff_fffd },
    inputs: Array.from({ length: inputs }, (_, i) => {
      const maker = new Transaction()
      maker.locktime = i
      maker.addInput(new Uint8Array(32).fill(1), 0)
      maker.addOutput(script, 10_000n)
      if (unused > 0) maker.addOutput(new Uint8Array(unused), 0n)
      return {
        ...{ transactionId: maker.getHash().toReversed(), index: 0, script, amount: 10_000n, key },
        maker: maker.toBuffer()
      }
    }),
    outputs: Array.from({ length: outputs }, () => ({ script: segwit, amount: 5_000n }))
  }
}

const stepsOf = <A>(work: Generator<void, A>) => {
  for (let steps = 0; ; steps++) {
    const step = work.next()
    if (step.done === true) return { steps, value: step.value }
  }
}

describe("Unsigned transactions of UTXO chains", () => {
  // By the methods of bitcoinjs' own PSBT, all of it at once, this takes a minute, in which nobody else is answered.
  it("are hashed and written in steps, one for each coin, however many they spend", () => {
    const many = unsigned(1_000, 100, "P2WPKH")
    const written = stepsOf(psbtOf(network, many))
    assert.isAtLeast(written.steps, 1_100)
    assert.isAtLeast(stepsOf(sighashes(network, { ...many, inputs: many.inputs.slice(0, 50) })).steps, 50)
    const { data, txInputs, txOutputs } = Psbt.fromBase64(written.value!)
    assert.strictEqual(txInputs.length, 1_000)
    assert.deepStrictEqual(
      txInputs.map(({ hash }) => Buffer.from(hash).toString("hex")),
      many.inputs.map(({ transactionId }) => Buffer.from(transactionId.toReversed()).toString("hex"))
    )
    assert.strictEqual(txOutputs.length, 100)
    assert.isTrue(data.inputs.every(({ nonWitnessUtxo, witnessUtxo }) => nonWitnessUtxo && witnessUtxo))
  })

  it("are hashed as bitcoinjs does it, whatever the wallet's format", () => {
    const hashes = (name: string, format: Unsigned["format"], script: Uint8Array) => {
      const made = unsigned(3, 2, "P2WPKH")
      const inputs = made.inputs.map((input, i) => ({ ...input, script, index: i, amount: 10_000n + BigInt(i) }))
      const whole = { ...made, format, locktime: 7, inputs }
      const transaction = new Transaction()
      transaction.version = whole.version
      transaction.locktime = whole.locktime
      for (const { index, transactionId } of inputs) {
        transaction.addInput(transactionId.toReversed(), index, whole.sequence)
      }
      for (const { amount, script } of whole.outputs) transaction.addOutput(script, amount)
      const chain = Chain.ofName(`${name}/mainnet`)!.utxo!
      const found = Steps.atOnce(sighashes(chain, whole)).map((hash) => Buffer.from(hash).toString("hex"))
      return { found, inputs, transaction }
    }
    const text = (hash: Uint8Array) => Buffer.from(hash).toString("hex")
    const legacy = LockingScript.pubKeyHash(hash160(key.publicKey))
    for (const [name, format, script, type] of [
      ["bitcoin", "P2WPKH", segwit, 1],
      ["bitcoin", "P2SH-P2WPKH", segwit, 1],
      ["bitcoin-cash", "P2PKH", legacy, 0x41]
    ] as const) {
      const { found, inputs, transaction } = hashes(name, format, script)
      assert.deepStrictEqual(
        found,
        inputs.map(({ amount }, i) => text(transaction.hashForWitnessV0(i, legacy, amount, type)))
      )
    }
    const taproot = Uint8Array.of(0x51, 32, ...new Uint8Array(32).fill(9))
    const { found, inputs, transaction } = hashes("bitcoin", "P2TR", taproot)
    const amounts = inputs.map(({ amount }) => amount)
    const scripts = inputs.map(({ script }) => script)
    assert.deepStrictEqual(
      found,
      inputs.map((_, i) => text(transaction.hashForWitnessV1(i, scripts, amounts, Transaction.SIGHASH_DEFAULT)))
    )
  })

  it("are written as BIP-371 has it, where a taproot key spends and is paid", () => {
    // "PSBT with one P2TR key only output with internal key and its derivation path".
    const vector = [
      "cHNidP8BAF4CAAAAASd0Srq/MCf+DWzyOpbu4u+xiO9SMBlUWFiD5ptmJLJCAAAAAAD/////AUjmBSoBAAAAIlEgg2mORYxmZOFZXXXaJZfeHiLul9eY5wbE",
      "wKS1qYI810MAAAAAAAEBKwDyBSoBAAAAIlEgWiws9bUs8x+DrS6Npj/wMYPs2PYJx1EK6KSOA5EKB1chFv40kGTJjW4qhT+jybEr2LMEoZwZXGDvp+4jkwRt",
      "P6IyGQB3Ky2nVgAAgAEAAIAAAACAAQAAAAAAAAABFyD+NJBkyY1uKoU/o8mxK9izBKGcGVxg76fuI5MEbT+iMgABBSARJNp67JLM0GyVRWJkf0N7E4uVchqE",
      "vivyJ2u92rPmcSEHESTaeuySzNBslUViZH9DexOLlXIahL4r8idrvdqz5nEZAHcrLadWAACAAQAAgAAAAIAAAAAABQAAAAA="
    ].join("")
    const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))
    const keyAt = (path: string, xOnly: string) => ({
      ...{ fingerprint: bytes("772b2da7"), path: `m/86'/1'/0'/${path}`, publicKey: bytes(`02${xOnly}`) }
    })
    const written = Steps.atOnce(
      psbtOf(network, {
        ...{ format: "P2TR", version: 2, locktime: 0, sequence: 0xffff_ffff },
        inputs: [
          {
            transactionId: bytes("27744ababf3027fe0d6cf23a96eee2efb188ef52301954585883e69b6624b242").toReversed(),
            ...{ index: 0, amount: 5_000_000_000n, maker: undefined },
            script: bytes("51205a2c2cf5b52cf31f83ad2e8da63ff03183ecd8f609c7510ae8a48e03910a0757"),
            key: keyAt("1/0", "fe349064c98d6e2a853fa3c9b12bd8b304a19c195c60efa7ee2393046d3fa232")
          }
        ],
        outputs: [
          {
            script: bytes("512083698e458c6664e1595d75da2597de1e22ee97d798e706c4c0a4b5a9823cd743"),
            amount: 4_999_997_000n,
            key: keyAt("0/5", "1124da7aec92ccd06c954562647f437b138b95721a84be2bf2276bbddab3e671")
          }
        ]
      })
    )
    assert.strictEqual(written, vector)
  })

  it("show what they spend from up to four megabytes: one transaction of many coins is in each of them", () => {
    const huge = unsigned(5, 1, "P2WPKH", 900_000)
    const { data } = Psbt.fromBase64(Steps.atOnce(psbtOf(network, huge))!)
    assert.isTrue(data.inputs.every(({ nonWitnessUtxo, witnessUtxo }) => !nonWitnessUtxo && witnessUtxo))
    assert.strictEqual(Steps.atOnce(psbtOf(network, unsigned(5, 1, "P2PKH", 900_000))), undefined)
    assert.isString(Steps.atOnce(psbtOf(network, unsigned(4, 1, "P2PKH", 900_000))))
  })
})
