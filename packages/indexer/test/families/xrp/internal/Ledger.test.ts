import { createHash } from "node:crypto"
import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { CoinTransfer, Transfer } from "@headwater/core/Block"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as XrpTransfers from "@headwater/core/xrp/XrpTransfers"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Result from "effect/Result"
import { getBalanceChanges, hashes } from "xrpl"
import * as Ledger from "../../../../src/families/xrp/internal/Ledger.ts"
import * as LedgerHash from "../../../../src/families/xrp/internal/LedgerHash.ts"
import * as Fixtures from "../../../Fixtures.ts"
import { account, chainOf, mainnet } from "../XrpLedgers.ts"
import { type Json, version2 } from "../XrpServer.ts"

const answer = (ledger: Json, validated = true) => ({ ledger, ledger_index: Number(ledger.ledger_index), validated })

const read = (ledger: Json): Ledger.Ledger => {
  const found = Result.getOrThrow(TimeSlice.atOnce(Ledger.decode(answer(ledger))))
  assert.isDefined(found)
  return found!
}

const toBlock = (...of: Parameters<typeof Ledger.toBlock>) => TimeSlice.atOnce(Ledger.toBlock(...of))

const refusal = (ledger: Json): string => {
  const result = TimeSlice.atOnce(Ledger.decode(answer(ledger)))
  return Result.isFailure(result) ? result.failure : assert.fail("was read")
}

const one = chainOf(9_000_000, 1, () => [
  { from: 1, to: 2, drops: 5n },
  { from: 2, to: 3, drops: 7n }
])[0]!

const text = (bytes: Address.AddressBytes | undefined) => bytes && Address.encode(mainnet, bytes)

/** `account ±drops` of each side of each move. */
const sides = (transfers: ReadonlyArray<CoinTransfer>): ReadonlyArray<string> =>
  transfers
    .flatMap(({ amount, from, to }) => [
      ...(from === undefined ? [] : [`${text(from)} -${amount}`]),
      ...(to === undefined ? [] : [`${text(to)} +${amount}`])
    ])
    .sort()

