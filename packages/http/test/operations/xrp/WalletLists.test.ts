import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as WalletLists from "@headwater/http/operations/xrp/WalletLists"

const xrp = (amount: string) => ({ amount, unit: "XRP" })
const [sender, recipient] = ["rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf", "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY"]

describe("Transactions of an XRP wallet", () => {
  const amountsOf = (more: object) => {
    const item = {
      ...{ hash: "AB".repeat(32), positionInBlock: 0, timestamp: 1, type: "Payment", status: "tesSUCCESS" },
      ...{ sender, recipient, offer: xrp("0"), fee: xrp("0.000012"), receive: xrp("1.5"), value: xrp("1.5") },
      ...more
    }
    const ledger = { hash: new Uint8Array(32), height: 1 }
    const listed = WalletLists.itemOf(Chain.ofName("xrp/mainnet")!, new Set([recipient!]))({ item, ledger } as never)
    return [listed.recipient, listed.sender].map((parties) => parties.map(({ value }) => value.amount))
  }

  it("have amounts of XRP that moved, which no unit stands beside", () => {
    assert.deepStrictEqual(amountsOf({}), [["1.5"], ["1.5"]])
    // A partial payment.
    assert.deepStrictEqual(amountsOf({ value: xrp("1000000") }), [["1.5"], ["1.5"]])
    const tokens = { amount: "1000000", unit: "USD" }
    assert.deepStrictEqual(amountsOf({ receive: tokens, value: tokens }), [["0"], ["0"]])
    assert.deepStrictEqual(amountsOf({ status: "tecUNFUNDED_PAYMENT", receive: xrp("0") }), [["0"], ["0"]])
    // What an escrow takes from its maker.
    assert.deepStrictEqual(amountsOf({ type: "EscrowCreate", receive: xrp("0") }), [["0"], ["1.5"]])
  })
})
