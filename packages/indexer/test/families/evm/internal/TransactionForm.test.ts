import { assert, describe, it } from "@effect/vitest"
import type { Transaction } from "@headwater/indexer/families/evm/internal/BlockAnswer"
import { Mismatch } from "@headwater/indexer/families/evm/internal/Hex"
import * as Sender from "@headwater/indexer/families/evm/internal/Sender"
import * as TransactionForm from "@headwater/indexer/families/evm/internal/TransactionForm"
import * as Effect from "effect/Effect"
import * as Ethers from "ethers"
import * as fc from "fast-check"
import { account, word } from "../EvmBlocks.ts"

const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString("hex")}`
const keccak = (bytes: Uint8Array): Uint8Array => Buffer.from(Ethers.keccak256(bytes).slice(2), "hex")
const quantity = (number: Ethers.BigNumberish) => Ethers.toQuantity(number)

const numbers = fc.bigInt({ min: 0n, max: 2n ** 80n })
const bytes = fc.uint8Array({ maxLength: 100 }).map(hex)
const addresses = fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex)
const keys = fc.bigInt({ min: 1n, max: 2n ** 250n }).map((key) => `0x${key.toString(16).padStart(64, "0")}`)

/** A transaction of each of Ethereum's types, signed by a library of others. */
const signed = fc
  .record({
    ...{ type: fc.nat(4), nonce: fc.nat(), gasPrice: numbers, gasLimit: numbers, value: numbers, data: bytes },
    ...{ to: addresses, chainId: fc.constantFrom(0n, 1n, 137n), key: keys, slot: addresses, tip: numbers }
  })
  .map(({ key, slot, tip, ...of }) => {
    const wallet = new Ethers.Wallet(key)
    const chainId = of.type === 0 ? of.chainId : of.chainId + 1n
    const { gasPrice, ...common } = { ...of, chainId }
    const transaction = Ethers.Transaction.from({
      ...common,
      ...(of.type < 2 ? { gasPrice } : { maxFeePerGas: gasPrice + tip, maxPriorityFeePerGas: tip }),
      ...(of.type === 0 ? {} : { accessList: [{ address: slot, storageKeys: [word("01")] }] }),
      ...(of.type === 3 ? { maxFeePerBlobGas: tip, blobVersionedHashes: [word("02")] } : {}),
      ...(of.type === 4
        ? { authorizationList: [wallet.authorizeSync({ address: slot, nonce: of.nonce, chainId })] }
        : {})
    })
    transaction.signature = wallet.signingKey.sign(transaction.unsignedHash)
    return transaction
  })

/** As a node answers it. */
const answered = (transaction: Ethers.Transaction): Transaction => {
  const { accessList, authorizationList, blobVersionedHashes, signature, type } = transaction
  const isTyped = type !== 0
  const json = {
    ...{ nonce: quantity(transaction.nonce), gas: quantity(transaction.gasLimit), value: quantity(transaction.value) },
    ...{ to: transaction.to, from: transaction.from, input: transaction.data, chainId: quantity(transaction.chainId) },
    ...{ r: quantity(signature!.r), s: quantity(signature!.s) },
    v: quantity(
      isTyped
        ? signature!.yParity
        : signature!.legacyChainId === null && transaction.chainId === 0n
          ? signature!.v
          : Ethers.Signature.getChainIdV(transaction.chainId, signature!.v)
    ),
    gasPrice: quantity(transaction.gasPrice ?? transaction.maxFeePerGas ?? 0n),
    ...(isTyped ? { yParity: quantity(signature!.yParity), accessList } : {}),
    ...((type ?? 0) >= 2
      ? {
          maxFeePerGas: quantity(transaction.maxFeePerGas!),
          maxPriorityFeePerGas: quantity(transaction.maxPriorityFeePerGas!)
        }
      : {}),
    ...(type === 3 ? { maxFeePerBlobGas: quantity(transaction.maxFeePerBlobGas!), blobVersionedHashes } : {}),
    ...(type === 4
      ? {
          authorizationList: authorizationList!.map((one) => ({
            ...{ chainId: quantity(one.chainId), address: one.address, nonce: quantity(one.nonce) },
            ...{ yParity: quantity(one.signature.yParity), r: quantity(one.signature.r), s: quantity(one.signature.s) }
          }))
        }
      : {})
  }
  return { json, type: type! } as unknown as Transaction
}

describe("TransactionForm", () => {
  it.effect("hashes transactions of each type as ethers does, and finds their signers", () =>
    Effect.gen(function* () {
      const recover = yield* Sender.loadRecover
      for (const transaction of fc.sample(signed, 60)) {
        const given = answered(transaction)
        const form = TransactionForm.hashed(given)!
        assert.strictEqual(hex(form.bytes), transaction.serialized)
        assert.strictEqual(hex(Sender.of(given, form.signed!, keccak, recover)!), transaction.from!.toLowerCase())
      }
    })
  )

  it("holds what Arbitrum does not hash to be as its type has it", () => {
    const internal = { chainId: "0xa4b1", input: "0x", from: account("00").replace(/.{5}$/, "a4b05") }
    const of = (more: object) =>
      ({ type: 0x6a, json: { ...internal, to: internal.from, value: "0x0", ...more } }) as never
    assert.strictEqual(hex(TransactionForm.hashed(of({}))!.bytes), "0x6ac482a4b180")
    for (const lie of [{ value: "0x1" }, { from: account("01") }, { to: account("01") }]) {
      assert.throws(() => TransactionForm.hashed(of(lie)), Mismatch)
    }
  })

  it("hashes what a sequencer of the OP stack adds as op-geth and op-reth do", () => {
    // The vector by which both are held to the specification (`TestPostExecTxHashGoldenVector`).
    const json = { from: account("00"), gas: "0x0", value: "0x0", input: "0xc6012ac3c20307" }
    const { bytes } = TransactionForm.hashed({ type: 0x7d, json } as never)!
    assert.strictEqual(hex(keccak(bytes)), "0xcbc64a9665039744307b562634bf760d96f3bed235fecd9e09a1f1276a1823c7")
    for (const lie of [{ value: "0x1" }, { from: account("01") }]) {
      assert.throws(() => TransactionForm.hashed({ type: 0x7d, json: { ...json, ...lie } } as never), Mismatch)
    }
  })

  it("knows no hash of a type to come", () =>
    assert.isUndefined(TransactionForm.hashed({ type: 0x7f, json: {} } as never)))
})