describe("Ledger", () => {
  it("reads both API versions alike, in order of execution", () => {
    const ledger = read(one)
    assert.deepStrictEqual(
      ledger.transactions.map(({ position }) => position),
      [0, 1]
    )
    const plain = (from: Ledger.Ledger) => from.transactions.map(({ raw: _, ...transaction }) => transaction)
    assert.deepStrictEqual(plain(read(version2(one))), plain(ledger))
    const block = toBlock(mainnet, ledger)
    assert.isUndefined(block.notUnderstood)
    assert.strictEqual(block.height, 9_000_000)
    assert.strictEqual(block.time, 700_000_000 + 36_000_000 + 946_684_800)
    assert.strictEqual(Buffer.from(block.hash).toString("hex").toUpperCase(), one.ledger_hash)
    assert.strictEqual(Buffer.from(block.parent).toString("hex").toUpperCase(), one.parent_hash)
    assert.deepStrictEqual(
      block.transfers.map((transfer) => ({ ...transfer, from: text(transfer.from as never) })),
      [
        {
          ...{ kind: "coin", transaction: 0, position: 0, from: account(1), to: block.transfers[0]!.to, amount: 5n },
          details: { transactionType: "Payment" }
        },
        {
          ...{ kind: "coin", transaction: 1, position: 0, from: account(2), to: block.transfers[1]!.to, amount: 7n },
          details: { transactionType: "Payment" }
        }
      ]
    )
  })

  it("is not there until it is validated", () => {
    for (const validated of [false, undefined]) {
      const found = { ...answer(one), validated }
      if (validated === undefined) delete (found as { validated?: boolean }).validated
      assert.strictEqual(Result.getOrThrow(TimeSlice.atOnce(Ledger.decode(found))), undefined)
      assert.strictEqual(Result.getOrThrow(Ledger.decodeHeader(found)), undefined)
    }
  })

  it("refuses what contradicts itself, naming field and rule", () => {
    const { transactions: _, ...header } = one
    assert.include(refusal(header), "ledger.transactions must be there")
    assert.include(refusal({ ...one, transactions: [] }), "transaction_hash is not")
    // A server that does not expand transactions must not pass for odd transactions.
    for (const unexpanded of ["AB".repeat(32), { tx_blob: "00", meta: "00", hash: "AB".repeat(32) }]) {
      assert.include(refusal({ ...one, transactions: [unexpanded, unexpanded] }), "are not expanded")
    }
    assert.include(refusal({ ...one, parent_hash: one.account_hash }), "ledger_hash is not the hash")
    assert.include(refusal({ ...one, close_time: -1 }), "close_time")
    for (const wrong of [undefined, null, {}, { ledger: {} }, "x", 5]) {
      assert.isTrue(Result.isFailure(TimeSlice.atOnce(Ledger.decode(wrong))))
      assert.isTrue(Result.isFailure(Ledger.decodeHeader(wrong)))
    }
  })

  const changed = (index: number, change: (payment: Json) => unknown) => ({
    ...one,
    transactions: one.transactions.map((each: Json) =>
      each.metaData.TransactionIndex === index ? change(structuredClone(each)) : each
    )
  })
  const oddBlock = (ledger: Json) => {
    const block = toBlock(mainnet, read(ledger))
    return { block, notUnderstood: block.notUnderstood ?? [] }
  }
  const [first, second] = oddBlock(one).block.transfers as [Transfer, Transfer]

  it("goes on without a transaction that cannot be read, in its place, and names it", () => {
    const hash = new Uint8Array(Buffer.from(read(one).transactions[0]!.hash, "hex"))
    const odd: ReadonlyArray<readonly [(payment: Json) => unknown, Uint8Array | undefined, string]> = [
      [() => "AB".repeat(32), undefined, "hash must be 64 hexadecimal digits"],
      [() => null, undefined, "hash must be 64 hexadecimal digits"],
      [({ metaData: _, ...rest }) => rest, hash, "TransactionIndex must be a number"],
      [({ hash: _, ...rest }) => rest, undefined, "hash must be 64 hexadecimal digits"],
      // The letters and the length of an address, and no address.
      [(payment) => ({ ...payment, Destination: "rrrrrrrrrrrrrrrrrrrrrhoLvTq" }), hash, "checksum"]
    ]
    for (const [change, id, rule] of odd) {
      const { block, notUnderstood } = oddBlock(changed(0, change))
      assert.deepStrictEqual(block.transfers, [second])
      assert.strictEqual(notUnderstood.length, 1)
      assert.deepStrictEqual([notUnderstood[0]!.transactionId, notUnderstood[0]!.transfers], [id, 0])
      assert.include(notUnderstood[0]!.reason, rule)
      assert.strictEqual(block.transactions.length, 2)
    }
    // Two of three take the gaps that the third leaves.
    const three = oddBlock({ ...one, transactions: [null, ...changed(0, () => 5).transactions] })
    assert.deepStrictEqual(three.block.transfers, [second])
    assert.deepStrictEqual(
      three.notUnderstood.map(({ raw }) => raw),
      ["null", "5"]
    )
  })

  it("uses a transaction whose place in the ledger is not told, and names it", () => {
    const [last, before] = one.transactions
    const numbered = (payment: Json, TransactionIndex: unknown) => ({
      ...payment,
      metaData: { ...payment.metaData, TransactionIndex }
    })
    const cases: ReadonlyArray<readonly [ReadonlyArray<Json>, string, number]> = [
      [[last, numbered(before, 1)], "TransactionIndex 1 is that of another transaction as well", 2],
      [[numbered(last, 2 ** 32 - 1), before], "TransactionIndex 4294967295 is not one of 2 transactions", 1],
      [[numbered(last, "1"), before], "TransactionIndex must be a number", 1],
      // None of them shows an index.
      [[numbered(last, undefined), numbered(before, null)], "TransactionIndex must be a number", 2]
    ]
    for (const [transactions, rule, count] of cases) {
      const { block, notUnderstood } = oddBlock({ ...one, transactions })
      assert.sameDeepMembers(
        block.transfers.map(({ transaction: _, ...rest }) => rest),
        [first, second].map(({ transaction: _, ...rest }) => rest)
      )
      assert.deepStrictEqual(
        notUnderstood.map(({ transfers }) => transfers),
        Array(count).fill(1)
      )
      for (const { reason } of notUnderstood) assert.include(reason, rule)
    }
  })

  it("takes a payment of an unknown form from the balances that it changed", () => {
    const { block, notUnderstood } = oddBlock(
      changed(0, (payment) => ({ ...payment, metaData: { ...payment.metaData, delivered_amount: "-1" } }))
    )
    assert.deepStrictEqual(block.transfers, [first, second])
    assert.deepStrictEqual(
      notUnderstood.map(({ transfers }) => transfers),
      [1]
    )
    assert.match(notUnderstood[0]!.reason, /^delivered_amount must be drops/)
  })
})

