import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { hashes } from "xrpl"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as LedgerProof from "../../../../src/families/xrp/internal/LedgerProof.ts"
import * as Fixtures from "../../../Fixtures.ts"
import { account, chainOf, mainnet, sealed } from "../XrpLedgers.ts"
import { type Json, version2 } from "../XrpServer.ts"

const outcome = (ledger: Json, level: "links" | "roots" | "full" = "roots") =>
  TimeSlice.atOnce(LedgerProof.of(mainnet, { ledger, validated: true }, level))

const proofOf = (ledger: Json) =>
  TimeSlice.atOnce(LedgerProof.ofTransactions(mainnet, ledger.transactions, ledger.transaction_hash))

const [good] = chainOf(9_000_000, 1, () => [
  { from: 1, to: 2, drops: 5n },
  { from: 2, to: 3, drops: 7n }
])

/** JSON with the value at a path replaced. */
const changed = (json: unknown, [key, ...rest]: ReadonlyArray<string | number>, value: unknown): unknown => {
  if (key === undefined) return value
  if (Array.isArray(json)) return json.map((each, index) => (index === key ? changed(each, rest, value) : each))
  const object = json as Json
  return { ...object, [key]: changed(object[key], rest, value) }
}

const otherNames: Readonly<Record<string, string>> = {
  TransactionType: "CheckCancel",
  LedgerEntryType: "Check",
  TransactionResult: "tecPATH_DRY"
}

/** Another value of the same form. */
const otherThan = (value: unknown, key: string | number): unknown => {
  if (typeof value === "number") return value === 0 ? 1 : value - 1
  const text = String(value)
  if (otherNames[key] !== undefined) return otherNames[key]
  if (/^r[1-9A-HJ-NP-Za-km-z]{24,34}$/.test(text)) return account(123)
  if (key === "currency" && text.length === 3) return text === "ABC" ? "ABD" : "ABC"
  if (/^-?\d+(?:\.\d+)?(?:e-?\d+)?$/.test(text) && !/^0\d/.test(text)) {
    return /^0(?:\.0+)?$/.test(text) ? "1" : text.replace(/[1-9]/, (digit) => (digit === "1" ? "2" : "1"))
  }
  return text.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))
}

type Path = ReadonlyArray<string | number>

/** Every value that the ledger commits to: names of the server's own begin with a small letter, but within amounts and paths. */
const committed = (json: unknown, path: Path = [], within = false): ReadonlyArray<Path> => {
  if (Array.isArray(json)) return json.flatMap((each, index) => committed(each, [...path, index], within))
  if (typeof json !== "object" || json === null) return [path]
  return Object.entries(json).flatMap(([key, value]) => {
    if (/^[a-z]/.test(key) && !within) {
      return key === "metaData" || key === "hash" || (key === "delivered_amount" && value !== "unavailable")
        ? committed(value, [...path, key], key === "delivered_amount")
        : []
    }
    // The type of a step of a path follows from what the step has.
    if (key === "type" || key === "type_hex") return []
    const isPlain = /^(?:Paths|Asset2?)$/.test(key) || (typeof value === "object" && value !== null && "value" in value)
    return committed(value, [...path, key], within || isPlain)
  })
}

const at = (json: unknown, path: Path): unknown => path.reduce((part, key) => (part as Json)[key], json)

/** Whatever differs is noticed; an empty list of misses. */
const missed = (ledger: Json) =>
  committed(ledger.transactions)
    .filter((path) => {
      const value = otherThan(at(ledger.transactions, path), path.at(-1)!)
      const transactions = changed(ledger.transactions, path, value) as ReadonlyArray<Json>
      return proofOf({ ...ledger, transactions }).mismatch === undefined
    })
    .map((path) => `${path.join(".")}: ${String(at(ledger.transactions, path))}`)

