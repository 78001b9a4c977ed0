import { assert, describe, it } from "@effect/vitest"
import * as XrpPayment from "@headwater/core/xrp/XrpPayment"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as Result from "effect/Result"

const alice = "rf1BiGeXwwQoi8Z2ueFYTEXSwuJYfV2Jpn"
const bob = "ra5nK24KXen9AHvsdFTKHSANinZseWnPcX"
const maker = "rvYAfWj5gh67oV6fW32ZzP3Aw4Eubs59B"
const hash = "E08D6E9754025BA2534A78707605E0601F03ACE063687A0CA1BDDACFCD1698C7"

interface Parts {
  readonly fields?: object
  readonly meta?: object
  readonly nodes?: ReadonlyArray<object>
}

const fieldsOf = (more: object = {}) => ({
  Account: alice,
  Amount: "5000",
  Destination: bob,
  Fee: "12",
  Flags: 0,
  TransactionType: "Payment",
  ...more
})

const metaOf = ({ meta, nodes = [] }: Parts) => ({
  AffectedNodes: nodes,
  TransactionIndex: 3,
  TransactionResult: "tesSUCCESS",
  ...meta
})

const version1 = (parts: Parts) => ({ ...fieldsOf(parts.fields), hash, metaData: metaOf(parts) })

const version2 = (parts: Parts) => {
  const { Amount, ...fields } = fieldsOf(parts.fields) as Record<string, unknown>
  const payment = fields.TransactionType === "Payment"
  const amount = Amount === undefined ? {} : payment ? { DeliverMax: Amount } : { Amount }
  return {
    tx_json: { ...fields, ...amount, date: 1, ledger_index: 9 },
    hash,
    meta: metaOf(parts),
    ledger_index: 9,
    validated: true,
    close_time_iso: "2024-01-01T00:00:00Z"
  }
}

const read = (json: unknown, ledgerIndex = 90_000_000) => Result.getOrThrow(XrpTransaction.decode(json, ledgerIndex))

const item = (parts: Parts) => {
  const first = XrpTransaction.toItem(read(version1(parts)), 1_700_000_000)
  assert.deepStrictEqual(XrpTransaction.toItem(read(version2(parts)), 1_700_000_000), first)
  return first
}

const moves = (parts: Parts, ledgerIndex?: number) => {
  const first = XrpPayment.transfers(read(version1(parts), ledgerIndex))
  assert.deepStrictEqual(XrpPayment.transfers(read(version2(parts), ledgerIndex)), first)
  return first
}

const refusal = (json: unknown): string => {
  const result = XrpTransaction.decode(json, 1)
  if (Result.isSuccess(result)) return assert.fail("was read")
  assert.strictEqual(result.failure._tag, "InvalidXrpTransaction")
  return result.failure.message
}

const account = (Account: string, before: number, after: number) => ({
  ModifiedNode: {
    LedgerEntryType: "AccountRoot",
    FinalFields: { Account, Balance: String(after), Flags: 0, OwnerCount: 1, Sequence: 2 },
    PreviousFields: before === after ? { Sequence: 1 } : { Balance: String(before), Sequence: 1 }
  }
})
const created = (Account: string, drops: number) => ({
  CreatedNode: { LedgerEntryType: "AccountRoot", LedgerIndex: "00", NewFields: { Account, Balance: String(drops) } }
})
const trustLine = {
  ModifiedNode: {
    LedgerEntryType: "RippleState",
    FinalFields: { Balance: { currency: "USD", issuer: "rrrrrrrrrrrrrrrrrrrrBZbvji", value: "3" } },
    PreviousFields: { Balance: { currency: "USD", issuer: "rrrrrrrrrrrrrrrrrrrrBZbvji", value: "1" } }
  }
}
const usd = (value: string) => ({ currency: "USD", issuer: maker, value })

