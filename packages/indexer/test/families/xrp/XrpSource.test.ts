import { assert, describe, it } from "@effect/vitest"
import * as Address from "@headwater/core/address/Address"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type * as AccountTransactions from "@headwater/indexer/families/xrp/AccountTransactions"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { HDNodeWallet } from "ethers"
import { deriveAddress } from "ripple-keypairs"
import { getBalanceChanges } from "xrpl"
import { stores } from "../../../../../test/Stores.ts"
import { half } from "../../../../../test/Turn.ts"
import * as CompleteLedgers from "../../../src/families/xrp/internal/CompleteLedgers.ts"
import * as XrpWebSocket from "../../../src/families/xrp/internal/XrpWebSocket.ts"
import * as FakeNode from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"
import { account, bytesOf, chainOf, mainnet } from "./XrpLedgers.ts"
import * as XrpServer from "./XrpServer.ts"

const first = 90_000_000
const ledgers = chainOf(first, 6, (height) => [
  { from: height % 5, to: (height + 1) % 5, drops: BigInt(height) },
  { from: 9, to: 9, drops: 0n }
])

const quick = { timeoutMillis: 400, attempts: 3 } as const

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex").toUpperCase()

const errorOf = <A, R>(effect: Effect.Effect<A, NodeError, R>) => Effect.flip(effect)

const transports = [
  { name: "WebSocket, API version 1", version: 1, url: "wsUrl" },
  { name: "WebSocket, API version 2", version: 2, url: "wsUrl" },
  { name: "JSON-RPC, API version 2", version: 2, url: "httpUrl" },
  { name: "JSON-RPC, API version 1", version: 1, url: "httpUrl" }
] as const