describe("LedgerProof", () => {
  it("proves ledgers of both API versions, and hashes as xrpl does", () => {
    assert.deepStrictEqual(outcome(good!), { mismatch: undefined, unproven: [] })
    assert.deepStrictEqual(outcome(version2(good!)), { mismatch: undefined, unproven: [] })
    const signed = good!.transactions.map((each: Json) => ({ ...each, TxnSignature: "00" }))
    const [whole] = sealed([{ ...good!, transactions: signed }])
    assert.strictEqual(hashes.hashTxTree(whole!.transactions), whole!.transaction_hash)
  })

  it("notices each field of the header, a transaction that is missing, foreign or twice, and proves nothing by links", () => {
    const [first, second] = good!.transactions
    const fields = ["account_hash", "close_flags", "close_time", "close_time_resolution", "ledger_hash", "ledger_index"]
    const more = ["parent_close_time", "parent_hash", "total_coins", "transaction_hash"]
    for (const field of [...fields, ...more]) {
      const tampered = { ...good!, [field]: otherThan(good![field], field) }
      assert.include(outcome(tampered).mismatch, "ledger_hash is not the hash of the header", field)
      assert.isUndefined(outcome(tampered, "links").mismatch)
    }
    const other = chainOf(9_000_001, 1, () => [{ from: 1, to: 2, drops: 6n }])[0]!.transactions[0]
    for (const transactions of [[first], [], [first, other], [first, second, other], [first, first]]) {
      assert.isDefined(outcome({ ...good!, transactions }).mismatch)
    }
    assert.deepStrictEqual(missed(good!), [])
  })

  it("leaves unproven what is of no known form, and still notices another hash", () => {
    const [first, second] = good!.transactions
    const odd = { ...first, Vault: "00" }
    const { mismatch, unproven } = outcome({ ...good!, transactions: [odd, second] })
    assert.isUndefined(mismatch)
    assert.deepStrictEqual(
      unproven.map(({ cause, part, reason }) => [cause, part, reason]),
      [["unknown", "transactions", `transaction ${first.hash}: field Vault is of no known form`]]
    )
    const lie = { ...second, Amount: "8" }
    assert.include(outcome({ ...good!, transactions: [odd, lie] }).mismatch, "does not hash to its hash")
    const { parent_close_time: _, ...old } = good!
    assert.include(outcome(old).unproven[0]?.reason, "parent_close_time")
  })

  it("writes every form that amendments have brought as ripple-binary-codec does", () => {
    const issuer = account(5)
    const mpt = "00000001AE123A8556F3CF91154711376AFB0F894F832B3D"
    const common = { Account: account(1), Fee: "12", Sequence: 7, SigningPubKey: "" }
    const forms: ReadonlyArray<Json> = [
      {
        TransactionType: "Payment",
        Destination: account(2),
        Amount: { mpt_issuance_id: mpt, value: "9000000000000000000" }
      },
      {
        ...{
          TransactionType: "Payment",
          Destination: account(2),
          Amount: { currency: "USD", issuer, value: "-1.5e-7" }
        },
        Paths: [
          [{ account: account(3) }, { currency: "EUR", issuer }],
          [{ currency: "0158415500000000C1F76FF6ECB0BAC600000000" }]
        ],
        SendMax: "100"
      },
      { TransactionType: "AMMDeposit", Asset: { currency: "XRP" }, Asset2: { currency: "USD", issuer }, Amount: "5" },
      {
        TransactionType: "NFTokenCreateOffer",
        NFTokenID: "00".repeat(32),
        Amount: { currency: "USD", issuer, value: "0" }
      },
      {
        TransactionType: "MPTokenIssuanceCreate",
        MaximumAmount: "9223372036854775807",
        MPTokenMetadata: "AB".repeat(300)
      },
      {
        TransactionType: "XChainCommit",
        Amount: "10000",
        XChainClaimID: "13f",
        XChainBridge: {
          LockingChainDoor: account(8),
          LockingChainIssue: { currency: "XRP" },
          IssuingChainDoor: account(9),
          IssuingChainIssue: { currency: "USD", issuer }
        }
      },
      {
        TransactionType: "DelegateSet",
        Authorize: account(2),
        Permissions: ["Payment", "TrustSet", "AccountDomainSet"].map((PermissionValue) => ({
          Permission: { PermissionValue }
        }))
      },
      { TransactionType: "NFTokenCancelOffer", NFTokenOffers: ["AB".repeat(32), "CD".repeat(32)] },
      { TransactionType: "AccountSet", EmailHash: "AB".repeat(16), Memos: [{ Memo: { MemoData: "00" } }] }
    ]
    for (const [index, form] of forms.entries()) {
      const fields = { ...common, ...form }
      const metaData = { AffectedNodes: [], TransactionIndex: index, TransactionResult: "tesSUCCESS" }
      const hash = hashes.hashSignedTx({ ...fields, TxnSignature: "00" } as never)
      const entry = { ...fields, TxnSignature: "00", metaData, hash }
      assert.deepStrictEqual(
        proofOf({ transactions: [entry], transaction_hash: hashes.hashTxTree([entry] as never) }),
        { mismatch: undefined, unproven: [] },
        form.TransactionType
      )
    }
  })
})

const at2014 = "xrp/rippled-historical-database/test/mock/ledgers"
const ledgerOf = (name: string): Json => {
  const json = Fixtures.json(name) as Json
  return json.ledger ?? json.result?.ledger ?? json
}

describe.skipIf(!Fixtures.exist)("LedgerProof on recorded ledgers", () => {
  const recorded = Fixtures.exist ? readdirSync(Fixtures.path(at2014)).map((name) => `${at2014}/${name}`) : []
  const whole = ["ledgerFull38129", "ledgerFull7501326"].map(
    (name) => `xrp/xrpl.js/packages/xrpl/test/fixtures/rippled/${name}.json`
  )

  it("proves all of them", () => {
    const ledgers = [...recorded, ...whole].map(ledgerOf)
    for (const ledger of ledgers) assert.deepStrictEqual(proofOf(ledger), { mismatch: undefined, unproven: [] })
    assert.isAtLeast(ledgers.flatMap(({ transactions }) => transactions).length, 500)
  })

  // Every field of the others too: HEADWATER_PROPERTY_RUNS=100.
  const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 1)
  const ledgers = runs > 1 ? [...recorded, ...whole] : recorded.filter((name) => /11119015|11119614/.test(name))
  it.each(ledgers)("notices each field of each transaction and its metadata that is changed: %s", (name) => {
    assert.isAtLeast(committed(ledgerOf(name).transactions).length, 100)
    assert.deepStrictEqual(missed(ledgerOf(name)), [])
  })
})
