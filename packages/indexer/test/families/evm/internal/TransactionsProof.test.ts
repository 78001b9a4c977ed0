import { assert, describe, it } from "@effect/vitest"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmExplorer from "@headwater/indexer/families/evm/EvmExplorer"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../../FakeNode.ts"
import { hex } from "../EvmBlocks.ts"
import * as EvmNode from "../EvmNode.ts"

const sender = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
const hash = "0xb52fae17dbc271875a2200a5948ff22a6e3e1f6b66ea7b79f1bc605e67c91143"
const place = {
  blockHash: "0x7b55583a46355a433eda66c81fee20c85fbcf6eced0bf220c71309de399201ea",
  ...{ blockNumber: "0x1", transactionIndex: "0x0" }
}
const logsBloom = `0x${"00".repeat(256)}`

/** A payment of 1 Wei to its sender with a blob of zeros, as anvil 1.7.1 shows it; the blob, which it shows too, left out. */
const transaction = {
  ...{ type: "0x3", chainId: "0x7a69", nonce: "0x0", gas: "0x7530", maxFeePerGas: "0x4a817c800" },
  ...{ maxPriorityFeePerGas: "0x1", to: sender, value: "0x1", accessList: [], input: "0x", from: sender },
  blobVersionedHashes: ["0x010657f37554c781402a22917dee2f75def7ab966d7b770905398eba3c444014"],
  maxFeePerBlobGas: "0xe8d4a51000",
  r: "0x19bc441fc1461444b06ed77c03a7d1020e70d6bae58ee5f63008ed6cfda18539",
  s: "0x30e3e56bb138e5375c0eacd8cb75be50c6d6262ebc5f240e9c523405e68a39f6",
  ...{ yParity: "0x1", v: "0x1", hash, gasPrice: "0x3b9aca01", blockTimestamp: "0x6b0e32b0", ...place }
}
const recorded = {
  block: {
    hash: place.blockHash,
    parentHash: "0xec1ee24b694d9fb8cb481e9bc4c195c3350c1225247f9c9f566d85c2547bfbe7",
    sha3Uncles: "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347",
    miner: "0x0000000000000000000000000000000000000000",
    stateRoot: "0xd7dcd384d79114d2423fc885df64b51fbc6847c89808c2a1e38e8f9138cc4a78",
    transactionsRoot: "0x1eaa29630d7f1f82ae4c69abef8447a71de5ea6ab4b075c2b5d872f579aefb80",
    receiptsRoot: "0xeaa8c40899a61ae59615cf9985f5e2194f8fd2b57d273be63bde6733e89b12ab",
    ...{ logsBloom, difficulty: "0x0", number: "0x1", gasLimit: "0x1c9c380", gasUsed: "0x5208" },
    ...{ timestamp: "0x6b0e32b0", extraData: "0x", nonce: "0x0000000000000000", baseFeePerGas: "0x3b9aca00" },
    mixHash: "0x823aed94aa39b69f6f291296bba36fc8488be3ce626059fd37da8112df05202d",
    withdrawalsRoot: "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421",
    ...{ blobGasUsed: "0x20000", excessBlobGas: "0x0", totalDifficulty: "0x0", size: "0x20378" },
    parentBeaconBlockRoot: `0x${"00".repeat(32)}`,
    requestsHash: "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ...{ uncles: [], withdrawals: [], transactions: [transaction] }
  },
  receipts: [
    {
      ...{ type: "0x3", status: "0x1", cumulativeGasUsed: "0x5208", logs: [], logsBloom, transactionHash: hash },
      ...{ gasUsed: "0x5208", effectiveGasPrice: "0x3b9aca01", blobGasUsed: "0x20000", blobGasPrice: "0x1" },
      ...{ from: sender, to: sender, contractAddress: null, ...place }
    }
  ]
}

const source = Effect.fnUntraced(function* (block: EvmNode.RecordedBlock, network: string) {
  const chain = Result.getOrThrow(Chain.find("ethereum", network))
  const answers = EvmNode.answers([block], { chainId: network === "devnet" ? "0x7a69" : "0x1" })
  const node = yield* FakeNode.make((method, params) => {
    if (method === "eth_getTransactionByHash") return block.block.transactions[0]
    return method === "eth_getCode" ? "0x" : answers(method, params)
  })
  const rpc = yield* JsonRpc.make({ urls: [node.url], attempts: 1 })
  return { rpc, source: yield* EvmSource.make(chain, rpc, { internal: false }) }
})

describe("Proof of a block's transactions", () => {
  it.live("takes a development node's root, which is of the blobs too, and no other node's", () =>
    Effect.gen(function* () {
      const devnet = yield* source(recorded, "devnet")
      const { transfers, unproven } = yield* devnet.source.blockAt(1)
      assert.deepStrictEqual(
        transfers.map(({ amount, from, to }) => [hex(from), hex(to), amount]),
        [[sender, sender, 1n]]
      )
      assert.deepInclude(unproven?.[0], { part: "transactions", cause: "uncommitted" })
      const shown = yield* EvmExplorer.make(devnet.rpc, undefined).transactionsOf(
        { height: 1 },
        { limit: 1, offset: 0 }
      )
      assert.strictEqual(shown?.items[0]?.fee, 21_000n * 1_000_000_001n + 131_072n)

      const mainnet = yield* source(recorded, "mainnet")
      assert.include((yield* Effect.flip(mainnet.source.blockAt(1))).message, "transactionsRoot")
      const altered = { ...recorded.block, transactions: [{ ...transaction, value: "0x2" }] }
      const other = yield* source({ ...recorded, block: altered }, "devnet")
      assert.include((yield* Effect.flip(other.source.blockAt(1))).message, "does not hash to its hash")
    }).pipe(Effect.scoped)
  )
})
