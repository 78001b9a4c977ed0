/** Recorded transactions of Ethereum are shown as their receipts, logs and call traces say. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { AbiCoder, formatEther, getAddress, id } from "ethers"
import * as EvmNode from "../packages/indexer/test/families/evm/EvmNode.ts"
import * as FakeNode from "../packages/indexer/test/FakeNode.ts"
import * as Fixtures from "../packages/indexer/test/Fixtures.ts"
import * as Headwater from "./Headwater.ts"
import { locations } from "./Stores.ts"
import { isInTurn } from "./Turn.ts"

type Json = EvmNode.Json

/** The first block of Ethereum, by which the network is known. */
const genesis = "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"

const coins = (wei: bigint) => formatEther(wei).replace(/\.0$/, "")

/** A node that has one block, and of the one before its time alone. */
const nodeWith = (recorded: EvmNode.RecordedBlock) => {
  const { block, callTracer, receipts } = recorded
  const answers = EvmNode.answers([recorded])
  const contracts = new Set(receipts.flatMap(({ logs }) => logs.map(({ address }: Json) => address)))
  const before = { ...block, hash: block.parentHash, number: `0x${(Number(block.number) - 1).toString(16)}` }
  const header = (of: Json) => ({ ...of, transactions: of.transactions.map(({ hash }: Json) => hash) })
  const indexOf = (hash: unknown) => block.transactions.findIndex((each: Json) => each.hash === hash)
  return FakeNode.make((method, params) => {
    const [first] = params
    switch (method) {
      case "eth_getBlockByHash":
        return first === block.hash ? header(block) : { ...before, transactions: [] }
      case "eth_getBlockByNumber":
        return first === "0x0" ? { ...before, number: "0x0", hash: genesis, transactions: [] } : answers(method, params)
      case "eth_getTransactionByHash":
        return block.transactions[indexOf(first)] ?? null
      case "debug_traceTransaction":
        return callTracer![indexOf(first)]
      case "eth_getCode":
        return contracts.has(first) ? "0x60" : "0x"
      case "eth_call":
        throw new FakeNode.RpcError(3, "execution reverted")
      default:
        return answers(method, params)
    }
  })
}

const addressIn = (topic: string) => getAddress(`0x${topic.slice(-40)}`)
const transfer = id("Transfer(address,address,uint256)")
const single = id("TransferSingle(address,address,address,uint256,uint256)")
const batch = id("TransferBatch(address,address,address,uint256[],uint256[])")

/** The tokens that a log moves, in the smallest unit: of contracts that say nothing of themselves. */
const tokensOf = ({ address, data, topics }: Json): ReadonlyArray<string> => {
  const [event, a, b, c] = topics as ReadonlyArray<string>
  const read = (...types: ReadonlyArray<string>) => AbiCoder.defaultAbiCoder().decode(types, data)
  const shown = (from: string, to: string, amount: bigint, tokenId: bigint | "") =>
    [addressIn(from), addressIn(to), getAddress(address), amount, tokenId].join()
  if (event === transfer && topics.length === 3) return [shown(a!, b!, read("uint256")[0], "")]
  if (event === transfer && topics.length === 4) return [shown(a!, b!, 1n, BigInt(c!))]
  if (event === single) return [shown(b!, c!, read("uint256", "uint256")[1], read("uint256", "uint256")[0])]
  if (event !== batch) return []
  const [ids, amounts] = read("uint256[]", "uint256[]")
  return ids.map((tokenId: bigint, index: number) => shown(b!, c!, amounts[index], tokenId))
}

const moving = new Set(["CALL", "CREATE", "CREATE2", "SELFDESTRUCT"])

/** The coins that the calls below a frame move, as far as nothing undid them. */
const movesOf = (frame: Json, depth = 0): ReadonlyArray<string> => {
  if (frame.error !== undefined) return []
  const { calls = [], from, to, type, value = "0x0" } = frame
  const own = [type.toLowerCase(), getAddress(from), getAddress(to ?? from), coins(BigInt(value))].join()
  const isMove = depth > 0 && moving.has(type) && BigInt(value) > 0n
  return [...(isMove ? [own] : []), ...calls.flatMap((call: Json) => movesOf(call, depth + 1))]
}

const { location } = locations[0]!

describe.skipIf(!Fixtures.exist || !isInTurn(import.meta.url))("Recorded blocks of Ethereum", () => {
  // From before there was a market for fees, and with it.
  for (const name of ["ethereum-4404763", "ethereum-17053184"]) {
    it.live(`are shown as their receipts, logs and traces say, ${name}`, () =>
      Effect.gen(function* () {
        const { recorded } = EvmNode.bundle(name)
        const { block, callTracer, receipts } = recorded
        const node = yield* nodeWith(recorded)
        const headwater = yield* Headwater.start(yield* location as Effect.Effect<never>, {
          chains: { "ethereum/mainnet": { nodes: [node.url], start: Number(block.number), pollMillis: 100 } }
        })
        const { data: ask } = headwater
        for (const [index, transaction] of block.transactions.entries()) {
          if (index % 3 > 0) continue
          const { hash } = transaction
          const receipt = receipts[index]!
          const path = `/transactions/evm/ethereum/mainnet/${hash}`
          const { item } = yield* ask(path)
          const price = BigInt(receipt.effectiveGasPrice ?? transaction.gasPrice)
          assert.deepInclude(item, {
            ...{ hash, positionInBlock: index, inputData: transaction.input, timestamp: Number(block.timestamp) },
            ...{
              sender: getAddress(transaction.from),
              recipient: getAddress(transaction.to ?? receipt.contractAddress)
            },
            ...{
              gasLimit: Number(transaction.gas),
              gasUsed: Number(receipt.gasUsed),
              nonce: Number(transaction.nonce)
            },
            fee: { amount: coins(price * BigInt(receipt.gasUsed)), unit: "ETH" },
            gasPrice: { amount: coins(price), unit: "ETH" },
            minedInBlock: { hash: block.hash, height: Number(block.number) },
            status: receipt.status === "0x1" ? "success" : "failed",
            value: { amount: coins(BigInt(transaction.value)), unit: "ETH" }
          })
          const tokens = yield* ask(`${path}/tokens-transfers?limit=50`)
          const expected = receipt.logs.flatMap(tokensOf)
          assert.deepStrictEqual(
            [
              tokens.total,
              tokens.items.map(({ recipient, sender, tokenData }: Json) =>
                [
                  ...[sender, recipient, tokenData.contractAddress, tokenData.fungibleValues.amount],
                  tokenData.nonFungibleValues?.tokenId ?? ""
                ].join()
              )
            ],
            [expected.length, expected.slice(0, 50)]
          )
          const logs = yield* ask(`${path}/logs?limit=50`)
          assert.deepStrictEqual(
            [logs.total, logs.items.map(({ name: _, ...log }: Json) => log)],
            [
              receipt.logs.length,
              receipt.logs.slice(0, 50).map(({ address, data, topics }: Json) => ({
                address: getAddress(address),
                data,
                isRemoved: false,
                topics
              }))
            ]
          )
          if (callTracer === undefined) continue
          const internal = yield* ask(`${path}/internal?limit=50`)
          const moves = movesOf(callTracer[index]!)
          assert.deepStrictEqual(
            [
              internal.total,
              internal.items.map(({ operationType, recipient, sender, value }: Json) =>
                [operationType, sender, recipient, value.amount].join()
              )
            ],
            [moves.length, moves.slice(0, 50)]
          )
        }
      }).pipe(Effect.scoped)
    )
  }
})