describe("XrpTransaction", () => {
  it("says every field of a payment of XRP", () => {
    const memos = [
      { Memo: { MemoType: "74657874", MemoData: Buffer.from("Grüße").toString("hex") } },
      { Memo: { MemoData: "FF00" } },
      { Memo: { MemoType: "74657874" } }
    ]
    assert.deepStrictEqual(
      item({ fields: { DestinationTag: 4294967295, Memos: memos }, meta: { delivered_amount: "5000" } }),
      {
        additionalData: "Grüße\nFF00",
        destinationTag: 4294967295,
        hash,
        offer: { amount: "0", unit: "XRP" },
        positionInBlock: 3,
        recipient: bob,
        sender: alice,
        status: "tesSUCCESS",
        timestamp: 1_700_000_000,
        type: "Payment",
        fee: { amount: "0.000012", unit: "XRP" },
        receive: { amount: "0.005", unit: "XRP" },
        value: { amount: "0.005", unit: "XRP" }
      }
    )
  })

  it("says what a partial payment delivered, not what it could have been", () => {
    const partial = { Flags: 0x20000, Amount: usd("5000"), SendMax: usd("9") }
    const paid = item({ fields: partial, meta: { delivered_amount: usd("3"), DeliveredAmount: usd("3") } })
    assert.deepStrictEqual(paid.receive, { amount: "3", unit: "USD" })
    assert.deepStrictEqual(paid.value, { amount: "5000", unit: "USD" })
    // Without delivered_amount, as recorded ledgers of 2015 are.
    assert.strictEqual(item({ fields: partial, meta: { DeliveredAmount: usd("3") } }).receive.amount, "3")
    assert.strictEqual(item({ fields: partial }).receive.amount, "5000")
    // Before ledger 4594095 nobody wrote it down.
    const old = read(version1({ fields: partial, meta: { delivered_amount: "unavailable" } }), 4_594_094)
    assert.deepStrictEqual(XrpTransaction.toItem(old, 0).receive, { amount: "0", unit: "XRP" })
    const oldXrp = { fields: { Flags: 0x20000, SendMax: usd("9") }, nodes: [account(bob, 10, 7010)] }
    assert.strictEqual(XrpTransaction.toItem(read(version1(oldXrp), 4_594_094), 0).receive.amount, "0.007")
  })

  it("shows an offer by what it gives, and no value", () => {
    const offer = { TransactionType: "OfferCreate", Amount: undefined, Destination: undefined }
    const { Amount: _, Destination: __, ...fields } = { ...fieldsOf(), ...offer }
    const json = { ...fields, TakerGets: usd("2.50"), TakerPays: "7", hash, metaData: metaOf({}) }
    const shown = XrpTransaction.toItem(read(json), 5)
    assert.deepStrictEqual(shown.offer, { amount: "2.5", unit: "USD" })
    assert.deepStrictEqual(shown.value, { amount: "0", unit: "XRP" })
    assert.deepStrictEqual(shown.receive, { amount: "0", unit: "XRP" })
    assert.strictEqual(shown.recipient, "")
    assert.isFalse("destinationTag" in shown || "additionalData" in shown)
  })

  it("shows a failed payment with nothing received", () => {
    const failed = item({ meta: { TransactionResult: "tecUNFUNDED_PAYMENT" } })
    assert.strictEqual(failed.status, "tecUNFUNDED_PAYMENT")
    assert.deepStrictEqual(failed.receive, { amount: "0", unit: "XRP" })
    assert.deepStrictEqual(failed.value, { amount: "0.005", unit: "XRP" })
  })

  it("reads types to come, whatever they call an amount, and refuses what breaks a rule by its field", () => {
    const loan = version1({ fields: { TransactionType: "LoanSet", Amount: { principal: 5 } } })
    assert.deepStrictEqual(XrpTransaction.toItem(read(loan), 0).value, { amount: "0", unit: "XRP" })
    const pseudo = { ...fieldsOf({ TransactionType: "UNLModify", Account: "", Fee: "0" }), Destination: { new: 1 } }
    const shown = XrpTransaction.toItem(read({ ...pseudo, hash, metaData: metaOf({}) }), 0)
    assert.deepStrictEqual([shown.sender, shown.recipient, shown.fee.amount], ["", "", "0"])
    assert.include(refusal(version1({ fields: { Destination: "bob" } })), "must have Account, Amount and Destination")
    assert.include(refusal(version1({ fields: { Account: "" } })), "must have Account, Amount and Destination")
    assert.include(refusal(version1({ fields: { Amount: "5.5" } })), "Amount must be drops")
    assert.include(refusal(version1({ fields: { Account: "bob" } })), "classic address")
    assert.include(refusal(version1({ fields: { Fee: 12 } })), "Fee")
    assert.include(refusal(version1({ meta: { TransactionIndex: -1 } })), "TransactionIndex")
    assert.include(refusal({ ...version1({}), hash: "00" }), "64 hexadecimal")
    for (const json of [undefined, null, "x", 5, [], {}, { hash }, { hash, meta: {} }]) refusal(json)
  })
})

