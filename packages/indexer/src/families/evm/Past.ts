/** What an EVM node shows of blocks long past: logs by topic, and accounts where the node keeps their state. */
import { isCoinContract } from "@headwater/core/evm/CoinContract"
import * as Effect from "effect/Effect"
import type { Call, JsonRpc } from "../node/JsonRpc.ts"
import type { PastSource } from "../SideSources.ts"
import * as Headers from "./internal/Headers.ts"
import * as Hex from "./internal/Hex.ts"
import { read } from "./internal/NodeAnswer.ts"
import { batchTopic, singleTopic, transferTopic } from "./TokenTransfers.ts"

const multi = [singleTopic, batchTopic]

/** The addresses of a transfer stand in the second and third topic, those of ERC-1155 in the third and fourth. */
const filtersOf = (owners: ReadonlyArray<string>) => [
  [[transferTopic], owners],
  [[transferTopic, ...multi], null, owners],
  [multi, null, null, owners]
]

const tokenBlocks = (rpc: JsonRpc): PastSource["tokenBlocks"] =>
  Effect.fn("Past.tokenBlocks")(function* (addresses, from, to) {
    const owners = addresses.map((address) => `0x${"0".repeat(24)}${Hex.encode(address).slice(2)}`)
    const range = { fromBlock: Hex.encodeQuantity(from), toBlock: Hex.encodeQuantity(to) }
    // Nodes answer a range beyond their newest block without a word: the last block is asked for in the same request.
    const [last, ...answers] = yield* rpc.batch([
      Headers.blockCall(range.toBlock, false),
      ...filtersOf(owners).map((topics): Call => ({ method: "eth_getLogs", params: [{ ...range, topics }] }))
    ])
    if (last === null) return yield* Headers.missing(rpc, String(to))
    return yield* read(rpc, "eth_getLogs", () => {
      const heights = new Set<number>()
      for (const answer of answers) {
        for (const entry of Hex.array(answer, "logs")) {
          const { address, blockNumber } = Hex.object(entry, "log")
          const height = Hex.integer(blockNumber, "log.blockNumber")
          if (height < from || height > to) throw new Hex.Malformed("a log is of a block that was not asked for")
          if (!isCoinContract(Hex.address(address, "log.address"))) heights.add(height)
        }
      }
      return {
        heights: [...heights].sort((a, b) => a - b),
        hash: Hex.hash(Hex.object(last, "block").hash, "block.hash")
      }
    })
  })

const methods = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"] as const

const accountsAt = (rpc: JsonRpc): PastSource["accountsAt"] =>
  Effect.fn("Past.accountsAt")(function* (address, heights) {
    const answers = yield* rpc.batch(
      heights.flatMap((height) =>
        methods.map((method): Call => ({ method, params: [Hex.encode(address), Hex.encodeQuantity(height)] }))
      )
    )
    return yield* read(rpc, "eth_getBalance", () =>
      heights.map((_, i) => ({
        balance: Hex.quantity(answers[3 * i], "balance"),
        nonce: Hex.integer(answers[3 * i + 1], "transaction count"),
        hasCode: Hex.data(answers[3 * i + 2], "code").length > 0
      }))
    )
  })

export const make = (rpc: JsonRpc): PastSource => ({ tokenBlocks: tokenBlocks(rpc), accountsAt: accountsAt(rpc) })
