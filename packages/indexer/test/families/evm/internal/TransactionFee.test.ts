import { assert, describe, it } from "@effect/vitest"
import type { Transaction } from "../../../../src/families/evm/internal/BlockAnswer.ts"
import * as TransactionFee from "../../../../src/families/evm/internal/TransactionFee.ts"

const paid = (type: number, json: Record<string, string>, receipt: Record<string, string>, baseFee = 0n) =>
  TransactionFee.of({ type, json } as unknown as Transaction, receipt, baseFee)

describe("TransactionFee", () => {
  it("is the gas at the price that the receipt has, else by the rule of EIP-1559", () => {
    assert.deepStrictEqual(paid(0, { gasPrice: "0x5" }, { gasUsed: "0x5208" }), {
      ...{ fee: 105_000n, price: 5n, gasUsed: 21_000n }
    })
    const receipt = { gasUsed: "0x64", effectiveGasPrice: "0x7" }
    assert.strictEqual(paid(2, { gasPrice: "0x9", maxFeePerGas: "0x9" }, receipt, 6n).fee, 700n)
    const feeMarket = { maxFeePerGas: "0xa", maxPriorityFeePerGas: "0x3" }
    assert.strictEqual(paid(2, feeMarket, { gasUsed: "0x64" }, 6n).price, 9n)
    assert.strictEqual(paid(2, feeMarket, { gasUsed: "0x64" }, 8n).price, 10n)
  })

  it("counts the blobs of a blob transaction at their price, and those of no other", () => {
    // Of geth, execution-apis, eth_getTransactionReceipt/get-blob-tx; and the footprint that the OP stack writes there.
    const receipt = { gasUsed: "0xca9c", effectiveGasPrice: "0x813f23c", blobGasUsed: "0x20000", blobGasPrice: "0x1" }
    assert.strictEqual(paid(3, {}, receipt).fee, 7_029_406_889_104n)
    assert.strictEqual(paid(2, {}, { gasUsed: "0x1", effectiveGasPrice: "0x2", blobGasUsed: "0x20000" }).fee, 2n)
    assert.throws(() => paid(3, {}, { gasUsed: "0x1", effectiveGasPrice: "0x2" }), /blobGasUsed/)
  })

  it("counts what the OP stack charges for the chain below, and the operator's fee by the rule of its upgrade", () => {
    const receipt = { gasUsed: "0x989680", effectiveGasPrice: "0x1", l1Fee: "0x64" }
    assert.strictEqual(paid(2, {}, receipt).fee, 10_000_100n)
    const operator = { ...receipt, operatorFeeScalar: "0x7", operatorFeeConstant: "0x3" }
    assert.strictEqual(paid(2, {}, operator).fee, 10_000_100n + 70n + 3n)
    const jovian = { ...operator, daFootprintGasScalar: "0x190" }
    assert.strictEqual(paid(2, {}, jovian).fee, 10_000_100n + 7_000_000_000n + 3n)
    assert.strictEqual(paid(0x7e, {}, { ...operator, effectiveGasPrice: "0x0" }).fee, 0n)
    // What a sequencer adds behind the others, which pays nothing, whatever nodes write beside.
    assert.strictEqual(paid(0x7d, {}, { ...operator, gasUsed: "0x0" }).fee, 0n)
  })
})
