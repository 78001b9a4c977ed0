import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as WalletLists from "@headwater/http/operations/xrp/WalletLists"
import { transactionOf } from "@headwater/indexer/families/xrp/LedgerExplorer"

const [sender, recipient, other] = [
  "rGWrZyQqhTp9Xu7G5Pkayo7bXjH4k4QYpf",
  "rPEPPER7kfTD9w2To4CQk6UCfuHM9c6GDY",
  "r9cZA1mLK5R5Am25ArfXFmqgNwjZgnfk59"
] as const
const fee = 12
const usd = (value: string) => ({ currency: "USD", issuer: other, value })

/** An account whose XRP, in drops, changes by so much, the fee included. */
const changed = (account: string, drops: number) => ({
  ModifiedNode: {
    LedgerEntryType: "AccountRoot",
    FinalFields: { Account: account, Balance: String(50_000_000 + drops) },
    PreviousFields: { Balance: "50000000" }
  }
})

describe("Transactions of an XRP wallet", () => {
  const partiesOf = (
    fields: object,
    nodes: ReadonlyArray<unknown>,
    result: string,
    delivered: object | string | undefined
  ) => {
    const json = {
      hash: "AB".repeat(32),
      ...{ TransactionType: "Payment", Account: sender, Fee: String(fee), ...fields },
      meta: {
        ...{ TransactionIndex: 0, TransactionResult: result, AffectedNodes: nodes },
        ...(delivered === undefined ? {} : { delivered_amount: delivered })
      }
    }
    const ledger = { hash: new Uint8Array(32), parent: new Uint8Array(32), height: 90_000_000, time: 1 }
    const listed = WalletLists.itemOf(
      Chain.ofName("xrp/mainnet")!,
      new Set([recipient])
    )(transactionOf(XrpTransaction.decode(json, ledger.height), 0, ledger))
    const amounts = (of: typeof listed.sender) =>
      Object.fromEntries(of.map(({ address, value }) => [address, value.amount]))
    return [amounts(listed.recipient), amounts(listed.sender)]
  }
  const listed = (
    fields: object,
    changes: Readonly<Record<string, number>>,
    { delivered, result = "tesSUCCESS" }: { readonly delivered?: object | string; readonly result?: string } = {}
  ) =>
    partiesOf(
      fields,
      Object.entries(changes).map(([account, drops]) => changed(account, drops)),
      result,
      delivered
    )

  it("have amounts of XRP that moved, which no unit stands beside", () => {
    const paid = { [sender]: -1_500_000 - fee, [recipient]: 1_500_000 }
    const whole = { Destination: recipient, Amount: "1500000" }
    assert.deepStrictEqual(listed(whole, paid, { delivered: "1500000" }), [{ [recipient]: "1.5" }, { [sender]: "1.5" }])
    const partial = { Destination: recipient, Amount: "1000000000000", Flags: 0x0002_0000 }
    assert.deepStrictEqual(listed(partial, paid, { delivered: "1500000" }), [
      { [recipient]: "1.5" },
      { [sender]: "1.5" }
    ])
    const tokens = { Destination: recipient, Amount: usd("1000000") }
    assert.deepStrictEqual(listed(tokens, { [sender]: -fee }, { delivered: usd("1000000") }), [
      { [recipient]: "0" },
      { [sender]: "0" }
    ])
    assert.deepStrictEqual(listed(whole, { [sender]: -fee }, { result: "tecUNFUNDED_PAYMENT" }), [
      { [recipient]: "0" },
      { [sender]: "0" }
    ])
    // What an escrow takes from its maker.
    const escrow = { TransactionType: "EscrowCreate", Destination: recipient, Amount: "1500000" }
    assert.deepStrictEqual(listed(escrow, { [sender]: -1_500_000 - fee }), [{ [recipient]: "0" }, { [sender]: "1.5" }])
  })

  it("have the XRP of offers that were taken, whoever took them, and of payments in other currencies", () => {
    const sold = { [sender]: -3_000_000 - fee, [other]: 3_000_000 }
    const offer = { TransactionType: "OfferCreate", TakerGets: "3000000", TakerPays: usd("2") }
    assert.deepStrictEqual(listed(offer, sold), [{ [other]: "3" }, { [sender]: "3" }])
    const bySendMax = { Destination: recipient, Amount: usd("2"), SendMax: "4000000" }
    assert.deepStrictEqual(listed(bySendMax, sold, { delivered: usd("2") }), [
      { [recipient]: "0", [other]: "3" },
      { [sender]: "3" }
    ])
    const toXrp = { Destination: recipient, Amount: "2000000", SendMax: usd("3") }
    const bought = { [sender]: -fee, [recipient]: 2_000_000, [other]: -2_000_000 }
    assert.deepStrictEqual(listed(toXrp, bought, { delivered: "2000000" }), [
      { [recipient]: "2" },
      { [sender]: "0", [other]: "2" }
    ])
  })

  it("name nobody as the payer of what the sender gets, nor of what is only offered", () => {
    const cash = { TransactionType: "CheckCash", Amount: "1500000" }
    assert.deepStrictEqual(listed(cash, { [sender]: 1_500_000 - fee, [other]: -1_500_000 }), [
      { [sender]: "1.5" },
      { [sender]: "0", [other]: "1.5" }
    ])
    const bid = { TransactionType: "NFTokenCreateOffer", Amount: "9000000" }
    assert.deepStrictEqual(listed(bid, { [sender]: -fee }), [{}, { [sender]: "0" }])
  })
})