const folder = "xrp/rippled-historical-database/test/mock/ledgers/"
const recordedNames = Fixtures.exist ? readdirSync(Fixtures.path(folder)).sort() : []
const recorded = () => recordedNames.map((name) => Fixtures.json(encodeURI(folder + name)) as Json)

/** Every recorded transaction with its metadata, in whatever form, from ledgers and by itself. */
const recordedTransactions = () => {
  const found = new Map<string, { source: Json; metadata: Json; transaction: XrpTransaction.XrpTransaction }>()
  const look = (json: unknown) => {
    if (typeof json !== "object" || json === null) return
    const entry = json as Json
    const metadata = entry.metaData ?? entry.meta
    if (typeof metadata === "object" && Array.isArray(metadata.AffectedNodes)) {
      const source: Json = entry.tx_json ?? entry.tx ?? entry.transaction ?? entry
      const hash: string = source.hash ?? entry.hash ?? createHash("sha256").update(JSON.stringify(entry)).digest("hex")
      const whole = { tx_json: source, meta: { TransactionIndex: 0, ...metadata }, hash }
      found.set(hash, { source, metadata, transaction: XrpTransaction.decode(whole, 90_000_000) })
    } else {
      for (const each of Object.values(entry)) look(each)
    }
  }
  for (const name of readdirSync(Fixtures.path("xrp/"), { recursive: true, encoding: "utf8" }).sort()) {
    // Some documentation leaves out parts of its JSON.
    if (name.endsWith(".json")) look(Result.getOrUndefined(Result.try(() => Fixtures.json(encodeURI(`xrp/${name}`)))))
  }
  return [...found.values()]
}

