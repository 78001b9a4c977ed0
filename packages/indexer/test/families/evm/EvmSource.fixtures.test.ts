import { readdirSync, readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as FakeNode from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"
import * as EvmNode from "./EvmNode.ts"

const mainnet = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const arbitrum = Result.getOrThrow(Chain.find("arbitrum", "mainnet"))

const hex = (bytes: Uint8Array | undefined) => (bytes === undefined ? "" : `0x${Buffer.from(bytes).toString("hex")}`)

const fetched = (
  recorded: EvmNode.RecordedBlock,
  options: EvmSource.EvmSourceOptions,
  node: EvmNode.Options & { readonly chain?: Chain.Chain } = {}
) =>
  Effect.gen(function* () {
    const { url } = yield* FakeNode.make(EvmNode.answers([recorded], node))
    const rpc = yield* JsonRpc.make({ urls: [url], attempts: 1 })
    const source = yield* EvmSource.make(node.chain ?? mainnet, rpc, options)
    return yield* source.blockAt(Number(recorded.block.number))
  }).pipe(Effect.scoped)

const tokens = (block: Block) =>
  block.transfers.flatMap((transfer) =>
    transfer.kind !== "token"
      ? []
      : [
          [
            hex(block.transactions[transfer.transaction]),
            transfer.position,
            hex(transfer.contract),
            transfer.token,
            hex(transfer.from),
            hex(transfer.to),
            transfer.amount,
            transfer.tokenId ?? ""
          ].join()
        ]
  )

const internals = (block: Block) =>
  block.transfers.flatMap((transfer) =>
    transfer.kind !== "internal"
      ? []
      : [
          [
            hex(block.transactions[transfer.transaction]),
            transfer.operation,
            transfer.operationType,
            hex(transfer.from),
            hex(transfer.to),
            transfer.amount
          ].join()
        ]
  )

const coins = (block: Block) =>
  block.transfers.flatMap((transfer) =>
    transfer.kind !== "coin"
      ? []
      : [[hex(block.transactions[transfer.transaction]), hex(transfer.from), hex(transfer.to), transfer.amount].join()]
  )

const expectedTokens = (transfers: ReadonlyArray<EvmNode.Json>) =>
  transfers.flatMap((t) => {
    const line = (kind: string, amount: string, id: string) =>
      [t.tx, t.logIndex, t.contract, kind, t.sender, t.recipient, amount, id].join()
    if (t.standard === "ERC-20") return [line("fungible", t.value, "")]
    if (t.ids !== undefined) return (t.ids as Array<string>).map((id, index) => line("multi", t.values[index], id))
    return [t.standard === "ERC-1155" ? line("multi", t.value, t.tokenId) : line("non-fungible", "1", t.tokenId)]
  })

/** What a contract leaves to itself when it destroys itself comes to no account: rosetta's operations of block 363415 say so. */
const expectedInternals = (frames: ReadonlyArray<EvmNode.Json>) =>
  frames
    .filter((frame) => frame.counts && !(frame.type === "SELFDESTRUCT" && frame.sender === frame.recipient))
    .map((f) => [f.tx, `call_${f.path.join("_")}`, f.type.toLowerCase(), f.sender, f.recipient, f.value].join())

/** Coins by the plainest reading of block and receipts; before Byzantium by the top frame. */
const expectedCoins = ({ block, receipts, callTracer, traceBlock }: EvmNode.RecordedBlock) =>
  (block.transactions as Array<EvmNode.Json>).flatMap((tx, index) => {
    const receipt = receipts[index]!
    const top = traceBlock?.find((t) => t.transactionPosition === index && t.traceAddress.length === 0)
    const failed = receipt.root ? (callTracer?.[index] ?? top)?.error !== undefined : receipt.status === "0x0"
    if (failed || BigInt(tx.value) === 0n) return []
    return [[tx.hash, tx.from, tx.to ?? receipt.contractAddress, BigInt(tx.value)].join()]
  })

const names = Fixtures.exist
  ? readdirSync(Fixtures.path("evm-rpc/bundles/"))
      .filter((file) => file.endsWith(".json.gz") && !file.includes("expected"))
      .map((file) => file.replace(".json.gz", ""))
  : []

describe.skipIf(!Fixtures.exist)("EvmSource on recorded blocks", () => {
  describe("bundles: exactly the expected token transfers and value-moving frames", () => {
    for (const name of names) {
      it.live(name, () =>
        Effect.gen(function* () {
          const { recorded, expected } = EvmNode.bundle(name)
          const block = yield* fetched(recorded, { internal: true })
          assert.deepStrictEqual(tokens(block), expectedTokens(expected.tokenTransfers))
          assert.deepStrictEqual(internals(block), expectedInternals(expected.internalFrames))
          assert.deepStrictEqual(coins(block), expectedCoins(recorded))
          const { header, ...rest } = { header: recorded.block, ...block }
          assert.deepStrictEqual(
            [rest.height, hex(rest.hash), hex(rest.parent), rest.time],
            [Number(header.number), header.hash, header.parentHash, Number(header.timestamp)]
          )
        })
      )

      it.live(`${name}: the same from trace_block, and from single receipts`, () =>
        Effect.gen(function* () {
          const { recorded } = EvmNode.bundle(name)
          const block = yield* fetched(recorded, { internal: true })
          const flat = yield* fetched(recorded, { internal: true }, { without: ["debug_traceBlockByHash"] })
          assert.deepStrictEqual(flat, block)
          const single = yield* fetched(recorded, { internal: true }, { without: ["eth_getBlockReceipts"] })
          assert.deepStrictEqual(single, block)
        })
      )

      it.live(`${name}: without traces the same coins and tokens`, () =>
        Effect.gen(function* () {
          const { recorded } = EvmNode.bundle(name)
          const block = yield* fetched(recorded, { internal: false })
          const traced = yield* fetched(recorded, { internal: true })
          const plain = (transfer: Transfer) => transfer.kind !== "internal"
          assert.deepStrictEqual(block.transfers, traced.transfers.filter(plain))
        })
      )
    }
  })

  describe("blocks as chainstorage parsed them", () => {
    const moving = new Set(["CALL", "CREATE", "CREATE2", "SELFDESTRUCT"])
    const files: ReadonlyArray<readonly [string, Chain.Chain]> = [
      ["ethereum/native_block_1000.json", mainnet],
      ["ethereum/native_block_2000000.json", mainnet],
      ["ethereum/native_block_4000000.json.gz", mainnet],
      ["ethereum/native_block_8000000.json.gz", mainnet],
      ["ethereum/native_block_14000000.json.gz", mainnet],
      ["ethereum/native_block_17000000.json.gz", mainnet],
      ["ethereum/native_block_17300000.json.gz", mainnet],
      ["ethereum/native_block_70951.json", mainnet],
      ["arbitrum/native_block_150_000_000.json", arbitrum]
    ]
    for (const [file, chain] of files) {
      it.live(file, () =>
        Effect.gen(function* () {
          const native = Fixtures.json(`evm-rpc/chainstorage/internal/utils/fixtures/parser/${file}`) as EvmNode.Json
          const recorded = EvmNode.ofChainstorage(native)
          const parsed = (native.ethereum.transactions ?? []) as Array<EvmNode.Json>
          const traced = parsed.some((tx) => tx.flattenedTraces !== undefined)
          const chainId = `0x${chain.evm!.chainId!.toString(16)}`
          const block = yield* fetched(recorded, { internal: traced }, { chain, chainId })
          assert.deepStrictEqual(
            internals(block),
            parsed.flatMap((tx) =>
              ((tx.flattenedTraces ?? []) as Array<EvmNode.Json>)
                .filter((t) => t.status === "1" && t.traceAddress && moving.has(t.type) && BigInt(t.value ?? 0) > 0n)
                .map((t) => [tx.hash, `call_${t.traceAddress.join("_")}`, t.type.toLowerCase(), t.from, t.to, t.value])
                .map((fields) => fields.join())
            )
          )
          assert.deepStrictEqual(
            tokens(block).filter((line) => !line.includes("multi")),
            parsed.flatMap((tx) =>
              ((tx.tokenTransfers ?? []) as Array<EvmNode.Json>).map((t) =>
                [
                  tx.hash,
                  t.logIndex ?? 0,
                  t.tokenAddress,
                  t.erc721 === undefined ? "fungible" : "non-fungible",
                  t.fromAddress,
                  t.toAddress,
                  t.erc721 === undefined ? (t.value ?? "0") : "1",
                  t.erc721?.tokenId ?? ""
                ].join()
              )
            )
          )
          assert.deepStrictEqual(coins(block), expectedCoins(recorded))
        })
      )
    }

    it.live("the raw block 15753009, from both tracer forms", () =>
      Effect.gen(function* () {
        const raw = (
          Fixtures.json(
            "evm-rpc/chainstorage/internal/utils/fixtures/parser/ethereum/raw_block_15753009.json.gz"
          ) as EvmNode.Json
        ).ethereum
        const decoded = (base64: string) => JSON.parse(Buffer.from(base64, "base64").toString()) as EvmNode.Json
        const block = decoded(raw.header)
        const callTracer = (raw.transactionTraces as Array<string>).map(decoded)
        const recorded = {
          block,
          receipts: (raw.transactionReceipts as Array<string>).map(decoded),
          callTracer,
          traceBlock: callTracer.flatMap((frame, index) => EvmNode.flatten(block, index, frame))
        }
        const fromTree = yield* fetched(recorded, { internal: true })
        const fromList = yield* fetched(recorded, { internal: true, tracers: ["trace_block"] })
        assert.deepStrictEqual(fromTree, fromList)
        assert.isAbove(internals(fromTree).length, 50)
        assert.isAbove(tokens(fromTree).length, 100)
        assert.deepStrictEqual(coins(fromTree), expectedCoins(recorded))
      })
    )
  })

  it.live("squid-sdk's block 18500000 hashes to its receiptsRoot", () =>
    Effect.gen(function* () {
      const folder = "evm-rpc/squid-sdk/evm/evm-rpc/test/fixtures/ethereum/18500000"
      const unwrap = (json: EvmNode.Json) => json.result ?? json
      const block = unwrap(Fixtures.json(`${folder}/block.json`) as EvmNode.Json)
      const receipts = unwrap(Fixtures.json(`${folder}/receipts.json`) as EvmNode.Json)
      const decoded = yield* fetched({ block, receipts }, { internal: false })
      assert.isAbove(tokens(decoded).length, 50)
      assert.deepStrictEqual(coins(decoded), expectedCoins({ block, receipts }))
      const tampered = structuredClone(receipts) as Array<EvmNode.Json>
      const logs = tampered.flatMap((receipt) => receipt.logs as Array<Record<string, string>>)
      logs.find((log) => log.data!.length === 66)!.data = `0x${"f".repeat(64)}`
      const error = yield* Effect.flip(fetched({ block, receipts: tampered }, { internal: false }))
      assert.strictEqual(error._tag, "ProofFailed")
      assert.match(error.message, /receiptsRoot/)
    })
  )

  describe("Arbitrum before Nitro", () => {
    const folder = "evm-rpc/chainstorage/internal/utils/fixtures"
    const read = (file: string) => Fixtures.json(`${folder}/${file}`) as EvmNode.Json
    it.live("failed transactions of a classic node move nothing", () =>
      Effect.gen(function* () {
        const renumbered = read("parser/arbitrum/arb_fixtureheader_22207818.json")
        const block = { ...renumbered, number: renumbered.transactions[0].blockNumber }
        const receipts = [2, 1].map((part) => read(`parser/arbitrum/arb_fixturereceipt_22207818_${part}.json`))
        const traceBlock = read("parser/arbitrum/arb_paritytrace_twotxns.json") as never
        const node = { chain: arbitrum, chainId: "0xa4b1" }
        const decoded = yield* fetched({ block, receipts, traceBlock }, { internal: true }, node)
        assert.deepStrictEqual([decoded.transactions.length, decoded.transfers], [2, []])
        assert.deepStrictEqual(
          decoded.unproven?.map(({ cause, part }) => `${part}: ${cause}`),
          [
            ...["header", "transactions", "receipts"].map((part) => `${part}: unknown`),
            "internal transactions: uncommitted"
          ]
        )
      })
    )
    it.live("a block of the upgrade, type 0x78", () =>
      Effect.gen(function* () {
        const block = read("client/arbitrum/arb_getblockbynumber_upgrade.json")
        const receipts = [read("client/arbitrum/arb_gettxnreceipt_upgrade.json")]
        const node = { chain: arbitrum, chainId: "0xa4b1" }
        const decoded = yield* fetched({ block, receipts }, { internal: false }, node)
        const [tx] = block.transactions as Array<EvmNode.Json>
        assert.deepStrictEqual(coins(decoded), [[tx!.hash, tx!.from, tx!.to, BigInt(tx!.value)].join()])
        const logs = receipts[0]!.logs as Array<EvmNode.Json>
        const moved = logs.filter((log) => log.topics[0].startsWith("0xddf252ad") && log.topics.length === 3)
        assert.deepStrictEqual(
          tokens(decoded).map((line) => line.split(",")[1]),
          moved.map((log) => String(Number(log.logIndex)))
        )
      })
    )
  })

  describe("execution-apis: geth's blocks of every fork hash to their receiptsRoot", () => {
    const folder = "evm-rpc/execution-apis/tests"
    const results = (method: string) =>
      readdirSync(Fixtures.path(`${folder}/${method}/`)).flatMap((file) =>
        readFileSync(Fixtures.path(`${folder}/${method}/${file}`), "utf8")
          .split("\n")
          .flatMap((line) => (line.startsWith("<< ") ? [JSON.parse(line.slice(3)).result] : []))
      )
    const pairs = Fixtures.exist
      ? [...results("eth_getBlockByNumber"), ...results("eth_getBlockByHash")].flatMap((block) => {
          const receipts = [
            ...results("eth_getBlockReceipts"),
            results("eth_getTransactionReceipt").filter((receipt) => receipt?.blockHash === block?.hash)
          ].find(
            (found) =>
              found?.length > 0 && found.length === block?.transactions.length && found[0].blockHash === block.hash
          )
          return receipts !== undefined && typeof block.transactions[0] === "object" ? [{ block, receipts }] : []
        })
      : []
    it("there are some", () => assert.isAbove(pairs.length, 0))
    for (const recorded of pairs) {
      it.live(`block ${Number(recorded.block.number)}`, () =>
        Effect.gen(function* () {
          const decoded = yield* fetched(recorded, { internal: false })
          assert.deepStrictEqual(coins(decoded), expectedCoins(recorded))
        })
      )
    }
  })

  describe("rosetta: coins move between accounts exactly as its operations say", () => {
    const folder = "evm-rpc/rosetta-ethereum/ethereum/testdata"
    for (const number of [10991, 10992, 10994, 363366, 363415, 468179]) {
      it.live(String(number), () =>
        Effect.gen(function* () {
          const { recorded } = EvmNode.bundle(`ethereum-${number}-rosetta`)
          const block = yield* fetched(recorded, { internal: true })
          const answer = Fixtures.json(`${folder}/block_response_${number}.json`) as EvmNode.Json
          const operations = (answer.block.transactions as Array<EvmNode.Json>).flatMap((tx) => {
            const all = tx.operations as Array<EvmNode.Json>
            const arrived = new Set(
              all.flatMap((op) => (op.related_operations ?? []).map((of: EvmNode.Json) => of.index))
            )
            const isBurnt = (op: EvmNode.Json) =>
              op.type === "SELFDESTRUCT" &&
              op.related_operations === undefined &&
              !arrived.has(op.operation_identifier.index)
            return all
              .filter((op) => op.status === "SUCCESS" && op.amount !== undefined && op.amount.value !== "0")
              .filter((op) => !["FEE", "MINER_REWARD", "UNCLE_REWARD", "DESTRUCT"].includes(op.type) && !isBurnt(op))
              .map((op) => [op.account.address.toLowerCase(), op.amount.value].join())
          })
          const moves = block.transfers.flatMap((transfer) =>
            transfer.kind === "token"
              ? []
              : [`${hex(transfer.from)},-${transfer.amount}`, `${hex(transfer.to)},${transfer.amount}`]
          )
          assert.deepStrictEqual(moves.sort(), operations.sort())
        })
      )
    }
  })
})
