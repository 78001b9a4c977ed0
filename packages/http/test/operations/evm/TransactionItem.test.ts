import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as TransactionItem from "@headwater/http/operations/evm/TransactionItem"
import type { ExplorerTransaction } from "@headwater/indexer/families/evm/Explorer"

const [ethereum, tron] = [Chain.ofName("ethereum/mainnet")!, Chain.ofName("tron/mainnet")!]
const contract = Address.fromBytes(Buffer.alloc(20, 2))

const transaction: ExplorerTransaction = {
  ...{ hash: Buffer.alloc(32, 1), block: { hash: Buffer.alloc(32, 3), height: 7, time: 11 }, position: 0 },
  ...{ from: Address.fromBytes(Buffer.alloc(20, 1)), to: contract, created: undefined, called: contract },
  ...{ value: 0n, fee: 0n, gasPrice: 0n, gasLimit: 0, gasUsed: 0, nonce: 0, succeeded: true },
  input: Buffer.from("a9059cbb00", "hex")
}
const resources = { bandwidth: 5, energy: 6 }
const signatureData = { signature: "0xa9059cbb" }
const shown = { bandwidth: 5, bandwidthUsed: 5, energy: 6, energyUsed: "6" }

describe("A transaction of an EVM chain", () => {
  it("tells the function that it calls where it is shown by itself, and in no list", () => {
    assert.deepStrictEqual(TransactionItem.single(ethereum, transaction), {
      ...TransactionItem.of(ethereum, transaction),
      blockchainSpecific: { signatureData }
    })
    for (const inList of [
      TransactionItem.of,
      (...of: Parameters<typeof TransactionItem.of>) => TransactionItem.withBandwith(TransactionItem.of(...of))
    ]) {
      assert.notProperty(inList(ethereum, transaction), "blockchainSpecific")
    }
  })

  it("calls no function where it creates a contract, pays an account or brings less than a function's name", () => {
    for (const other of [
      { created: contract, called: undefined },
      { called: undefined },
      { input: Buffer.from("a9059c", "hex") }
    ]) {
      const item = TransactionItem.single(ethereum, { ...transaction, ...other })
      assert.notProperty(item, "blockchainSpecific")
      assert.strictEqual(item.contract === "", "called" in other && !("created" in other))
    }
  })

  it("has the resources of Tron by each name, everywhere", () => {
    const called = { ...transaction, resources }
    assert.deepStrictEqual(TransactionItem.of(tron, called).blockchainSpecific, shown)
    assert.deepStrictEqual(TransactionItem.single(tron, called).blockchainSpecific, { ...shown, signatureData })
    const item = TransactionItem.withBandwith(TransactionItem.of(tron, called))
    assert.deepStrictEqual("blockchainSpecific" in item && item.blockchainSpecific, { ...shown, bandwithUsed: 5 })
  })
})
