import { assert, describe, it } from "@effect/vitest"
import * as BytesInFlight from "@headwater/indexer/families/node/BytesInFlight"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import * as Effect from "effect/Effect"
import { chainOf, mainnet } from "./XrpLedgers.ts"
import * as XrpServer from "./XrpServer.ts"

const height = 90_000_000
const payments = Array.from({ length: 200 }, (_, index) => ({ from: index, to: index + 1, drops: BigInt(index + 1) }))
const ledgers = chainOf(height, 1, () => payments)

/** A server that shows single transactions as well. */
const server = (version: 1 | 2) =>
  Effect.map(XrpServer.make({ ledgers, version }), (server) => {
    const shown = version === 2 ? XrpServer.version2(ledgers[0]!) : ledgers[0]!
    server.override = (command, params) => {
      if (command === "tx") {
        const { metaData, ...found } = shown.transactions.find(
          ({ hash }: XrpServer.Json) => hash === params.transaction
        )
        return { ...found, ...(metaData === undefined ? {} : { meta: metaData }), status: "success" }
      }
      if (command !== "ledger" || params.transactions !== true || params.expand === true) return undefined
      const transactions = shown.transactions.map(({ hash }: XrpServer.Json) => hash)
      return { ledger: { ...shown, transactions }, ledger_index: height, validated: true, status: "success" }
    }
    return server
  })

describe("XrpSource, with little room for answers", () => {
  for (const [url, version] of [
    ["wsUrl", 1],
    ["httpUrl", 1],
    ["httpUrl", 2]
  ] as const) {
    it.live(`a ledger that is too large is the same by its transactions (${url}, API version ${version})`, () =>
      Effect.gen(function* () {
        const node = yield* server(version)
        const options = { urls: [node[url]], attempts: 2 } as const
        const whole = yield* (yield* XrpSource.make(mainnet, options)).blockAt(height)
        assert.strictEqual(whole.transfers.length, payments.length)
        const bytes = BytesInFlight.make(Math.ceil(JSON.stringify(ledgers[0]).length * 0.9))
        const source = yield* XrpSource.make(mainnet, options).pipe(Effect.provideService(BytesInFlight.Current, bytes))
        assert.deepStrictEqual(yield* bytes.block(source.blockAt(height)), whole)
        assert.strictEqual(node.commands.filter(({ command }) => command === "tx").length, payments.length)
        assert.strictEqual(bytes.held(), 0)
      })
    )
  }

  it.live(
    "a ledger whose message would hold up the event loop is read by its transactions, however much room there is",
    () =>
      Effect.gen(function* () {
        const node = yield* server(1)
        const answer = node.override!
        const padding = "x".repeat(17_000_000)
        node.override = (command, params) =>
          command === "ledger" && params.expand === true
            ? { ledger: ledgers[0]!, padding, ledger_index: height, validated: true, status: "success" }
            : answer(command, params)
        const source = yield* XrpSource.make(mainnet, { urls: [node.wsUrl], attempts: 2 })
        assert.lengthOf((yield* source.blockAt(height)).transfers, payments.length)
        assert.strictEqual(node.commands.filter(({ command }) => command === "tx").length, payments.length)
      })
  )

  it.live("a transaction that the server does not give takes no other with it, and not one of them is no ledger", () =>
    Effect.gen(function* () {
      const node = yield* server(1)
      const answer = node.override!
      let isRefused = (hash: unknown) => hash === ledgers[0]!.transactions[7]!.hash
      node.override = (command, params) =>
        command === "tx" && isRefused(params.transaction)
          ? { error: "txnNotFound", error_code: 29, status: "error" }
          : answer(command, params)
      const options = { urls: [node.httpUrl], attempts: 1 } as const
      const whole = yield* (yield* XrpSource.make(mainnet, options)).blockAt(height)
      const bytes = BytesInFlight.make(Math.ceil(JSON.stringify(ledgers[0]).length * 0.9))
      const source = yield* XrpSource.make(mainnet, options).pipe(Effect.provideService(BytesInFlight.Current, bytes))
      const read = yield* bytes.block(source.blockAt(height))
      assert.deepStrictEqual(
        read.notUnderstood?.map(({ transactionId, transfers }) => [
          Buffer.from(transactionId!).toString("hex"),
          transfers
        ]),
        [[ledgers[0]!.transactions[7]!.hash.toLowerCase(), 0]]
      )
      // The place in the ledger is in the metadata, which only the others have.
      const lost = read.transactions.findIndex((id) => Buffer.compare(id, read.notUnderstood![0]!.transactionId!) === 0)
      const sums = (block: typeof read) => block.transfers.map(({ amount }) => amount)
      assert.deepStrictEqual(
        sums(read),
        sums({ ...whole, transfers: whole.transfers.filter(({ transaction }) => transaction !== lost) })
      )
      isRefused = () => true
      const error = yield* Effect.flip(bytes.block(source.blockAt(height)))
      assert.match(error.message, /^txnNotFound/)
    })
  )

  for (const url of ["wsUrl", "httpUrl"] as const) {
    it.live(`null stands for what rippled leaves out (${url})`, () =>
      Effect.gen(function* () {
        const node = yield* server(1)
        const source = yield* XrpSource.make(mainnet, { urls: [node[url]], attempts: 1 })
        const whole = yield* source.blockAt(height)
        const absent = {
          Delegate: null,
          DestinationTag: null,
          Memos: null,
          SendMax: null,
          SourceTag: null,
          Sponsor: null
        }
        const transactions = ledgers[0]!.transactions.map((each: XrpServer.Json) => ({ ...absent, ...each }))
        node.override = (command) =>
          command === "ledger"
            ? { ledger: { ...ledgers[0]!, transactions }, ledger_index: height, validated: true, status: "success" }
            : undefined
        assert.deepStrictEqual(yield* source.blockAt(height), whole)
      })
    )
  }

  it.live("a server that is gone is told as such", () =>
    Effect.gen(function* () {
      const node = yield* server(1)
      const source = yield* XrpSource.make(mainnet, { urls: [node.wsUrl], attempts: 1, timeoutMillis: 300 })
      node.override = (command) => (command === "ledger" ? "drop" : undefined)
      assert.strictEqual((yield* Effect.flip(source.blockAt(height)))._tag, "NodeUnreachable")
    })
  )
})