describe.each(half("transports, each with one version", transports))("XrpSource over $name", ({ url, version }) => {
  it.live("shows head, hashes and blocks", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers, version })
      server.validated = first + 4
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]] })
      const head = yield* source.head
      assert.strictEqual(head.height, first + 4)
      assert.strictEqual(head.final, first + 4)
      assert.strictEqual(hex(head.hash), ledgers[4]!.ledger_hash)
      for (const height of [first, first + 3]) {
        const block = yield* source.blockAt(height)
        assert.strictEqual(hex(block.hash), ledgers[height - first]!.ledger_hash)
        assert.strictEqual(hex(yield* source.hashAt(height)), ledgers[height - first]!.ledger_hash)
        assert.strictEqual(block.transactions.length, 2)
        assert.deepStrictEqual(block.transfers, [
          {
            kind: "coin",
            transaction: 0,
            position: 0,
            from: bytesOf(height % 5),
            to: bytesOf((height + 1) % 5),
            amount: BigInt(height),
            details: { transactionType: "Payment" }
          }
        ])
      }
      // Closed, but not validated yet; and one that nobody has.
      for (const height of [first + 5, first + 6]) {
        const error = yield* errorOf(source.blockAt(height))
        assert.strictEqual(error._tag, "BlockMissing")
        assert.include(error.message, String(height))
      }
    })
  )

  it.live("pages through the transactions of a ledger by hash", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers, version })
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]] })
      const hash = ledgers[2]!.ledger_hash
      const all = yield* source.explorer.transactionsOf({ ledger_hash: hash }, { limit: 50, offset: 0 })
      assert.strictEqual(all.total, 2)
      assert.deepStrictEqual(
        all.items.map(({ positionInBlock }) => positionInBlock),
        [0, 1]
      )
      assert.deepStrictEqual(all.items[0]?.receive, { amount: "90.000002", unit: "XRP" })
      const second = yield* source.explorer.transactionsOf({ ledger_hash: hash }, { limit: 1, offset: 1 })
      assert.deepStrictEqual(second, { items: [all.items[1]!], total: 2 })
      assert.deepStrictEqual(
        (yield* source.explorer.transactionsOf({ ledger_hash: hash }, { limit: 1, offset: 9 })).items,
        []
      )
      const error = yield* errorOf(
        source.explorer.transactionsOf({ ledger_hash: "0".repeat(64) }, { limit: 1, offset: 0 })
      )
      assert.strictEqual(error._tag, "BlockMissing")
    })
  )

  it.live("shows any validated ledger with what it has burned, and any transaction of one", () =>
    Effect.gen(function* () {
      const ledgers = chainOf(first, 6, (height) =>
        [7, 8].map((from) => ({ from, to: height % 5, drops: BigInt(height) }))
      )
      const server = yield* XrpServer.make({ ledgers, version, balances: { [account(1)]: "77" } })
      server.validated = first + 4
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]] })
      const { explorer } = source
      const shown = (at: number) => ({
        height: first + at,
        hash: ledgers[at]!.ledger_hash,
        parent: ledgers[at]!.parent_hash,
        time: ledgers[at]!.close_time + 946_684_800,
        ...{ totalCoins: BigInt(ledgers[at]!.total_coins), count: 2, fees: 24n }
      })
      const text = <A extends { readonly hash: Uint8Array; readonly parent: Uint8Array }>(ledger: A) => ({
        ...ledger,
        ...{ hash: hex(ledger.hash), parent: hex(ledger.parent) }
      })
      for (const wanted of [{ ledger_index: first + 2 }, { ledger_hash: ledgers[2]!.ledger_hash }]) {
        const { next, ...ledger } = yield* explorer.ledger(wanted)
        assert.deepStrictEqual(text(ledger), shown(2))
        assert.strictEqual(hex(next!), ledgers[3]!.ledger_hash)
      }
      const newest = yield* explorer.ledger({ ledger_index: "validated" })
      assert.deepStrictEqual([newest.height, newest.next, newest.fees], [first + 4, undefined, 24n])
      // Of the first ledger nobody tells how much there was before: its transactions do.
      assert.strictEqual((yield* explorer.ledger({ ledger_index: first })).fees, 24n)
      assert.deepStrictEqual((yield* explorer.newest(3)).map(text), [4, 3, 2].map(shown))
      assert.deepStrictEqual((yield* explorer.newest(50)).map(text), [4, 3, 2, 1, 0].map(shown))
      for (const wanted of [{ ledger_index: first + 5 }, { ledger_hash: ledgers[5]!.ledger_hash }]) {
        assert.strictEqual((yield* errorOf(explorer.ledger(wanted)))._tag, "BlockMissing")
      }

      const { items } = yield* explorer.transactionsOf({ ledger_index: first + 2 }, { limit: 50, offset: 0 })
      for (const item of items) {
        const found = yield* explorer.transaction(item.hash)
        assert.deepStrictEqual(found?.item, item)
        assert.strictEqual(hex(found!.ledger.hash), ledgers[2]!.ledger_hash)
      }
      // What an account was part of, page by page, both ways.
      const listed = Effect.fnUntraced(function* (order: "ascending" | "descending", limit: number, type?: string) {
        const found: Array<string> = []
        for (let after: AccountTransactions.Place | undefined; ; ) {
          const page = yield* source.accountTransactions(bytesOf(7), { order, limit, after, type })
          assert.isAtMost(page.items.length, limit)
          assert.strictEqual(page.completeFrom, first)
          for (const { item, ledger } of page.items) {
            assert.strictEqual(item.timestamp, ledger.time)
            found.push(`${ledger.height} ${item.positionInBlock} ${item.hash}`)
          }
          after = page.next
          if (after === undefined) return found
        }
      })
      const own = [0, 1, 2, 3, 4].map((at) => {
        const position = ledgers[at]!.transactions.findIndex(({ Account }: XrpServer.Json) => Account === account(7))
        const { hash, metaData } = ledgers[at]!.transactions[position]
        return `${first + at} ${metaData.TransactionIndex} ${hash}`
      })
      for (const limit of [1, 2, 50]) {
        assert.deepStrictEqual(yield* listed("ascending", limit), own)
        assert.deepStrictEqual(yield* listed("descending", limit), own.toReversed())
      }
      assert.deepStrictEqual(yield* listed("descending", 2, "payment"), own.toReversed())
      assert.deepStrictEqual(yield* listed("descending", 2, "OfferCreate"), [])
      // In a ledger that is closed alone, and in none.
      assert.strictEqual(yield* source.balance(bytesOf(1)), 77n)
      assert.strictEqual(yield* source.balance(bytesOf(2)), 0n)
      for (const hash of [ledgers[5]!.transactions[0].hash, "AB".repeat(32)]) {
        assert.isUndefined(yield* explorer.transaction(hash))
      }
    })
  )

  it.live("shows a ledger with odd transactions, and names them", () =>
    Effect.gen(function* () {
      const three = chainOf(first, 1, () => [1n, 2n, 3n].map((drops) => ({ from: 1, to: 2, drops })))[0]!
      const odd: XrpServer.Json = {
        ...three,
        transactions: three.transactions.map((payment: XrpServer.Json) => {
          const { metaData, ...fields } = payment
          if (metaData.TransactionIndex === 0) {
            return { ...fields, Amount: { vault: "00" }, metaData: { ...metaData, delivered_amount: "-1" } }
          }
          return metaData.TransactionIndex === 1 ? { hash: payment.hash, metaData: {} } : payment
        })
      }
      const hashOf = (index: number) =>
        three.transactions.find(({ metaData }: XrpServer.Json) => metaData.TransactionIndex === index).hash
      const server = yield* XrpServer.make({ ledgers: [odd], version })
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]], verify: "links" })
      const block = yield* source.blockAt(first)
      assert.deepStrictEqual(
        block.transfers.map(({ amount, from, to, transaction }) => [transaction, from ?? "", to ?? "", amount]),
        [
          [0, bytesOf(1), "", 1n],
          [0, "", bytesOf(2), 1n],
          [2, bytesOf(1), bytesOf(2), 3n]
        ]
      )
      const rule = "must be drops, or a currency or token with a value"
      const named = (block.notUnderstood ?? []).map(({ transactionId, transfers }) => [
        Buffer.from(transactionId!).toString("hex").toUpperCase(),
        transfers
      ])
      assert.deepStrictEqual(named, [
        [hashOf(0), 2],
        [hashOf(1), 0]
      ])
      assert.strictEqual(block.notUnderstood?.[0]?.reason, `Amount ${rule}; delivered_amount ${rule}`)
      assert.match(block.notUnderstood?.[1]?.reason ?? "", /^TransactionType must be a name/)

      const hash = odd.ledger_hash
      const shown = yield* source.explorer.transactionsOf({ ledger_hash: hash }, { limit: 2, offset: 0 })
      assert.strictEqual(shown.total, 3)
      const unknown = { amount: "0", unit: "" }
      assert.deepStrictEqual(
        shown.items.map(({ fee, hash, positionInBlock, receive, value }) => [
          positionInBlock,
          hash,
          fee.amount,
          value,
          receive
        ]),
        [
          [0, hashOf(0), "0.000012", unknown, unknown],
          [1, hashOf(1), "0", unknown, unknown]
        ]
      )
      const last = yield* source.explorer.transactionsOf({ ledger_hash: hash }, { limit: 2, offset: 2 })
      assert.deepStrictEqual(
        last.items.map(({ positionInBlock, receive }) => [positionInBlock, receive.amount]),
        [[2, "0.000003"]]
      )
    })
  )

  it.live("goes on after drops, silence and a server that is busy, and gives up with the reason", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers, version })
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]], ...quick })
      const faults = ["drop", "silence", { status: "error", error: "slowDown", error_code: 10 }] as const
      for (const fault of faults) {
        let left = 1
        server.override = (command) => (command === "ledger" && left-- > 0 ? fault : undefined)
        assert.strictEqual((yield* source.head).height, first + 5)
      }
      server.override = () => "silence"
      const silent = yield* errorOf(source.head)
      assert.strictEqual(silent._tag, "NodeUnreachable")
      assert.include(silent.message, "no answer within 400 ms")
      server.override = () => ({ status: "error", error: "noNetwork", error_code: 17 })
      const cutOff = yield* errorOf(source.head)
      assert.strictEqual(cutOff._tag, "NodeRejected")
      assert.include(cutOff.message, "noNetwork")
    })
  )

  it.live("names an answer that contradicts itself or the question", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers, version })
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]], ...quick, verify: "links" })
      const answers: ReadonlyArray<readonly [XrpServer.Json, string]> = [
        [{ ledger: { ...ledgers[1], transactions: [] }, validated: true }, "transactions is empty"],
        [{ ledger: ledgers[2], validated: true }, "asked for ledger"],
        [{ ledger: { ...ledgers[1], parent_hash: "x" }, validated: true }, "parent_hash"],
        [{}, "ledger"]
      ]
      for (const [answer, message] of answers) {
        server.override = (command) => (command === "ledger" ? answer : undefined)
        const error = yield* errorOf(source.blockAt(first + 1))
        assert.strictEqual(error._tag, "NodeInconsistent")
        assert.include(error.message, message)
      }
    })
  )

  it.live("adds up what a wallet holds, each branch to its gap", () =>
    Effect.gen(function* () {
      const balances = Object.fromEntries(
        [0, 19, 38, 57, 78, 1000, 1005].map((number, index) => [account(number), String(10n ** BigInt(index))])
      )
      const server = yield* XrpServer.make({ ledgers, version, balances })
      const source = yield* XrpSource.make(mainnet, { urls: [server[url]] })
      const branch = (start: number) => (from: number, count: number) =>
        Array.from({ length: count }, (_, index) => bytesOf(start + from + index))
      // 0, 19, 38 and 57 are within 20 of the last; 78 is not; 1000 and 1005 are the other branch.
      const drops = (...wanted: Parameters<typeof source.walletBalance>) =>
        Effect.map(source.walletBalance(...wanted), ({ drops }) => drops)
      assert.strictEqual(yield* drops([branch(0), branch(1000)]), 1_101_111n)
      assert.strictEqual(yield* drops([branch(0)], 21), 11_111n)
      assert.strictEqual(yield* drops([branch(0)], 3), 1n)
      // 78 is below the least index of the branch; behind that one it ends as ever.
      assert.strictEqual(yield* drops([branch(0)], 3, [79]), 11_111n)
      assert.strictEqual(yield* drops([]), 0n)
      // All from one ledger, so that coins that move meanwhile are counted once.
      const asked = server.commands.filter(({ command }) => command === "account_info")
      assert.deepStrictEqual([...new Set(asked.map(({ ledger_index }) => ledger_index))], [first + 5])
      server.override = (command) =>
        command === "account_info" ? { account_data: { Account: account(3), Balance: "5" } } : undefined
      const error = yield* errorOf(source.walletBalance([branch(0)]))
      assert.include(error.message, "another account")
    })
  )

  it.live("finds what lies behind accounts that were deleted, and says from which ledger on they are known", () =>
    Effect.gen(function* () {
      const deleted = Array.from({ length: 40 }, (_, index) => account(index))
      const balances = { [account(55)]: "7", [account(76)]: "100" }
      const addresses = [0, 39, 40, 55].map(bytesOf)
      const branch = (from: number, count: number) => Array.from({ length: count }, (_, i) => bytesOf(from + i))
      const answers = Effect.fnUntraced(function* (firstLedger?: number) {
        const begins = firstLedger === undefined ? {} : { firstLedger }
        const server = yield* XrpServer.make({ ledgers, version, balances, deleted, ...begins })
        const source = yield* XrpSource.make(mainnet, { urls: [server[url]] })
        return { server, source, found: yield* source.walletBalance([branch]) }
      })
      const { found, server, source } = yield* answers()
      // 76 is 21 behind 55, so that the wallet ends before it.
      assert.deepStrictEqual(found, { drops: 7n, completeFrom: 0 })
      assert.deepStrictEqual(yield* source.wereUsed(addresses), [true, true, false, true])
      assert.strictEqual((yield* answers(80_000_000)).found.completeFrom, 80_000_000)
      const wrong: ReadonlyArray<readonly [answer: XrpServer.Json, message: string]> = [
        [{ account: account(0), transactions: [], ledger_index_min: 1 }, "another account"],
        [{ transactions: [] }, "account"],
        [{ account: account(3), ledger_index_min: -1, transactions: [] }, "ledger_index_min"]
      ]
      for (const [answer, message] of wrong) {
        server.override = (command) => (command === "account_tx" ? answer : undefined)
        const error = yield* errorOf(source.wereUsed([bytesOf(3)]))
        assert.deepStrictEqual([error._tag, error.message.includes(message)], ["NodeInconsistent", true])
      }
    })
  )
})

