/** Subscriptions to recorded transactions of the XRP Ledger and of Tron, those that failed among them, from block to receiver. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as Tron from "../packages/indexer/test/families/tron/TronBlocks.ts"
import * as TronNode from "../packages/indexer/test/families/tron/TronNode.ts"
import * as XrpServer from "../packages/indexer/test/families/xrp/XrpServer.ts"
import * as Headwater from "./Headwater.ts"
import * as Receiver from "./Receiver.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

/** A transaction, and the block that has it. */
interface Mined {
  readonly transactionId: string
  readonly failed: boolean
  readonly minedInBlock: { readonly height: number; readonly hash: string; readonly timestamp: number }
}

const xrp = Effect.gen(function* () {
  const folder = "xrp/rippled-historical-database/test/mock/ledgers/"
  const first = 11_119_607
  const ledgers = Array.from(
    { length: 13 },
    (_, index) => Fixtures.json(`${folder}${first + index}.json`) as XrpServer.Json
  )
  const server = yield* XrpServer.make({ ledgers, networkId: 0 })
  server.validated = first + 6
  const mined = ledgers.flatMap(
    ({ close_time, ledger_hash, ledger_index, transactions }): ReadonlyArray<Mined> =>
      transactions.map(({ hash, metaData }: XrpServer.Json) => ({
        transactionId: hash,
        failed: metaData.TransactionResult !== "tesSUCCESS",
        minedInBlock: { height: Number(ledger_index), hash: ledger_hash, timestamp: close_time + 946_684_800 }
      }))
  )
  const grow = () => {
    server.validated = first + 12
    server.announce(server.validated)
  }
  // The first ledger is from before those that are followed.
  const settings = { nodes: [server.wsUrl], start: first + 1, pollMillis: 100 }
  return { place: "xrp/mainnet", settings, mined, present: first + 6, grow }
})

const tron = Effect.gen(function* () {
  const collected = Fixtures.json("tron/collected/tx-sha256-verified.shared.json") as ReadonlyArray<{
    readonly tx: TronNode.Json
  }>
  const unique = [...new Map(collected.map(({ tx }) => [tx.txID as string, tx])).values()]
  const start = 100
  /** The second transaction of each block has failed. */
  const resultOf = (index: number) => (index === 1 ? { result: "FAILED", receipt: { result: "OUT_OF_ENERGY" } } : {})
  const perBlock = Math.ceil(unique.length / 4)
  const blocks = Tron.linked(
    Array.from({ length: 6 }, (_, index) => {
      const own = unique.slice((index - 1) * perBlock, index * perBlock)
      const transactions = index === 0 ? [] : own
      const infos = transactions.map((tx, at) =>
        Tron.infoOf(tx, start + index, { contract_address: Tron.account(50), ...resultOf(at) })
      )
      return Tron.blockOf(start + index, transactions, infos)
    })
  )
  const node = yield* TronNode.make({ blocks, solid: start })
  node.height = start + 2
  const mined = blocks.flatMap(({ block }): ReadonlyArray<Mined> => {
    const { number: height, timestamp } = block.block_header.raw_data
    return (block.transactions ?? []).map(({ txID }: TronNode.Json, at: number) => ({
      transactionId: txID,
      failed: at === 1,
      minedInBlock: { height, hash: block.blockID, timestamp: timestamp / 1000 }
    }))
  })
  const grow = () => {
    node.height = start + 5
  }
  const settings = { nodes: [node.url], start, pollMillis: 100, verify: "links" }
  return { place: "tron/mainnet", settings, mined, present: start + 2, grow }
})

describe.skipIf(!Fixtures.exist || !isInTurn(import.meta.url))("transaction-mined, by recorded transactions", () => {
  it.live.each([
    ["the XRP Ledger", xrp],
    ["Tron", tron]
  ] as const)("tells those of %s with their blocks, from before the subscription and behind it", ([, chain]) =>
    Effect.gen(function* () {
      const { grow, mined, place, present, settings } = yield* chain
      const receiver = yield* Receiver.start()
      const headwater = yield* Headwater.start(yield* locations[0]!.location as Effect.Effect<never>, {
        chains: { [place]: settings },
        callbacks: { allowHosts: ["localhost"], extraCa: receiver.ca }
      })
      const past = mined.filter(({ minedInBlock }) => minedInBlock.height <= present)
      const later = mined.filter(({ minedInBlock }) => minedInBlock.height > present)
      const wanted = [past, later].flatMap((some) => [
        some[0]!,
        some.at(-1)!,
        some.find(({ failed }) => failed)!,
        some[Math.floor(some.length / 2)]!
      ])
      assert.isAbove(wanted.filter(({ failed }) => failed).length, 1)
      const [blockchain, network] = place.split("/")
      const items = wanted.map(({ transactionId }, i) => ({
        ...{ eventType: "TRANSACTION_MINED", callbackUrl: `${receiver.url}/${i}`, allowDuplicates: true },
        transactionId: i % 2 === 0 ? transactionId.toLowerCase() : transactionId.toUpperCase()
      }))
      const { body } = yield* headwater.post(`/blockchain-events/${place}/bulk`, { idempotencyKey: "all", items })
      assert.deepStrictEqual(
        body.data?.items.map(({ item }: { readonly item: Mined }) => item.transactionId),
        wanted.map(({ transactionId }) => transactionId),
        JSON.stringify(body)
      )
      const told = (i: number) => receiver.accepted().filter(({ path }) => path === `/${i}`)
      const half = wanted.length / 2
      yield* receiver.until(() => wanted.slice(0, half).every((_, i) => told(i).length > 0))
      for (let i = half; i < wanted.length; i++) assert.lengthOf(told(i), 0)
      grow()
      yield* receiver.until(() => wanted.every((_, i) => told(i).length > 0))
      for (const [i, { minedInBlock, transactionId }] of wanted.entries()) {
        assert.deepStrictEqual(
          told(i).map(({ body }) => body.data.item),
          [{ blockchain, network, transactionId, minedInBlock }]
        )
      }
    }).pipe(Effect.scoped)
  )
})
