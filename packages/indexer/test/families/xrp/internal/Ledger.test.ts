import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import type { CoinTransfer } from "@headwater/core/Block"
import * as XrpTransaction from "@headwater/core/xrp/XrpTransaction"
import * as Result from "effect/Result"
import { getBalanceChanges, hashes } from "xrpl"
import * as Ledger from "../../../../src/families/xrp/internal/Ledger.ts"
import * as LedgerHash from "../../../../src/families/xrp/internal/LedgerHash.ts"
import * as Fixtures from "../../../Fixtures.ts"
import { account, chainOf, mainnet } from "../XrpLedgers.ts"
import { type Json, version2 } from "../XrpServer.ts"

const answer = (ledger: Json, validated = true) => ({ ledger, ledger_index: Number(ledger.ledger_index), validated })

const read = (ledger: Json): Ledger.Ledger => {
  const found = Result.getOrThrow(Ledger.decode(answer(ledger)))
  assert.isDefined(found)
  return found!
}

const refusal = (ledger: Json): string => {
  const result = Ledger.decode(answer(ledger))
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
    assert.deepStrictEqual(read(version2(one)), ledger)
    const block = Result.getOrThrow(Ledger.toBlock(mainnet, ledger))
    assert.strictEqual(block.height, 9_000_000)
    assert.strictEqual(block.time, 700_000_000 + 36_000_000 + 946_684_800)
    assert.strictEqual(Buffer.from(block.hash).toString("hex").toUpperCase(), one.ledger_hash)
    assert.strictEqual(Buffer.from(block.parent).toString("hex").toUpperCase(), one.parent_hash)
    assert.deepStrictEqual(
      block.transfers.map((transfer) => ({ ...transfer, from: text(transfer.from as never) })),
      [
        { kind: "coin", transaction: 0, position: 0, from: account(1), to: block.transfers[0]!.to, amount: 5n },
        { kind: "coin", transaction: 1, position: 0, from: account(2), to: block.transfers[1]!.to, amount: 7n }
      ]
    )
  })

  it("is not there until it is validated", () => {
    for (const validated of [false, undefined]) {
      const found = { ...answer(one), validated }
      if (validated === undefined) delete (found as { validated?: boolean }).validated
      assert.strictEqual(Result.getOrThrow(Ledger.decode(found)), undefined)
      assert.strictEqual(Result.getOrThrow(Ledger.decodeHeader(found)), undefined)
    }
  })

  it("refuses what contradicts itself, naming field and rule", () => {
    const { transactions, ...header } = one
    assert.include(refusal(header), "ledger.transactions must be there")
    assert.include(refusal({ ...one, transactions: [] }), "transaction_hash is not")
    assert.include(refusal({ ...one, transactions: transactions.slice(0, 1) }), "lacks some")
    assert.include(refusal({ ...one, transactions: [transactions[0], transactions[0]] }), "two of index 1")
    assert.include(refusal({ ...one, transactions: ["AB".repeat(32)] }), "transactions[0]")
    assert.include(refusal({ ...one, parent_hash: one.account_hash }), "ledger_hash is not the hash")
    assert.include(refusal({ ...one, close_time: -1 }), "close_time")
    for (const wrong of [undefined, null, {}, { ledger: {} }, "x", 5]) {
      assert.isTrue(Result.isFailure(Ledger.decode(wrong)))
      assert.isTrue(Result.isFailure(Ledger.decodeHeader(wrong)))
    }
    const broken = structuredClone(one) as { transactions: Array<Json> }
    ;(broken.transactions[0] as { Destination: string }).Destination = "rrrrrrrrrrrrrrrrrrrrrhoLvTq"
    const block = Ledger.toBlock(mainnet, read(broken))
    assert.isTrue(Result.isFailure(block) && block.failure.includes("checksum"))
  })
})

const folder = "xrp/rippled-historical-database/test/mock/ledgers/"
const recordedNames = Fixtures.exist ? readdirSync(Fixtures.path(folder)).sort() : []
const recorded = () => recordedNames.map((name) => Fixtures.json(encodeURI(folder + name)) as Json)

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
          const item = XrpTransaction.toItem(transaction, found.time)
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

  it("coins move exactly as the balances that xrpl.js reads from the metadata of payments", () => {
    let moved = 0
    for (const ledger of recorded()) {
      const block = Result.getOrThrow(Ledger.toBlock(mainnet, read(ledger)))
      for (const source of ledger.transactions as ReadonlyArray<Json>) {
        const index = source.metaData.TransactionIndex
        const transfers = block.transfers.filter(({ transaction }) => transaction === index) as Array<CoinTransfer>
        if (source.TransactionType !== "Payment" || source.metaData.TransactionResult !== "tesSUCCESS") {
          assert.deepStrictEqual(transfers, [])
          continue
        }
        const expected = getBalanceChanges(source.metaData as never)
          .flatMap(({ account, balances }) =>
            balances
              .filter(({ currency }) => currency === "XRP")
              .map(({ value }) => {
                const drops = BigInt(Math.round(Number(value) * 1e6))
                return { account, drops: account === source.Account ? drops + BigInt(source.Fee) : drops }
              })
          )
          .filter(({ drops }) => drops !== 0n)
          .map(({ account, drops }) => `${account} ${drops < 0n ? "-" : "+"}${drops < 0n ? -drops : drops}`)
          .sort()
        assert.deepStrictEqual(sides(transfers), expected, source.hash)
        moved += transfers.length
      }
    }
    // All of them payments of XRP in XRP: in these minutes of 2015 no exchange went through XRP.
    assert.strictEqual(moved, 58)
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
      Result.getOrThrow(Ledger.toBlock(mainnet, found))
    }
  })

  it("reads single transactions of every kind as nodes showed them", () => {
    const fixtures = "xrp/xrpl.js/packages/xrpl/test/fixtures/"
    const mint = Fixtures.json(`${fixtures}rippled/tx/NFTokenMint.json`) as Json
    const minted = Result.getOrThrow(
      XrpTransaction.decode({ tx_json: mint.tx, meta: mint.meta, hash: mint.hash }, mint.ledger_index)
    )
    assert.strictEqual(minted.type, "NFTokenMint")
    const portal = Fixtures.json("xrp/xrpl-dev-portal/_api-examples/tx/ws-response.json") as Json
    const { meta: portalMeta, hash, tx_json, ...flat } = portal.result
    const shown = Result.getOrThrow(
      XrpTransaction.decode({ tx_json: tx_json ?? flat, meta: portalMeta, hash }, flat.ledger_index)
    )
    assert.isString(shown.type)
  })
})