describe("XrpSource", () => {
  it.live("says that a server is on another network", () =>
    Effect.gen(function* () {
      const networkOf = Effect.fnUntraced(function* (networkId?: number) {
        const server = yield* XrpServer.make({ ledgers, ...(networkId === undefined ? {} : { networkId }) })
        const source = yield* XrpSource.make(mainnet, { urls: [server.wsUrl] })
        return (yield* source.capabilities).find(({ name }) => name === "network")!
      })
      const wrong = yield* networkOf(1)
      assert.isFalse(wrong.available)
      assert.include(wrong.detail, "on network 1, not 0")
      assert.isTrue((yield* networkOf(0)).available)
      assert.isTrue((yield* networkOf()).available)
    })
  )

  it.live("lists an account's transactions to the end where one ledger has more of them than a page's answers", () =>
    Effect.gen(function* () {
      const busy = chainOf(first, 3, (height) =>
        Array.from({ length: 40 }, (_, i) => ({ from: 10 + i, to: 7, drops: BigInt(height) }))
      )
      const server = yield* XrpServer.make({ ledgers: busy })
      const { accountTransactions } = yield* XrpSource.make(mainnet, { urls: [server.wsUrl] })
      server.override = (command, params) =>
        // As of a server that answers few at a time.
        command === "account_tx" && params.limit > 3 ? server.answer(command, { ...params, limit: 3 }) : undefined
      for (const order of ["ascending", "descending"] as const) {
        const found: Array<string> = []
        for (let after: AccountTransactions.Place | undefined; ; ) {
          const page = yield* accountTransactions(bytesOf(7), { order, limit: 20, after })
          found.push(...page.items.map(({ item }) => item.hash))
          after = page.next
          if (after === undefined) break
        }
        assert.deepStrictEqual([found.length, new Set(found).size], [120, 120])
      }
      // A server that never comes to what was asked for has no list that ends here.
      server.override = (command, params) =>
        command === "account_tx"
          ? { ...server.answer(command, { ...params, marker: undefined }), marker: { ledger: 0, seq: 0 } }
          : undefined
      const after = [first, 0] as const
      const error = yield* errorOf(accountTransactions(bytesOf(7), { order: "descending", limit: 1, after }))
      assert.strictEqual(error._tag, "NodeInconsistent")
    })
  )

  it.live("names gaps in the history, and what a server has where a ledger is missing", () =>
    Effect.gen(function* () {
      const completeLedgers = `32570-${first - 10},${first}-${first + 5}`
      const server = yield* XrpServer.make({ ledgers, completeLedgers })
      const source = yield* XrpSource.make(mainnet, { urls: [server.httpUrl] })
      const [, history] = yield* source.capabilities
      assert.strictEqual(history?.available, false)
      assert.include(history?.detail, `lacks ${first - 9} to ${first - 1}`)
      const error = yield* errorOf(source.blockAt(first - 5))
      assert.strictEqual(error._tag, "BlockMissing")
      assert.include(error.message, completeLedgers)
      const whole = yield* XrpServer.make({ ledgers })
      const [, complete] = yield* (yield* XrpSource.make(mainnet, { urls: [whole.httpUrl] })).capabilities
      assert.strictEqual(complete?.available, true)
    })
  )

  it("reads and describes complete_ledgers", () => {
    assert.deepStrictEqual(CompleteLedgers.parse("empty"), [])
    assert.deepStrictEqual(CompleteLedgers.parse("5,7-9, 11-12"), [
      [5, 5],
      [7, 9],
      [11, 12]
    ])
    assert.deepStrictEqual(CompleteLedgers.gaps(CompleteLedgers.parse("7-9,5,12-14,10")), [
      [6, 6],
      [11, 11]
    ])
    const many = Array.from({ length: 13 }, (_, index) => [2 * index, 2 * index] as const)
    assert.match(CompleteLedgers.describe(many), /^0, 2, .* and 3 more$/)
  })

  it.live("asks the next server for a ledger that the first has not, and fails over when it is down", () =>
    Effect.gen(function* () {
      const short = yield* XrpServer.make({ ledgers: ledgers.slice(3) })
      const full = yield* XrpServer.make({ ledgers })
      const source = yield* XrpSource.make(mainnet, { urls: [short.wsUrl, full.httpUrl], ...quick })
      assert.strictEqual((yield* source.blockAt(first)).height, first)
      const asked = full.commands.length
      assert.strictEqual((yield* source.blockAt(first + 4)).height, first + 4)
      assert.strictEqual(full.commands.length, asked)
      short.override = () => "drop"
      assert.strictEqual((yield* source.head).height, first + 5)
      assert.isAbove(full.commands.length, asked)
    })
  )

  it.live("asks the next server where one is closed to its callers, blocked by an amendment, or lies", () =>
    Effect.gen(function* () {
      const faults = ["forbidden", "noPermission", "amendmentBlocked", "unlBlocked", "noNetwork"]
      for (const error of faults) {
        const faulty = yield* XrpServer.make({ ledgers })
        const well = yield* XrpServer.make({ ledgers })
        const source = yield* XrpSource.make(mainnet, { urls: [faulty.httpUrl, well.httpUrl], ...quick })
        faulty.override = () => ({ status: "error", error, error_code: 1 })
        assert.strictEqual((yield* source.head).height, first + 5, error)
        const block = yield* source.blockAt(first + 1)
        assert.strictEqual(hex(block.hash), ledgers[1]!.ledger_hash)
      }
      const liar = yield* XrpServer.make({ ledgers })
      const honest = yield* XrpServer.make({ ledgers })
      const source = yield* XrpSource.make(mainnet, { urls: [liar.wsUrl, honest.httpUrl], ...quick })
      const [, lied] = ledgers
      const [paid, ...others] = lied!.transactions
      liar.override = (command, { ledger_index: index }) =>
        command === "ledger" && index === first + 1
          ? { ledger: { ...lied, transactions: [{ ...paid, Amount: "999" }, ...others] }, validated: true }
          : undefined
      assert.strictEqual(hex((yield* source.blockAt(first + 1)).hash), lied!.ledger_hash)
      const [resting] = yield* source.resting!
      assert.strictEqual(resting?.node, liar.wsUrl.slice("ws://".length))
      assert.include(resting?.reason, "does not hash to its hash")
    })
  )

  it.live("sends user and password as a header only, and shows them in no error", () =>
    Effect.gen(function* () {
      for (const scheme of ["ws", "http"]) {
        const urls = [`${scheme}://someone:verysecret@127.0.0.1:1/token-in-path`] as const
        const error = yield* errorOf(XrpSource.make(mainnet, { urls, timeoutMillis: 300, attempts: 1 }))
        assert.strictEqual(error._tag, "NodeUnreachable")
        assert.notMatch(JSON.stringify(error) + error.message, /verysecret|token-in-path/)
        assert.include(JSON.stringify(error), "127.0.0.1:1")
      }
    })
  )

  it.live("shows the key of a URL in no error, also where the server repeats the key", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers })
      server.override = () => ({ status: "error", error: "noKey", error_message: "key 0123456789abcdef is over" })
      for (const url of [server.wsUrl, server.httpUrl]) {
        const urls = [`${url}/v1/0123456789abcdef`] as const
        const error = yield* errorOf(XrpSource.make(mainnet, { urls, ...quick, attempts: 1 }))
        assert.include(error.message, "noKey: key *** is over")
      }
    })
  )

  it.live("reconnects after the server has gone and come, and reads no nonsense that it sends", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers })
      const source = yield* XrpSource.make(mainnet, { urls: [server.wsUrl], ...quick })
      assert.strictEqual(server.connections(), 1)
      server.cut()
      yield* source.head
      server.push("not JSON")
      yield* source.head
      assert.isAbove(server.connections(), 2)
      for (const message of [5, null, [], {}, { id: 999, result: {} }, { type: "ledgerClosed" }]) server.push(message)
      const connections = server.connections()
      yield* source.head
      assert.strictEqual(server.connections(), connections)
      assert.isAbove(server.commands.filter(({ command }) => command === "subscribe").length, 2)
    })
  )

  it.live("fails all that wait for a connection when it cannot be opened", () =>
    Effect.gen(function* () {
      let connections = 0
      const deaf = yield* FakeNode.http(() => {
        connections++
      }, "listener")
      const server = yield* XrpWebSocket.make({
        url: new URL(deaf.url.replace("http", "ws")),
        timeoutMillis: 1_000,
        onLedgerClosed: () => {}
      })
      const failures = yield* Effect.all(
        Array.from({ length: 20 }, () => Effect.flip(server.request("ledger", {}))),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(connections, 1)
      for (const { error } of failures) assert.match(error.message, /connection/)
      // The next to come tries again.
      yield* Effect.flip(server.request("ledger", {}))
      assert.strictEqual(connections, 2)
    })
  )

  it.live("wakes at an announcement, once for any number that came meanwhile", () =>
    Effect.gen(function* () {
      const server = yield* XrpServer.make({ ledgers })
      const source = yield* XrpSource.make(mainnet, { urls: [server.wsUrl] })
      const woken = yield* Effect.forkChild(source.announced!)
      yield* Effect.sleep("20 millis")
      assert.isUndefined(woken.pollUnsafe())
      server.announce(first + 1)
      yield* Fiber.join(woken)
      for (let n = 0; n < 5; n++) server.announce(first + n)
      yield* Effect.sleep("50 millis")
      yield* source.announced!
      const again = yield* Effect.forkChild(source.announced!)
      yield* Effect.sleep("50 millis")
      assert.isUndefined(again.pollUnsafe())
      yield* Fiber.interrupt(again)
    })
  )
})

