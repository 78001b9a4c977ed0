/**
 * Every ledger, transaction and account that can be read of the XRP Ledger, of thirteen recorded ledgers in both versions of
 * the API: as xrpl.js and ripple-binary-codec read them from the bytes that the recorded hashes are made of.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { formatUnits } from "ethers"
import { decode, encode } from "ripple-binary-codec"
import { classicAddressToXAddress, getBalanceChanges, hashes, isValidAddress, xAddressToClassicAddress } from "xrpl"
import * as XrpServer from "../packages/indexer/test/families/xrp/XrpServer.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as Headwater from "./Headwater.ts"
import { locations } from "./Stores.ts"
import { half, isInTurn } from "./Turn.ts"

type Json = XrpServer.Json

const [first, last] = [11_119_607, 11_119_619]
const rippleEpoch = 946_684_800

const read = () =>
  Array.from(
    { length: last - first + 1 },
    (_, i) => Fixtures.json(`xrp/rippled-historical-database/test/mock/ledgers/${first + i}.json`) as Json
  )

const coins = (drops: bigint | string | number) => ({ amount: formatUnits(drops, 6).replace(/\.0$/, ""), unit: "XRP" })
const none = coins(0)
const amount = (found: Json | string | undefined) =>
  found === undefined
    ? none
    : typeof found === "string"
      ? coins(found)
      : { amount: found.value as string, unit: found.currency as string }

/** A transaction out of its own bytes, and what the metadata say of balances. */
const shown = (ledger: Json, { hash, metaData, ...fields }: Json) => {
  const bytes = encode(fields)
  assert.strictEqual(hashes.hashSignedTx(bytes), hash)
  const transaction = decode(bytes) as Json
  const { Account, Amount, Destination, DestinationTag, Fee, Memos, TakerGets, TransactionType } = transaction
  const succeeded = metaData.TransactionResult === "tesSUCCESS"
  const gained = getBalanceChanges(metaData)
    .find(({ account }) => account === Destination)
    ?.balances.find(({ currency }) => currency === "XRP")
  const received =
    !succeeded || TransactionType !== "Payment"
      ? none
      : typeof Amount === "string"
        ? { amount: gained?.value ?? "0", unit: "XRP" }
        : amount(metaData.DeliveredAmount ?? Amount)
  const memos = (Memos ?? []).flatMap(({ Memo }: Json) =>
    Memo.MemoData ? [Buffer.from(Memo.MemoData, "hex").toString()] : []
  )
  return {
    ...(memos.length === 0 ? {} : { additionalData: memos.join("\n") }),
    ...(DestinationTag === undefined ? {} : { destinationTag: DestinationTag }),
    ...{ hash, offer: amount(TakerGets), positionInBlock: metaData.TransactionIndex, recipient: Destination ?? "" },
    ...{ sender: Account, status: metaData.TransactionResult, timestamp: ledger.close_time + rippleEpoch },
    ...{ type: TransactionType, fee: coins(Fee), receive: received, value: amount(Amount) }
  }
}

const transactionsOf = (ledger: Json) =>
  (ledger.transactions as ReadonlyArray<Json>)
    .map((entry) => shown(ledger, entry))
    .sort((a, b) => a.positionInBlock - b.positionInBlock)

/** The header's hash is that of what is compared. */
const details = (ledger: Json, before: Json | undefined) => {
  const { close_time, parent_hash, total_coins, transactions } = ledger
  assert.strictEqual(hashes.hashTxTree(transactions), ledger.transaction_hash)
  if (before !== undefined) {
    const header = { ...ledger, ledger_index: Number(ledger.ledger_index), close_flags: 0 }
    const whole = { ...header, parent_close_time: before.close_time } as never
    assert.strictEqual(hashes.hashLedgerHeader(whole), ledger.ledger_hash)
    assert.strictEqual(before.ledger_hash, parent_hash)
  }
  const fees = transactions.reduce((sum: bigint, { Fee }: Json) => sum + BigInt(Fee), 0n)
  return {
    ...{ hash: ledger.ledger_hash, height: Number(ledger.ledger_index), previousBlockHash: parent_hash },
    ...{ timestamp: close_time + rippleEpoch, totalCoins: coins(total_coins), totalFees: coins(fees) },
    transactionsCount: transactions.length
  }
}

/** What the newest recorded metadata say of accounts. */
const accountsOf = (ledgers: ReadonlyArray<Json>) => {
  const found = new Map<string, Json>()
  const entries = ledgers.flatMap(({ transactions }) =>
    [...transactions].sort((a: Json, b: Json) => a.metaData.TransactionIndex - b.metaData.TransactionIndex)
  )
  for (const { metaData } of entries) {
    for (const node of metaData.AffectedNodes) {
      const { FinalFields, LedgerEntryType, NewFields } = node.ModifiedNode ?? node.CreatedNode ?? {}
      const fields = FinalFields ?? NewFields
      if (LedgerEntryType === "AccountRoot" && fields?.Account) found.set(fields.Account, fields)
    }
  }
  return found
}

const { location } = locations[0]!

