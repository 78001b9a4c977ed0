import { assert, describe, it } from "@effect/vitest"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as XrpTransfers from "@headwater/core/xrp/XrpTransfers"

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

/** Reads what can be read. */
const readOdd = (json: unknown, ledgerIndex = 90_000_000) => XrpTransaction.decode(json, ledgerIndex)

const read = (json: unknown, ledgerIndex?: number) => {
  const found = readOdd(json, ledgerIndex)
  assert.deepStrictEqual(found.unread, [])
  return found
}

const place = { position: 3, time: 1_700_000_000 }

const itemOf = (transaction: XrpTransaction.XrpTransaction) => XrpTransaction.toItem(transaction, place)

const item = (parts: Parts) => {
  const first = itemOf(read(version1(parts)))
  assert.deepStrictEqual(itemOf(read(version2(parts))), first)
  return first
}

const transfers = (parts: Parts, ledgerIndex?: number) => {
  const first = XrpTransfers.of(read(version1(parts), ledgerIndex))
  assert.deepStrictEqual(XrpTransfers.of(read(version2(parts), ledgerIndex)), first)
  return first
}

/** Transfers without their tags. */
const untagged = (found: ReadonlyArray<XrpTransfers.Transfer>) =>
  found.map(({ drops, from, to }) => ({ from, to, drops }))

const moves = (parts: Parts, ledgerIndex?: number) => untagged(transfers(parts, ledgerIndex))