/** Bodies of the callbacks that are due, in the order in which they would be sent. */
const callbacks = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) => db.selectFrom("callback").select(["body", "state"]).orderBy("id"))
  return rows.filter(({ state }) => state === "due").map(({ body }) => JSON.parse(body))
})

const subscribe = Effect.fnUntraced(function* (of: number | undefined) {
  const { create } = yield* Subscriptions
  return yield* create({
    account: 1,
    chain: mainnet,
    event: of === undefined ? "BLOCK_MINED" : "ADDRESS_COINS_TRANSACTION_CONFIRMED",
    address: of === undefined ? undefined : bytesOf(of),
    callbackUrl: "https://receiver.test/",
    secret: undefined,
    confirmations: 1,
    allowDuplicates: false
  })
})

const storeLayer = Layer.mergeAll(Subscriptions.layer.pipe(Layer.provideMerge(stores[0]!.layer)), ChainStatus.layer)

describe("subscriptions on ledgers that a server replays", () => {
  it.live("each event once, whatever is pushed in whatever order, and however often the connection is lost", () =>
    Effect.gen(function* () {
      const replayed = chainOf(first, 60, (height) =>
        Array.from({ length: height % 4 }, (_, index) => ({
          from: (height + index) % 7,
          to: (height * 3 + index) % 7,
          drops: BigInt(height * 10 + index)
        }))
      )
      const server = yield* XrpServer.make({ ledgers: replayed })
      server.validated = first
      const source = yield* XrpSource.make(mainnet, { urls: [server.wsUrl], timeoutMillis: 2_000 })
      const store = yield* ChainStore.open(mainnet, { record: "watched", undoDepth: 1 })
      yield* subscribe(undefined)
      for (const number of [0, 3]) yield* subscribe(number)
      const follow = yield* Follow.make(source, store, {
        start: first,
        // So long that it follows by announcements.
        pollInterval: Duration.seconds(20),
        concurrency: 3,
        undoDepth: 1
      })
      const fiber = yield* Effect.forkChild(follow.run)
      const reach = (height: number) =>
        Effect.gen(function* () {
          for (;;) {
            if ((yield* store.cursor)?.height === height) return
            yield* Effect.sleep("20 millis")
          }
        }).pipe(Effect.timeout("2 minutes"))
      let random = 7
      const next = (below: number) => {
        random = (random * 1_103_515_245 + 12_345) % 2 ** 31
        return random % below
      }
      while (server.validated < first + 59) {
        server.validated = Math.min(server.validated + 1 + next(4), first + 59)
        if (next(3) === 0) server.cut()
        let faults = next(3) === 0 ? 2 : 0
        server.override = (command) => (command === "ledger" && faults-- > 0 ? "drop" : undefined)
        const pushes = [server.validated, server.validated - next(5), server.validated + 3, server.validated]
        for (const height of pushes) server.announce(height)
        // After a cut nothing arrives until the source connects again, which its own poll would do.
        if (server.connections() > 0) {
          yield* Effect.raceFirst(
            reach(server.validated),
            Effect.gen(function* () {
              for (;;) {
                yield* Effect.sleep("30 millis")
                yield* Effect.exit(source.head)
                server.announce(server.validated)
              }
            })
          )
        }
      }
      yield* Fiber.interrupt(fiber)

      const sent = (yield* callbacks).map(({ data: { event, item } }) =>
        event === "BLOCK_MINED"
          ? `mined ${item.height} ${item.hash}`
          : `${item.minedInBlock.height} ${item.transactionId} ${item.address} ${item.direction} ${item.amount}`
      )
      const watched = new Set([account(0), account(3)])
      const expected = replayed.flatMap((ledger) => [
        `mined ${ledger.ledger_index} ${ledger.ledger_hash}`,
        ...ledger.transactions.flatMap((payment: XrpServer.Json) =>
          [
            [payment.Account, "outgoing"],
            [payment.Destination, "incoming"]
          ]
            .filter(([address]) => watched.has(address))
            .map(
              ([address, direction]) =>
                `${ledger.ledger_index} ${payment.hash} ${address} ${direction} ${(Number(payment.Amount) / 1e6).toFixed(6).replace(/\.?0+$/, "")}`
            )
        )
      ])
      assert.deepStrictEqual(sent.toSorted(), expected.toSorted())
      assert.strictEqual(new Set(sent).size, sent.length)
      assert.isAbove(server.connections(), 5)
    }).pipe(Effect.provide(storeLayer))
  )

  it.live.skipIf(!Fixtures.exist)(
    "recorded ledgers have burned the fees of their transactions, which are found one by one",
    () =>
      Effect.gen(function* () {
        const folder = "xrp/rippled-historical-database/test/mock/ledgers/"
        const recorded = Array.from(
          { length: 13 },
          (_, index) => Fixtures.json(`${folder}${11_119_607 + index}.json`) as XrpServer.Json
        )
        const server = yield* XrpServer.make({ ledgers: recorded })
        const { accountTransactions, explorer } = yield* XrpSource.make(mainnet, { urls: [server.wsUrl] })
        const newest = yield* explorer.newest(13)
        assert.deepStrictEqual(
          newest.toReversed().map(({ count, fees, hash, totalCoins }) => [hex(hash), count, fees, totalCoins]),
          recorded.map(({ ledger_hash, total_coins, transactions }) => [
            ledger_hash,
            transactions.length,
            transactions.reduce((sum: bigint, { Fee }: XrpServer.Json) => sum + BigInt(Fee), 0n),
            BigInt(total_coins)
          ])
        )
        const wanted = { ledger_index: 11_119_610 }
        const { items, total } = yield* explorer.transactionsOf(wanted, { limit: 1_000, offset: 0 })
        assert.strictEqual(total, recorded[3]!.transactions.length)
        for (const item of items) assert.deepStrictEqual((yield* explorer.transaction(item.hash))?.item, item)

        // The account that most transactions name, against all ledgers.
        const texts = recorded.flatMap(({ ledger_index: height, transactions }) =>
          transactions.map((entry: XrpServer.Json) => ({
            text: JSON.stringify(entry),
            hash: entry.hash,
            height,
            entry
          }))
        )
        const senders = Map.groupBy(texts, ({ entry }) => entry.Account as string)
        const [busiest] = [...senders].sort(([, a], [, b]) => b.length - a.length)[0]!
        const named = texts.filter(({ text }) => text.includes(busiest))
        assert.isAbove(named.length, 20)
        const address = Result.getOrThrow(Address.decode(mainnet, busiest))
        const found: Array<string> = []
        for (let after: AccountTransactions.Place | undefined; ; ) {
          const page = yield* accountTransactions(address, { order: "descending", limit: 9, after })
          for (const { item } of page.items) {
            assert.deepStrictEqual((yield* explorer.transaction(item.hash))?.item, item)
            found.push(item.hash)
          }
          after = page.next
          if (after === undefined) break
        }
        const place = ({ entry, height }: (typeof named)[number]) =>
          Number(height) * 10_000 + entry.metaData.TransactionIndex
        assert.deepStrictEqual(
          found,
          named.toSorted((a, b) => place(b) - place(a)).map(({ hash }) => hash)
        )
      }).pipe(Effect.scoped)
  )

  it.live.skipIf(!Fixtures.exist)(
    "recorded ledgers 11119607 to 11119619: each account hears of every change of its XRP, and a replay adds nothing",
    () =>
      Effect.gen(function* () {
        const folder = "xrp/rippled-historical-database/test/mock/ledgers/"
        const recorded = Array.from(
          { length: 13 },
          (_, index) => Fixtures.json(`${folder}${11_119_607 + index}.json`) as XrpServer.Json
        )
        const server = yield* XrpServer.make({ ledgers: recorded })
        const source = yield* XrpSource.make(mainnet, { urls: [server.wsUrl] })
        const transactions = recorded.flatMap((ledger) => ledger.transactions as ReadonlyArray<XrpServer.Json>)
        const changes = transactions.flatMap(({ Account, Fee, TransactionType, hash, metaData }) =>
          getBalanceChanges(metaData as never).flatMap(({ account, balances }) => {
            const own = balances.find(({ currency }) => currency === "XRP")
            const drops = Math.round(Number(own?.value ?? 0) * 1e6) + (account === Account ? Number(Fee) : 0)
            return [{ account, drops, hash, type: TransactionType }]
          })
        )
        const store = yield* ChainStore.open(mainnet, { record: "watched", undoDepth: 1 })
        const { create } = yield* Subscriptions
        for (const address of new Set(changes.map(({ account }) => account))) {
          yield* create({
            account: 1,
            chain: mainnet,
            event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
            address: Result.getOrThrow(Address.decode(mainnet, address)),
            callbackUrl: "https://receiver.test/",
            secret: undefined,
            confirmations: 1,
            allowDuplicates: false
          })
        }
        const follow = yield* Follow.make(source, store, {
          start: 11_119_607,
          pollInterval: Duration.seconds(1),
          concurrency: 4,
          undoDepth: 1
        })
        yield* follow.step
        yield* follow.step
        const sent = (yield* callbacks).map(
          ({ data: { item } }) =>
            `${item.transactionId} ${item.transactionType} ${item.address} ${item.direction} ${item.amount} ${item.unit}`
        )
        const expected = changes
          .filter(({ drops }) => drops !== 0)
          .map(({ account, drops, hash, type }) => {
            const direction = drops > 0 ? "incoming" : "outgoing"
            return `${hash} ${type} ${account} ${direction} ${Math.abs(drops) / 1e6} XRP`
          })
        assert.deepStrictEqual(sent.toSorted(), expected.toSorted())
        assert.isAbove(expected.filter((line) => line.includes(" OfferCreate ")).length, 20)
        for (let height = 11_119_607; height <= 11_119_619; height++) {
          const again = yield* source.blockAt(height)
          assert.strictEqual(yield* store.reprocess(again, { callbacks: true, internalFrom: undefined }), 0)
        }
      }).pipe(Effect.provide(storeLayer))
  )
})

describe("XRP wallets", () => {
  it("derive the addresses that ripple-keypairs derives from the same keys", () => {
    const wallet = HDNodeWallet.fromSeed("0x000102030405060708090a0b0c0d0e0f").derivePath("m/44'/144'/0'")
    const key = Result.getOrThrow(ExtendedPublicKey.decode(mainnet, wallet.neuter().extendedKey))
    for (const [type, index] of [
      ["receive", 0],
      ["change", 1]
    ] as const) {
      const branch = Result.getOrThrow(Derivation.branch(mainnet, key, { type }))
      const derived = Derivation.derive(branch, 0, 50).map(Result.getOrThrow)
      assert.deepStrictEqual(
        derived.map(({ address }) => address),
        Array.from({ length: 50 }, (_, n) =>
          deriveAddress(wallet.derivePath(`${index}/${n}`).publicKey.slice(2).toUpperCase())
        )
      )
    }
  })
})