describe.skipIf(!Fixtures.exist)("recorded ledgers", () => {
  it("each yields exactly its transactions, in order, with every field of the interface", () => {
    let seen = 0
    for (const ledger of recorded()) {
      for (const found of [read(ledger), read(version2(ledger))]) {
        const inOrder = ledger.transactions.toSorted(
          (a: Json, b: Json) => a.metaData.TransactionIndex - b.metaData.TransactionIndex
        )
        assert.strictEqual(found.transactions.length, inOrder.length)
        for (const [index, transaction] of found.transactions.entries()) {
          const source: Json = inOrder[index]
          const item = XrpTransaction.toItem(transaction, { position: index, time: found.time })
          assert.strictEqual(item.hash, source.hash)
          assert.strictEqual(item.positionInBlock, index)
          assert.strictEqual(item.sender, source.Account)
          assert.strictEqual(item.recipient, source.Destination ?? "")
          assert.strictEqual(item.destinationTag, source.DestinationTag)
          assert.strictEqual(item.status, source.metaData.TransactionResult)
          assert.strictEqual(item.type, source.TransactionType)
          assert.strictEqual(item.timestamp, ledger.close_time + 946_684_800)
          assert.strictEqual(Number(item.fee.amount) * 1e6, Number(source.Fee))
          const unit = (amount: string | Json | undefined) =>
            amount === undefined || typeof amount === "string" ? "XRP" : amount.currency
          const number = (amount: string | Json | undefined) =>
            amount === undefined ? 0 : typeof amount === "string" ? Number(amount) / 1e6 : Number(amount.value)
          const close = (shown: { amount: string; unit: string }, amount: string | Json | undefined) => {
            if (unit(amount).length === 3) assert.strictEqual(shown.unit, unit(amount))
            assert.notMatch(shown.amount, /e/i)
            assert.isBelow(Math.abs(Number(shown.amount) - number(amount)), Math.max(number(amount), 1) * 1e-12)
          }
          close(item.value, source.Amount)
          close(item.offer, source.TakerGets)
          const succeeded = source.metaData.TransactionResult === "tesSUCCESS"
          const isPayment = source.TransactionType === "Payment"
          close(
            item.receive,
            succeeded && isPayment
              ? (source.metaData.delivered_amount ?? source.metaData.DeliveredAmount ?? source.Amount)
              : undefined
          )
          seen++
        }
      }
    }
    assert.strictEqual(seen, 2 * 529)
  })

  it("coins move exactly as the balances that xrpl.js reads from the metadata of every transaction", () => {
    const moved = new Map<string, number>()
    const all = recordedTransactions()
    for (const { metadata, source, transaction } of all) {
      assert.deepStrictEqual(transaction.unread, [], transaction.hash)
      const sums = new Map<string, bigint>()
      const add = (account: string | undefined, drops: bigint) => {
        if (account !== undefined) sums.set(account, (sums.get(account) ?? 0n) + drops)
      }
      const transfers = XrpTransfers.of(transaction)
      for (const { drops, from, to } of transfers) {
        assert.isAbove(Number(drops), 0)
        add(from, -drops)
        add(to, drops)
      }
      const payer = source.Delegate ?? source.Account
      for (const { account, balances } of getBalanceChanges(metadata as never)) {
        for (const { currency, value } of balances) {
          if (currency !== "XRP") continue
          const drops = BigInt(Math.round(Number(value) * 1e6))
          add(account, -(account === payer ? drops + BigInt(source.Fee) : drops))
        }
      }
      const differences = [...sums].filter(([, drops]) => drops !== 0n)
      assert.deepStrictEqual(differences, [], transaction.hash)
      if (transfers.length > 0) moved.set(transaction.type, (moved.get(transaction.type) ?? 0) + transfers.length)
    }
    assert.deepStrictEqual(Object.fromEntries(moved), { Payment: 71, OfferCreate: 85, EscrowFinish: 1 })
    assert.strictEqual(all.length, 584)
  })

  it("the coins that release 0.1 told move as they did, under the same numbers", () => {
    const lines = (keep: (type: string | undefined) => boolean) =>
      recorded().flatMap((ledger) => {
        const block = toBlock(mainnet, read(ledger))
        return (block.transfers as ReadonlyArray<CoinTransfer>)
          .filter(({ details }) => keep(details?.transactionType))
          .map(({ amount, from, position, to, transaction }) => {
            const id = Buffer.from(block.transactions[transaction]!).toString("hex")
            return [id, position, text(from), text(to), amount].join()
          })
      })
    const digestOf = (told: ReadonlyArray<string>) => createHash("sha256").update(told.join("\n")).digest("hex")
    // Those that have been told since are told so for good.
    const all = lines(() => true)
    assert.deepStrictEqual(
      [all.length, digestOf(all)],
      [137, "05e0d8f8eac38cc666dcbd8dc0d88c477586205a4fde1867930a6c9b8c7fa2ed"]
    )
    const told = lines((type) => type === "Payment")
    assert.strictEqual(told.length, 58)
    assert.strictEqual(digestOf(told), "2e19f0f8c353f7f029408d8c05932be9b6ff642014f16b555b8871850e2cc049")
  })

  it("an odd payment in each ledger stops nothing, and is taken from its balances or not at all", () => {
    const strange = { vault_id: "00", shares: "5" }
    const toCome = { CreatedNode: { LedgerEntryType: "Loan", NewFields: { Account: "r", Balance: strange } } }
    const inMeta = (payment: Json, more: object) => ({ ...payment, metaData: { ...payment.metaData, ...more } })
    const mutations: Readonly<Record<string, (payment: Json) => unknown>> = {
      "Amount of an unknown form": (payment) => ({ ...payment, Amount: strange }),
      "SendMax of an unknown form": (payment) => ({ ...payment, SendMax: strange }),
      "delivered_amount of an unknown form": (payment) => inMeta(payment, { delivered_amount: strange }),
      "delivered_amount of -1": (payment) => inMeta(payment, { delivered_amount: "-1" }),
      "an exponent of three digits": (payment) => ({
        ...payment,
        Amount: { currency: "USD", issuer: payment.Account, value: "1e-100" }
      }),
      "fields to come": (payment) => ({
        ...inMeta(payment, { NewResult: strange, AffectedNodes: [...payment.metaData.AffectedNodes, toCome] }),
        NewField: strange
      }),
      "a field of another type": (payment) => ({ ...payment, DestinationTag: strange }),
      "balances of an unknown form": (payment) =>
        inMeta(payment, {
          delivered_amount: "-1",
          AffectedNodes: [{ ModifiedNode: { LedgerEntryType: "AccountRoot", FinalFields: { Balance: strange } } }]
        }),
      "no metadata": ({ metaData: _, ...payment }) => payment,
      "no hash": ({ hash: _, ...payment }) => payment,
      "no object": () => 5
    }
    const understood = new Set(["fields to come"])
    let exact = 0
    let none = 0
    for (const ledger of recorded()) {
      const plain = toBlock(mainnet, read(ledger))
      // Those of XRP, and the first of another currency.
      const payments = (ledger.transactions as ReadonlyArray<Json>)
        .filter(
          ({ TransactionType, metaData }) =>
            TransactionType === "Payment" && metaData.TransactionResult === "tesSUCCESS"
        )
        .filter(({ Amount }, index) => index === 0 || typeof Amount === "string")
      if (ledger.transactions.length < 2) continue
      for (const payment of payments) {
        const index: number = payment.metaData.TransactionIndex
        const of = (transfers: ReadonlyArray<Transfer>) => transfers.filter(({ transaction }) => transaction === index)
        const others = (transfers: ReadonlyArray<Transfer>) =>
          transfers.filter(({ transaction }) => transaction !== index)
        for (const [name, mutate] of Object.entries(mutations)) {
          const transactions = ledger.transactions.map((each: Json) => (each === payment ? mutate(each) : each))
          const block = toBlock(mainnet, read({ ...ledger, transactions }))
          assert.strictEqual(block.notUnderstood?.length ?? 0, understood.has(name) ? 0 : 1, name)
          assert.deepStrictEqual(others(block.transfers), others(plain.transfers), name)
          const expected = sides(of(plain.transfers) as ReadonlyArray<CoinTransfer>)
          const found = sides(of(block.transfers) as ReadonlyArray<CoinTransfer>)
          if (found.length > 0) exact++
          else if (expected.length > 0) none++
          if (found.length > 0) assert.deepStrictEqual(found, expected, `${name} ${payment.hash}`)
        }
      }
    }
    // 58 payments of XRP: of the eleven mutations four leave nothing that is certain.
    assert.deepStrictEqual([exact, none], [58 * 7, 58 * 4])
  })

  it("headers hash to what they say, where the parent's close time is known", () => {
    const ledgers = recorded()
    let checked = 0
    for (const ledger of ledgers) {
      const parent = ledgers.find(({ ledger_hash }) => ledger_hash === ledger.parent_hash)
      if (parent === undefined) continue
      const hash = LedgerHash.of({
        ledgerIndex: Number(ledger.ledger_index),
        totalCoins: BigInt(ledger.total_coins),
        parentHash: Buffer.from(ledger.parent_hash, "hex"),
        transactionHash: Buffer.from(ledger.transaction_hash, "hex"),
        accountHash: Buffer.from(ledger.account_hash, "hex"),
        parentCloseTime: parent.close_time,
        closeTime: ledger.close_time,
        closeTimeResolution: ledger.close_time_resolution,
        closeFlags: 0
      })
      assert.strictEqual(Buffer.from(hash).toString("hex").toUpperCase(), ledger.ledger_hash)
      checked++
    }
    assert.isAbove(checked, 10)
    const clio = Fixtures.json("xrp/xrpl-dev-portal/_api-examples/ledger-clio/jsonrpc-response.json") as Json
    const header = Result.getOrThrow(Ledger.decodeHeader(clio.result))
    assert.strictEqual(header?.height, 82_681_623)
    const altered = { ...clio.result, ledger: { ...clio.result.ledger, total_coins: "99988406188847859" } }
    assert.isTrue(Result.isFailure(Ledger.decodeHeader(altered)))
    const asked = Fixtures.json("xrp/xrpl.js/packages/xrpl/test/fixtures/requests/hashLedger.json") as Json
    assert.strictEqual(hashes.hashLedgerHeader(asked as never), asked.ledger_hash)
    assert.isDefined(Result.getOrThrow(Ledger.decodeHeader(answer(asked))))
  })

  it("reads full ledgers of 2013 and 2014", () => {
    for (const name of ["ledgerFull38129", "ledgerFull40000", "ledgerFull7501326"]) {
      const ledger = Fixtures.json(`xrp/xrpl.js/packages/xrpl/test/fixtures/rippled/${name}.json`) as Json
      const found = read(ledger)
      assert.strictEqual(found.transactions.length, ledger.transactions.length)
      assert.isUndefined(toBlock(mainnet, found).notUnderstood)
    }
  })

  it("reads single transactions of every kind as nodes showed them", () => {
    const fixtures = "xrp/xrpl.js/packages/xrpl/test/fixtures/"
    const mint = Fixtures.json(`${fixtures}rippled/tx/NFTokenMint.json`) as Json
    const minted = XrpTransaction.decode({ tx_json: mint.tx, meta: mint.meta, hash: mint.hash }, mint.ledger_index)
    assert.deepStrictEqual([minted.type, minted.unread], ["NFTokenMint", []])
    const escrow = Fixtures.json("xrp/xrpl.js/packages/ripple-binary-codec/test/fixtures/escrow-finish-tx.json") as Json
    const finished = XrpTransaction.decode({ ...escrow, metaData: escrow.meta }, 34_308_432)
    const { receive, recipient } = XrpTransaction.toItem(finished, { position: 11, time: 0 })
    assert.deepStrictEqual(
      [recipient, receive],
      ["rMhV8zfKJRqEspcayRfqa4FuzQg8kW5LdB", { amount: "48.5", unit: "XRP" }]
    )
    const portal = Fixtures.json("xrp/xrpl-dev-portal/_api-examples/tx/ws-response.json") as Json
    const { meta: portalMeta, hash, tx_json, ...flat } = portal.result
    const shown = XrpTransaction.decode({ tx_json: tx_json ?? flat, meta: portalMeta, hash }, flat.ledger_index)
    assert.deepStrictEqual(shown.unread, [])
  })
})