/** What could not be read of a payment, the moves that are found even so, and what the interface shows. */
const odd = (parts: Parts, ledgerIndex?: number) => {
  const first = readOdd(version1(parts), ledgerIndex)
  const second = readOdd(version2(parts), ledgerIndex)
  assert.deepStrictEqual(second, first)
  return { unread: first.unread.join(", "), moves: untagged(XrpTransfers.of(first)), item: itemOf(first) }
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
    assert.deepStrictEqual(itemOf(old).receive, { amount: "0", unit: "XRP" })
    const oldXrp = { fields: { Flags: 0x20000, SendMax: usd("9") }, nodes: [account(bob, 10, 7010)] }
    assert.strictEqual(itemOf(read(version1(oldXrp), 4_594_094)).receive.amount, "0.007")
  })

  it("says what a partial payment of multi-purpose tokens delivered, though servers say its amount", () => {
    const issuance = `0000002A${"AB".repeat(20)}`
    const tokens = (value: string) => ({ mpt_issuance_id: issuance, value })
    const held = (Account: string, MPTAmount: string, before: object, id = issuance) => ({
      ModifiedNode: {
        LedgerEntryType: "MPToken",
        FinalFields: { Account, MPTAmount, MPTokenIssuanceID: id, Flags: 0 },
        PreviousFields: before
      }
    })
    const received = (nodes: ReadonlyArray<object>, meta: object = {}, Flags = 0x20000) =>
      item({ fields: { Flags, Amount: tokens("5000") }, nodes, meta: { delivered_amount: tokens("5000"), ...meta } })
        .receive
    const three = { amount: "3", unit: issuance }
    const payer = held(alice, "7", { MPTAmount: "10" })
    assert.deepStrictEqual(received([payer, held(bob, "9", { MPTAmount: "6" })]), three)
    // The first ones of the recipient, beside others of another issuance.
    const others = held(bob, "8", { MPTAmount: "1" }, `0000002B${"AB".repeat(20)}`)
    assert.deepStrictEqual(received([payer, others, held(bob, "3", {})]), three)
    const issued = (Sequence: number) => ({
      ModifiedNode: {
        LedgerEntryType: "MPTokenIssuance",
        FinalFields: { Issuer: bob, Sequence, OutstandingAmount: "7" },
        PreviousFields: { OutstandingAmount: "10" }
      }
    })
    assert.deepStrictEqual(received([payer, issued(43), issued(42)]), three)
    assert.deepStrictEqual(received([payer]), { amount: "0", unit: "" })
    // Since fixMPTDeliveredAmount the metadata tells, and what is no partial payment arrives whole.
    const told = { delivered_amount: tokens("3"), DeliveredAmount: tokens("3") }
    assert.deepStrictEqual(received([payer], told), three)
    assert.strictEqual(received([payer], {}, 0).amount, "5000")
  })

  it("shows an offer by what it gives, and no value", () => {
    const offer = { TransactionType: "OfferCreate", Amount: undefined, Destination: undefined }
    const { Amount: _, Destination: __, ...fields } = { ...fieldsOf(), ...offer }
    const json = { ...fields, TakerGets: usd("2.50"), TakerPays: "7", hash, metaData: metaOf({}) }
    const shown = itemOf(read(json))
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

  it("names who is paid by an escrow, a channel or a check, with its tag, and what arrived", () => {
    const shown = (TransactionType: string, nodes: ReadonlyArray<object>, fields: object = {}, meta: object = {}) => {
      const named = { TransactionType, Account: maker, Amount: undefined, Destination: undefined, ...fields }
      const { destinationTag, receive, recipient, sender } = item({ fields: named, meta, nodes })
      return [sender, recipient, destinationTag, receive]
    }
    const tagged = (type: string, kind: "DeletedNode" | "ModifiedNode") => promise(type, { DestinationTag: 9 }, kind)
    const xrp = { amount: "0.005", unit: "XRP" }
    const nothing = { amount: "0", unit: "XRP" }
    const escrow = tagged("Escrow", "DeletedNode")
    assert.deepStrictEqual(shown("EscrowFinish", [fee12(maker), escrow, account(bob, 1, 5001)]), [maker, bob, 9, xrp])
    // The destination fulfils the channel or the check itself, and pays the fee; the rest of the channel goes back.
    const claimed = [tagged("PayChannel", "DeletedNode"), account(bob, 100, 5088), account(alice, 1, 9000)]
    assert.deepStrictEqual(shown("PaymentChannelClaim", claimed, { Account: bob }), [bob, bob, 9, xrp])
    const check = tagged("Check", "DeletedNode")
    const cashed = [check, account(bob, 100, 5088), account(alice, 9000, 4000)]
    assert.deepStrictEqual(shown("CheckCash", cashed, { Account: bob, Amount: "5000" }), [bob, bob, 9, xrp])
    assert.deepStrictEqual(
      shown("CheckCash", [check, fee12(bob)], { Account: bob, Amount: usd("3") }, { delivered_amount: usd("3") }),
      [bob, bob, 9, { amount: "3", unit: "USD" }]
    )
    // A token that an escrow held: metadata says nothing of what is delivered.
    const held = (more: object) => promise("Escrow", { DestinationTag: 9, ...more }, "DeletedNode")
    const finished = (more: object) => shown("EscrowFinish", [fee12(maker), held(more), trustLine])
    assert.deepStrictEqual(finished({ Amount: usd("3") }), [maker, bob, 9, { amount: "3", unit: "USD" }])
    const shares = { mpt_issuance_id: "AB".repeat(24), value: "7" }
    assert.deepStrictEqual(finished({ Amount: shares }), [maker, bob, 9, { amount: "7", unit: "AB".repeat(24) }])
    const taxed = { Amount: usd("3"), TransferRate: 1_100_000_000 }
    assert.deepStrictEqual(finished(taxed), [maker, bob, 9, { amount: "0", unit: "" }])
    // An escrow for the account itself, which ends without it.
    const own = [fee12(maker), held({ Destination: alice }), account(alice, 1, 5001)]
    assert.deepStrictEqual(shown("EscrowFinish", own), [maker, alice, 9, xrp])
    assert.deepStrictEqual(shown("EscrowCancel", own), [maker, "", undefined, nothing])
    assert.deepStrictEqual(shown("EscrowCancel", [fee12(maker), held({ Amount: usd("3") }), trustLine]), [
      maker,
      "",
      undefined,
      nothing
    ])
    // What comes back to the account is paid to nobody, and what failed to no one.
    const back = [fee12(maker), escrow, account(alice, 1, 5001)]
    assert.deepStrictEqual(shown("EscrowCancel", back), [maker, "", undefined, nothing])
    assert.deepStrictEqual(shown("CheckCancel", [check, fee12(bob)], { Account: bob }), [bob, "", undefined, nothing])
    const funded = [tagged("PayChannel", "ModifiedNode"), account(maker, 9000, 3988)]
    assert.deepStrictEqual(shown("PaymentChannelFund", funded, { Amount: "5000" }), [maker, "", undefined, nothing])
    const failed = { TransactionResult: "tecNO_PERMISSION" }
    assert.deepStrictEqual(shown("EscrowFinish", [fee12(maker)], {}, failed), [maker, "", undefined, nothing])
    // A type with a destination that says nothing of what is delivered, and one that only promises it.
    const from = [account(maker, 100, 88), account(bob, 1, 5001)]
    assert.deepStrictEqual(shown("VaultWithdraw", from, { Destination: bob }), [maker, bob, undefined, xrp])
    const created = [promise("Escrow", {}, "CreatedNode"), account(maker, 9000, 3988)]
    assert.deepStrictEqual(shown("EscrowCreate", created, { Destination: bob }), [maker, bob, undefined, nothing])
  })

  it("reads types to come, whatever they call an amount", () => {
    const loan = version1({ fields: { TransactionType: "LoanSet", Amount: { principal: 5 } } })
    assert.deepStrictEqual(itemOf(read(loan)).value, { amount: "0", unit: "" })
    const pseudo = { ...fieldsOf({ TransactionType: "UNLModify", Account: "", Fee: "0" }), Destination: { new: 1 } }
    const shown = itemOf(read({ ...pseudo, hash, metaData: metaOf({}) }))
    assert.deepStrictEqual([shown.sender, shown.recipient, shown.fee.amount], ["", "", "0"])
  })

  it("names each field that it cannot read, and reads the others", () => {
    const rules: ReadonlyArray<readonly [Parts, string]> = [
      [{ fields: { Destination: "bob" } }, "Destination must be a classic address"],
      [{ fields: { Account: "" } }, "Account must be a classic address"],
      [{ fields: { Account: "bob" } }, "Account must be a classic address"],
      [{ fields: { Amount: "5.5" } }, "Amount must be drops, or a currency or token with a value"],
      [{ fields: { Amount: undefined } }, "Amount must be drops, or a currency or token with a value"],
      [{ fields: { Fee: 12 } }, "Fee must be drops of XRP"],
      [{ fields: { Flags: -1 } }, "Flags must be a number of 32 bits"],
      [{ fields: { DestinationTag: "5" } }, "DestinationTag must be a number of 32 bits"],
      [{ fields: { Delegate: { new: 1 } } }, "Delegate must be a classic address"],
      [{ meta: { TransactionIndex: -1 } }, "TransactionIndex must be a number of 32 bits"],
      [{ meta: { TransactionResult: 0 } }, "TransactionResult must be a name"],
      [{ meta: { AffectedNodes: {} } }, "AffectedNodes must be ledger entries, with balances of accounts in drops"]
    ]
    const normal = item({ meta: { delivered_amount: "5000" } })
    for (const [{ fields, meta }, rule] of rules) {
      const { item: shown, unread } = odd({ fields: fields ?? {}, meta: { delivered_amount: "5000", ...meta } })
      assert.strictEqual(unread, rule)
      assert.deepStrictEqual([shown.hash, shown.type, shown.timestamp], [normal.hash, normal.type, normal.timestamp])
      for (const name of ["sender", "recipient", "status"] as const) assert.include([normal[name], ""], shown[name])
      for (const name of ["value", "fee", "receive"] as const) {
        assert.deepInclude([normal[name], { amount: "0", unit: "" }], shown[name], rule)
      }
    }
    assert.deepStrictEqual(readOdd({ ...version1({}), hash: "00" }).unread, ["hash must be 64 hexadecimal digits"])
  })

  it("reads nothing of what is no transaction, and says no amount of it", () => {
    const unknown = { amount: "0", unit: "" }
    for (const json of [undefined, null, "x", 5, [], {}, { tx_json: 5, meta: "00" }]) {
      const found = readOdd(json)
      assert.strictEqual(found.unread.length, 6, JSON.stringify(json))
      assert.strictEqual(found.position, undefined)
      assert.deepStrictEqual(XrpTransfers.of(found), [])
      const text = { hash: "", recipient: "", sender: "", status: "", type: "" }
      assert.deepStrictEqual(itemOf(found), {
        ...text,
        ...{ positionInBlock: 3, timestamp: 1_700_000_000 },
        ...{ offer: unknown, fee: unknown, receive: unknown, value: unknown }
      })
    }
    // Without metadata nobody knows what became of a transaction.
    const { metaData: _, ...alone } = version1({})
    const shown = itemOf(readOdd(alone))
    assert.deepStrictEqual([shown.status, shown.value.amount, shown.receive], ["", "0.005", unknown])
  })
})