describe("XrpPayment", () => {
  it("moves what was delivered from sender to recipient", () => {
    const direct = [{ from: alice, to: bob, drops: 5000n }]
    assert.deepStrictEqual(moves({ meta: { delivered_amount: "5000" } }), direct)
    assert.deepStrictEqual(moves({ nodes: [account(alice, 9000, 3988), created(bob, 5000)] }), direct)
    assert.deepStrictEqual(moves({ fields: { Flags: 0x20000 }, meta: { delivered_amount: "3" } }), [
      { from: alice, to: bob, drops: 3n }
    ])
  })

  it("moves nothing for what failed, moves no XRP, or is no payment", () => {
    const nodes = [account(alice, 9000, 3988), account(bob, 0, 5000)]
    assert.deepStrictEqual(moves({ meta: { TransactionResult: "tecPATH_DRY" }, nodes }), [])
    const inUsd = { Amount: usd("5"), SendMax: usd("6") }
    assert.deepStrictEqual(
      moves({ fields: inUsd, meta: { delivered_amount: usd("5") }, nodes: [account(alice, 50, 38), trustLine] }),
      []
    )
    for (const TransactionType of ["AccountDelete", "EscrowFinish", "CheckCash", "OfferCreate", "AccountSet"]) {
      assert.deepStrictEqual(moves({ fields: { TransactionType }, meta: { delivered_amount: "5000" }, nodes }), [])
    }
  })

  it("gives each account its own change where a payment exchanges currencies", () => {
    const dollars = { SendMax: usd("6") }
    assert.deepStrictEqual(
      moves({
        fields: dollars,
        meta: { delivered_amount: "5000" },
        nodes: [account(maker, 8000, 3000), trustLine, account(alice, 50, 38), account(bob, 1, 5001)]
      }),
      [
        { from: undefined, to: bob, drops: 5000n },
        { from: maker, to: undefined, drops: 5000n }
      ]
    )
    assert.deepStrictEqual(
      moves({
        fields: { Amount: usd("6"), SendMax: "7000" },
        meta: { delivered_amount: usd("6") },
        nodes: [account(alice, 10_000, 3988), account(maker, 0, 6000), trustLine]
      }),
      [
        { from: alice, to: undefined, drops: 6000n },
        { from: undefined, to: maker, drops: 6000n }
      ]
    )
    // To itself, and with the fee paid by a delegate.
    assert.deepStrictEqual(
      moves({
        fields: { ...dollars, Destination: alice, Delegate: maker },
        meta: { delivered_amount: "5000" },
        nodes: [account(maker, 100, 88), account(alice, 1, 5001), account(bob, 9000, 4000)]
      }),
      [
        { from: undefined, to: alice, drops: 5000n },
        { from: bob, to: undefined, drops: 5000n }
      ]
    )
  })

  it("invents no fee for a payer whom the metadata does not show", () => {
    assert.deepStrictEqual(moves({ fields: { Amount: usd("6"), SendMax: "7000" }, nodes: [account(maker, 0, 6)] }), [
      { from: undefined, to: maker, drops: 6n }
    ])
    // Gained exactly the fee: the entry shows no change of balance.
    assert.deepStrictEqual(moves({ fields: { Amount: usd("6"), SendMax: "7000" }, nodes: [account(alice, 5, 5)] }), [
      { from: undefined, to: alice, drops: 12n }
    ])
  })
})