describe.skipIf(!Fixtures.exist || !isInTurn(import.meta.url))("Recorded ledgers of XRP", () => {
  for (const version of half("versions of the API", [1, 2] as const)) {
    it.live(`are shown as xrpl.js reads them, version ${version}`, () =>
      Effect.gen(function* () {
        const ledgers = read()
        const accounts = accountsOf(ledgers)
        const server = yield* XrpServer.make({ ledgers, version, networkId: 0 })
        server.override = (command, { account }) =>
          command === "account_info" && accounts.has(account)
            ? { account_data: { Flags: 0, OwnerCount: 0, ...accounts.get(account) }, validated: true }
            : undefined
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "xrp/mainnet": { nodes: [server.wsUrl], start: last, pollMillis: 100 } }
        })
        const { data: ask } = headwater
        const blocks = "/blocks/xrp/mainnet"
        /** The second version differs by where the same fields stand: fewer requests tell that. */
        const isSampled = (i: number, every: number) => i % (version === 1 ? every : 5 * every) === 0
        const newest = yield* ask(`${blocks}/latest?count=13`)
        const expected = ledgers.map((ledger, i) => details(ledger, ledgers[i - 1]))
        assert.deepStrictEqual(newest.items, expected.toReversed())
        assert.deepStrictEqual((yield* ask(`${blocks}/latest/details`)).item, expected.at(-1))
        const all: Array<ReturnType<typeof shown> & { readonly minedInBlock: object }> = []
        for (const [i, ledger] of ledgers.entries()) {
          const { hash, height } = expected[i]!
          const item = { ...expected[i]!, nextBlockHash: ledgers[i + 1]?.ledger_hash ?? "" }
          assert.deepStrictEqual((yield* ask(`${blocks}/height/${height}/details`)).item, item)
          assert.deepStrictEqual((yield* ask(`${blocks}/hash/${hash.toLowerCase()}/details`)).item, item)
          const transactions = transactionsOf(ledger)
          for (const path of isSampled(i, 1) ? [`height/${height}`, `hash/${hash}`] : []) {
            const listed = yield* ask(`${blocks}/${path}/transactions?limit=50`)
            assert.deepStrictEqual([listed.total, listed.items], [transactions.length, transactions.slice(0, 50)])
          }
          const page = yield* ask(`${blocks}/height/${height}/transactions?limit=3&offset=2`)
          assert.deepStrictEqual(page.items, transactions.slice(2, 5))
          all.push(...transactions.map((each) => ({ ...each, minedInBlock: { hash, height } })))
        }
        assert.isAbove(all.length, 300)
        for (const transaction of all.filter(({ type }, i) => isSampled(i, type === "Payment" ? 1 : 7))) {
          const { item } = yield* ask(`/transactions/xrp/mainnet/${transaction.hash}`)
          const { additionalData = "", positionInBlock } = transaction
          assert.deepStrictEqual(item, { ...transaction, additionalData, positionInBlock: String(positionInBlock) })
        }

        // The accounts that sent most, and one that was paid.
        const senders = Map.groupBy(all, ({ sender }) => sender)
        const busiest = [...senders].sort(([, a], [, b]) => b.length - a.length).map(([sender]) => sender)
        const paid = all.find(
          ({ receive, type }) => type === "Payment" && receive.unit === "XRP" && receive !== none
        )!.recipient
        for (const address of [...busiest.slice(0, 2), paid]) {
          const texts = new Set(
            ledgers.flatMap(({ transactions }) =>
              transactions.flatMap((entry: Json) => (JSON.stringify(entry).includes(address) ? [entry.hash] : []))
            )
          )
          const own = all.filter(({ hash }) => texts.has(hash))
          const path = `/addresses-latest/xrp/mainnet/${address}/transactions`
          for (const [query, wanted] of [
            ["limit=9&sortingOrder=ascending", own],
            ["limit=50&sortingOrder=descending", own.toReversed()],
            ["limit=4&transactionType=payment", own.filter(({ type }) => type === "Payment").toReversed()]
          ] as const) {
            const listed = []
            for (let after = ""; ; ) {
              const page = yield* ask(`${path}?${query}${after}`)
              assert.strictEqual(page.answeredFrom, "node")
              listed.push(...page.items)
              if (!page.hasMore) break
              after = `&startingAfter=${page.nextStartingAfter}`
            }
            assert.deepStrictEqual(listed, wanted)
          }
          const { item: balance } = yield* ask(`/addresses-latest/xrp/mainnet/${address}/balance`)
          assert.deepStrictEqual(balance, { confirmedBalance: coins(accounts.get(address)!.Balance) })
        }
        for (const address of busiest.slice(0, 5)) {
          // What it has signed itself says more than what is said of it.
          const used = ledgers.flatMap(({ transactions }) =>
            transactions.flatMap(({ Account, Sequence }: Json) => (Account === address ? [Sequence] : []))
          )
          const { item } = yield* ask(`/addresses-latest/xrp/mainnet/${address}/next-available-sequence`)
          assert.deepStrictEqual(item, { nextAvailableSequence: Math.max(...used) + 1 })
        }
        for (const [i, address] of busiest.slice(0, 8).entries()) {
          const addressTag = [0, 1, 4_294_967_295][i % 3]!
          const xAddress = classicAddressToXAddress(address, addressTag, false)
          const encoded = yield* ask(`/utils/xrp/mainnet/encode-x-address/${address}/${addressTag}`)
          assert.deepStrictEqual(encoded.item, { xAddress })
          const decoded = yield* ask(`/utils/xrp/mainnet/decode-x-address/${xAddress}`)
          const { classicAddress, tag } = xAddressToClassicAddress(xAddress)
          assert.deepStrictEqual(decoded.item, { classicAddress, addressTag: tag })
          for (const text of [address, xAddress, `${address.slice(0, -1)}r`, address.toLowerCase()]) {
            const { body } = yield* headwater.post("/utils/xrp/xrp/mainnet/validate-address", { address: text })
            assert.deepStrictEqual(body.data.item, { address: text, isValid: isValidAddress(text) })
          }
        }
        for (const path of [`${blocks}/height/${last + 1}/details`, `/transactions/xrp/mainnet/${"AB".repeat(32)}`]) {
          const { body, status } = yield* headwater.get(path)
          assert.deepStrictEqual([status, body.error?.code], [404, "resource_not_found"], path)
        }
      }).pipe(Effect.scoped)
    )
  }
})