/** The last entry of an account that is gone, as `AccountDelete` leaves it. */
const deleted = (Account: string, before: number) => ({
  DeletedNode: {
    LedgerEntryType: "AccountRoot",
    FinalFields: { Account, Balance: "0", Flags: 0 },
    PreviousFields: { Balance: String(before) }
  }
})
/** An escrow, a payment channel or a check of alice's for bob. */
const promise = (LedgerEntryType: string, tags: object, kind: "DeletedNode" | "ModifiedNode" | "CreatedNode") => {
  const fields = { Account: alice, Destination: bob, Amount: "5000", ...tags }
  const shown = kind === "CreatedNode" ? { NewFields: fields } : { FinalFields: fields, PreviousFields: {} }
  return { [kind]: { LedgerEntryType, LedgerIndex: "00", ...shown } }
}
const fee12 = (Account: string) => account(Account, 100, 88)

describe("XrpTransfers", () => {
  it("moves what was delivered from sender to recipient", () => {
    const direct = [{ from: alice, to: bob, drops: 5000n }]
    assert.deepStrictEqual(moves({ meta: { delivered_amount: "5000" } }), direct)
    assert.deepStrictEqual(moves({ nodes: [account(alice, 9000, 3988), created(bob, 5000)] }), direct)
    assert.deepStrictEqual(moves({ fields: { Flags: 0x20000 }, meta: { delivered_amount: "3" } }), [
      { from: alice, to: bob, drops: 3n }
    ])
  })

  it("moves nothing for what failed, or moves no XRP", () => {
    const nodes = [account(alice, 9000, 3988), account(bob, 0, 5000)]
    for (const TransactionType of ["Payment", "EscrowFinish", "OfferCreate"]) {
      const fields = { TransactionType }
      assert.deepStrictEqual(moves({ fields, meta: { TransactionResult: "tecPATH_DRY" }, nodes }), [])
      // The fee of a poor account is all that it has.
      assert.deepStrictEqual(
        moves({ fields, meta: { TransactionResult: "tecINSUFF_FEE" }, nodes: [account(alice, 7, 0)] }),
        []
      )
    }
    assert.deepStrictEqual(moves({ fields: { TransactionType: "TrustSet" }, nodes: [fee12(alice), trustLine] }), [])
    const inUsd = { Amount: usd("5"), SendMax: usd("6") }
    assert.deepStrictEqual(
      moves({ fields: inUsd, meta: { delivered_amount: usd("5") }, nodes: [account(alice, 50, 38), trustLine] }),
      []
    )
  })

  it("gives each account what its balance changed by, beside the fee that it paid, whatever the transaction", () => {
    const found = (TransactionType: string, nodes: ReadonlyArray<object>, fields: object = {}) =>
      moves({ fields: { TransactionType, Amount: undefined, ...fields }, nodes })
    // An offer that was taken, and the one who took it.
    assert.deepStrictEqual(found("OfferCreate", [account(maker, 8000, 3000), trustLine, account(alice, 50, 5038)]), [
      { from: maker, to: undefined, drops: 5000n },
      { from: undefined, to: alice, drops: 5000n }
    ])
    // A stranger finishes the escrow of another.
    assert.deepStrictEqual(
      found("EscrowFinish", [fee12(maker), promise("Escrow", {}, "DeletedNode"), account(bob, 1, 5001)], {
        Account: maker,
        Destination: undefined
      }),
      [{ from: undefined, to: bob, drops: 5000n }]
    )
    assert.deepStrictEqual(found("EscrowCreate", [account(alice, 9000, 3988), promise("Escrow", {}, "CreatedNode")]), [
      { from: alice, to: undefined, drops: 5000n }
    ])
    // A check that is cashed by its destination; a channel that pays and gives the rest back.
    assert.deepStrictEqual(found("CheckCash", [account(alice, 9000, 4000), account(bob, 1, 4989)], { Account: bob }), [
      { from: alice, to: undefined, drops: 5000n },
      { from: undefined, to: bob, drops: 5000n }
    ])
    assert.deepStrictEqual(
      found("PaymentChannelClaim", [account(bob, 1, 4989), account(alice, 1, 2)], { Account: bob }),
      [
        { from: undefined, to: bob, drops: 5000n },
        { from: undefined, to: alice, drops: 1n }
      ]
    )
    assert.deepStrictEqual(
      found("NFTokenAcceptOffer", [account(alice, 9000, 3988), account(bob, 0, 4900), account(maker, 0, 100)]),
      [
        { from: alice, to: undefined, drops: 5000n },
        { from: undefined, to: bob, drops: 4900n },
        { from: undefined, to: maker, drops: 100n }
      ]
    )
    assert.deepStrictEqual(
      found("AccountDelete", [deleted(alice, 2_005_000), account(bob, 1, 5001)], { Fee: "2000000" }),
      [
        { from: alice, to: undefined, drops: 5000n },
        { from: undefined, to: bob, drops: 5000n }
      ]
    )
    // Types that are yet to come.
    assert.deepStrictEqual(
      found("LoanPay", [account(alice, 9000, 3988), account(maker, 0, 5000)], { Amount: { new: 1 } }),
      [
        { from: alice, to: undefined, drops: 5000n },
        { from: undefined, to: maker, drops: 5000n }
      ]
    )
  })

  it("takes the fee from who paid it", () => {
    const fields = { TransactionType: "EscrowCreate", Amount: undefined }
    assert.deepStrictEqual(
      moves({ fields: { ...fields, Delegate: maker }, nodes: [account(alice, 9000, 4000), fee12(maker)] }),
      [{ from: alice, to: undefined, drops: 5000n }]
    )
    // A delegate that is paid as well.
    assert.deepStrictEqual(
      moves({
        fields: { Delegate: bob },
        meta: { delivered_amount: "5000" },
        nodes: [account(alice, 9000, 4000), account(bob, 100, 5088)]
      }),
      [{ from: alice, to: bob, drops: 5000n }]
    )
    // A sponsor that has signed, and one that had put XRP by, which is in no account (XLS-68).
    const sponsored = { Sponsor: maker, SponsorFlags: 3 }
    const sponsorship = (owner: string, sponsee: string) => ({
      ModifiedNode: {
        LedgerEntryType: "Sponsorship",
        FinalFields: { FeeAmount: "88", Flags: 0, Owner: owner, Sponsee: sponsee },
        PreviousFields: { FeeAmount: "100" }
      }
    })
    const moved = [{ from: alice, to: bob, drops: 5000n }]
    const both = [account(alice, 9000, 4000), account(bob, 0, 5000)]
    assert.deepStrictEqual(moves({ fields: sponsored, nodes: [...both, fee12(maker)] }), moved)
    assert.deepStrictEqual(moves({ fields: sponsored, nodes: [...both, sponsorship(maker, alice)] }), moved)
    assert.deepStrictEqual(
      moves({ fields: { ...sponsored, Delegate: bob }, nodes: [...both, sponsorship(maker, bob)] }),
      moved
    )
    // The sponsorship is of somebody else.
    assert.deepStrictEqual(moves({ fields: sponsored, nodes: [...both, fee12(maker), sponsorship(maker, bob)] }), moved)
    // A reserve that is sponsored is no fee.
    assert.deepStrictEqual(
      moves({
        fields: { ...sponsored, SponsorFlags: 2 },
        nodes: [account(alice, 9000, 3988), account(bob, 0, 5000)]
      }),
      moved
    )
    // A Batch pays for its inner transactions, which pay none.
    assert.deepStrictEqual(
      moves({ fields: { TransactionType: "Batch", Fee: "60" }, nodes: [account(alice, 100, 40)] }),
      []
    )
    for (const Fee of ["0", "12"]) {
      const inner = { ...fields, Fee, Flags: 0x4000_0000 }
      assert.deepStrictEqual(moves({ fields: inner, nodes: [account(alice, 9000, 4000)] }), [
        { from: alice, to: undefined, drops: 5000n }
      ])
    }
    // Nobody pays for what validators say.
    const pseudo = { TransactionType: "UNLModify", Account: "", Fee: "0", Amount: undefined, Destination: undefined }
    assert.deepStrictEqual(moves({ fields: pseudo, nodes: [] }), [])
  })

  it("gives the recipient of a payment what was delivered, and the rest of its change apart", () => {
    // The payment takes an offer of the recipient's own.
    const parts = {
      fields: { SendMax: usd("6") },
      meta: { delivered_amount: "5000" },
      nodes: [account(bob, 9000, 11_000), account(maker, 8000, 6000), account(alice, 50, 38), trustLine]
    }
    assert.deepStrictEqual(moves(parts), [
      { from: undefined, to: bob, drops: 5000n },
      { from: maker, to: undefined, drops: 2000n },
      { from: bob, to: undefined, drops: 3000n }
    ])
    const even = [account(bob, 9000, 9000), account(alice, 50, 38), trustLine]
    assert.deepStrictEqual(moves({ ...parts, nodes: even }), [
      { from: undefined, to: bob, drops: 5000n },
      { from: bob, to: undefined, drops: 5000n }
    ])
  })

  it("says the tags of the two sides, to those whom they concern", () => {
    const tags = { SourceTag: 7, DestinationTag: 9 }
    const tagged = (parts: Parts) =>
      transfers(parts).map(({ destinationTag, from, fromTag, sourceTag, to, toTag }) => [
        from === undefined ? "to" : to === undefined ? "from" : "both",
        to ?? from,
        { fromTag, toTag, sourceTag, destinationTag }
      ])
    const none = { fromTag: undefined, toTag: undefined, sourceTag: undefined, destinationTag: undefined }
    const shown = { sourceTag: 7, destinationTag: 9 }
    assert.deepStrictEqual(tagged({ fields: tags, meta: { delivered_amount: "5000" } }), [
      ["both", bob, { ...shown, fromTag: 7, toTag: 9 }]
    ])
    assert.deepStrictEqual(tagged({ fields: { SourceTag: 0 }, meta: { delivered_amount: "5000" } }), [
      ["both", bob, { ...none, fromTag: 0, sourceTag: 0 }]
    ])
    // Whose offer was taken is no party of the payment.
    assert.deepStrictEqual(
      tagged({
        fields: { ...tags, SendMax: usd("6") },
        meta: { delivered_amount: "5000" },
        nodes: [account(maker, 8000, 3000), account(alice, 50, 38), account(bob, 1, 5001)]
      }),
      [
        ["to", bob, { ...none, ...shown, toTag: 9 }],
        ["from", maker, none]
      ]
    )
    assert.deepStrictEqual(
      tagged({
        fields: { ...tags, Amount: usd("6"), SendMax: "7000" },
        meta: { delivered_amount: usd("6") },
        nodes: [account(alice, 10_000, 3988), account(maker, 0, 6000), trustLine]
      }),
      [
        ["from", alice, { ...none, ...shown, fromTag: 7 }],
        ["to", maker, none]
      ]
    )
    // An escrow, a channel and a check say their own tags; the one who fulfils them has tags of its own.
    for (const [type, by] of [
      ["Escrow", maker],
      ["PayChannel", bob],
      ["Check", bob]
    ] as const) {
      const fields = { TransactionType: "Fulfil", Account: by, Destination: undefined, SourceTag: 1, DestinationTag: 2 }
      const nodes = [
        promise(type, tags, "DeletedNode"),
        account(alice, 9, 5),
        account(bob, 1, by === bob ? 4989 : 5001)
      ]
      assert.deepStrictEqual(
        tagged({ fields: { ...fields, Amount: undefined }, nodes: by === bob ? nodes : [...nodes, fee12(by)] }),
        [
          ["from", alice, { ...none, ...shown, fromTag: 7 }],
          ["to", bob, { ...none, ...shown, toTag: 9 }]
        ]
      )
      // What goes back to the account is not for a user of its destination.
      assert.deepStrictEqual(
        tagged({
          fields: { ...fields, Amount: undefined },
          nodes: [promise(type, tags, "ModifiedNode"), account(alice, 1, 9)]
        }),
        [["to", alice, { ...none, sourceTag: 7, toTag: 7 }]]
      )
    }
    assert.deepStrictEqual(odd({ fields: { SourceTag: -1 } }).unread, "SourceTag must be a number of 32 bits")
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

  const strange = { vault: "00", shares: "5" }
  const long = usd("1e-100")

  it("takes what arrived from the balances where delivered_amount cannot be read", () => {
    const nodes = [account(alice, 9000, 3988), account(bob, 1, 5001)]
    for (const delivered_amount of ["-1", strange, long, null, 5]) {
      const {
        item: shown,
        moves: found,
        unread
      } = odd({ fields: { Flags: 0x20000 }, meta: { delivered_amount }, nodes })
      assert.include(unread, "delivered_amount must be drops")
      assert.deepStrictEqual(found, [{ from: alice, to: bob, drops: 5000n }])
      assert.deepStrictEqual(shown.receive, { amount: "0.005", unit: "XRP" })
      // In an exchange the others have their own changes.
      const exchanged = [account(maker, 6000, 1000), trustLine, account(alice, 50, 38), account(bob, 1, 5001)]
      assert.deepStrictEqual(
        odd({ fields: { SendMax: usd("6") }, meta: { delivered_amount }, nodes: exchanged }).moves,
        [
          { from: undefined, to: bob, drops: 5000n },
          { from: maker, to: undefined, drops: 5000n }
        ]
      )
    }
    // As the ledger has it: the recipient of "-1" has paid a drop.
    const paid = odd({
      fields: { Flags: 0x20000, SendMax: usd("6") },
      meta: { delivered_amount: "-1" },
      nodes: [account(alice, 50, 38), account(bob, 100, 99), account(maker, 7, 8)]
    })
    assert.deepStrictEqual(paid.moves, [
      { from: bob, to: undefined, drops: 1n },
      { from: undefined, to: maker, drops: 1n }
    ])
    assert.deepStrictEqual(paid.item.receive, { amount: "-0.000001", unit: "XRP" })
    assert.strictEqual(paid.unread, "")
    // A payment of something else delivers no XRP, whatever XRP its recipient gained.
    const other = odd({ fields: { Amount: usd("5") }, meta: { delivered_amount: strange }, nodes })
    assert.deepStrictEqual(other.item.receive, { amount: "0", unit: "" })
  })

  it("gives each account its own change where Amount or SendMax cannot be read", () => {
    const nodes = [account(alice, 9000, 3988), account(bob, 1, 5001)]
    const both = [
      { from: undefined, to: bob, drops: 5000n },
      { from: alice, to: undefined, drops: 5000n }
    ]
    for (const form of [strange, long, "5e3", "-5000", null]) {
      const known = odd({ fields: { Amount: form }, meta: { delivered_amount: "5000" }, nodes })
      assert.include(known.unread, "Amount must be drops")
      assert.deepStrictEqual(known.moves, both)
      assert.deepStrictEqual(known.item.value, { amount: "0", unit: "" })
      assert.deepStrictEqual(known.item.receive, { amount: "0.005", unit: "XRP" })
      const unknown = odd({ fields: { Amount: form }, nodes })
      assert.deepStrictEqual(unknown.moves, both.toReversed())
      assert.deepStrictEqual(unknown.item.receive, { amount: "0", unit: "" })
      assert.deepStrictEqual(odd({ fields: { SendMax: form }, nodes }).moves, both)
      assert.deepStrictEqual(odd({ fields: { Amount: form }, nodes: [account(alice, 50, 38), trustLine] }).moves, [])
    }
  })

  it("moves nothing that the metadata does not say for certain", () => {
    const unclear: ReadonlyArray<Parts> = [
      { nodes: [account(bob, 1, 5001), { ModifiedNode: { LedgerEntryType: "AccountRoot", FinalFields: strange } }] },
      { nodes: [account(bob, 1, 5001), { MovedNode: { LedgerEntryType: "AccountRoot" } }] },
      { nodes: [account(bob, 1, 5001), 5 as never] },
      { fields: { Fee: usd("1") }, nodes: [account(bob, 1, 5001)] },
      { fields: { Delegate: strange }, nodes: [account(bob, 1, 5001)] },
      { fields: { Sponsor: strange, SponsorFlags: 1 }, nodes: [account(bob, 1, 5001)] },
      { fields: { Sponsor: maker, SponsorFlags: strange }, nodes: [account(bob, 1, 5001)] },
      { fields: { Account: strange }, nodes: [account(bob, 1, 5001)] },
      { meta: { TransactionResult: strange }, nodes: [account(bob, 1, 5001)] },
      { meta: { AffectedNodes: undefined } }
    ]
    for (const { fields, meta, nodes } of unclear) {
      const parts = { fields: { ...fields }, meta: { delivered_amount: "-1", ...meta }, nodes: nodes ?? [] }
      assert.deepStrictEqual(odd(parts).moves, [], JSON.stringify(parts))
    }
    // A delivered amount that is said needs no balances.
    const said = { fields: { Delegate: strange }, meta: { delivered_amount: "5000", AffectedNodes: strange } }
    assert.deepStrictEqual(odd(said).moves, [{ from: alice, to: bob, drops: 5000n }])
    assert.deepStrictEqual(odd({ ...said, fields: { Account: strange } }).moves, [
      { from: undefined, to: bob, drops: 5000n }
    ])
    // Who received it is told by the balances alone.
    assert.deepStrictEqual(
      odd({ fields: { Destination: strange }, meta: { delivered_amount: "5" }, nodes: [account(bob, 1, 6)] }).moves,
      [{ from: undefined, to: bob, drops: 5n }]
    )
  })

  it("reads balances below zero, and entries without the fields that did not change", () => {
    const untouched = { ModifiedNode: { LedgerEntryType: "AccountRoot", LedgerIndex: "00" } }
    const empty = {
      CreatedNode: { LedgerEntryType: "AccountRoot", NewFields: { Account: "rrrrrrrrrrrrrrrrrrrrBZbvji" } }
    }
    assert.deepStrictEqual(
      moves({
        fields: { Amount: usd("6"), SendMax: "7000" },
        nodes: [account(maker, 3, -2), untouched, empty, account(bob, -2, 3)]
      }),
      [
        { from: maker, to: undefined, drops: 5n },
        { from: undefined, to: bob, drops: 5n }
      ]
    )
  })
})
