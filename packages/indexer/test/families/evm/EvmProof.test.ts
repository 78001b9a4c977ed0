import { readdirSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Block } from "@headwater/core/Block"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Failover from "@headwater/indexer/families/node/Failover"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import { type NodeError, NodeRejected } from "@headwater/indexer/families/node/NodeError"
import type * as Proof from "@headwater/indexer/families/node/Proof"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as fc from "fast-check"
import * as FakeNode from "../../FakeNode.ts"
import { type Answer, RpcError } from "../../FakeNode.ts"
import * as Fixtures from "../../Fixtures.ts"
import { chainOf, zero } from "./EvmBlocks.ts"
import * as EvmNode from "./EvmNode.ts"

/** A node in memory: thousands of altered blocks are read in seconds. */
const rpcOf = (answer: Answer): JsonRpc.JsonRpc => {
  const result = (method: string, params: ReadonlyArray<unknown>) =>
    Result.mapError(
      Result.try(() => answer(method, params)),
      (error) => {
        if (!(error instanceof RpcError)) throw error
        return new NodeRejected({ node: "memory", method, code: error.code, message: error.message })
      }
    )
  const results: JsonRpc.JsonRpc["results"] = (calls) =>
    Effect.sync(() => calls.map(({ method, params }) => result(method, params)))
  return {
    node: "memory",
    results,
    batch: (calls) => Effect.flatMap(results(calls), (all) => Effect.fromResult(Result.all(all))),
    call: (method, params) => Effect.suspend(() => Effect.fromResult(result(method, params)))
  }
}

/** Reads blocks of a chain as following does; the block may differ from the one that the source was made with. */
const reader = Effect.fnUntraced(function* (recorded: EvmNode.RecordedBlock, verify: Proof.Level, blockchain: string) {
  const chain = chainOf(blockchain)
  let current = recorded
  const rpc = rpcOf((method, params) =>
    EvmNode.answers([current], { chainId: `0x${chain.evm!.chainId!.toString(16)}` })(method, params)
  )
  const source = yield* EvmSource.make(chain, Failover.alone(rpc), {
    internal: recorded.callTracer !== undefined,
    verify
  })
  const height = Number(recorded.block.number)
  return (changed: EvmNode.RecordedBlock): Effect.Effect<Block, NodeError> =>
    Effect.suspend(() => {
      current = changed
      return source.blockAt(height)
    })
})

const read = (recorded: EvmNode.RecordedBlock, verify: Proof.Level, blockchain = "ethereum") =>
  Effect.flatMap(reader(recorded, verify, blockchain), (read) => read(recorded))

interface Named {
  readonly name: string
  readonly blockchain: string
  readonly recorded: EvmNode.RecordedBlock
}

const unwrapped = (path: string) => {
  const json = Fixtures.json(path) as EvmNode.Json
  return json.result ?? json
}

const parser = "evm-rpc/chainstorage/internal/utils/fixtures/parser"

const native = (blockchain: string, file: string): Named => {
  const { traceBlock, ...recorded } = EvmNode.ofChainstorage(
    Fixtures.json(`${parser}/${blockchain}/${file}`) as EvmNode.Json
  )
  return { name: file, blockchain, recorded }
}

const raw = (file: string): Named => {
  const decoded = (base64: string) => JSON.parse(Buffer.from(base64, "base64").toString()) as EvmNode.Json
  const { header, transactionReceipts = [] } = (Fixtures.json(`${parser}/ethereum/${file}`) as EvmNode.Json).ethereum
  const recorded = { block: decoded(header), receipts: (transactionReceipts as Array<string>).map(decoded) }
  return { name: file, blockchain: "ethereum", recorded }
}

const squid = "evm-rpc/squid-sdk/evm/evm-rpc/test/fixtures"

const answered = (blockchain: string, height: string): Named => {
  const folder = `${squid}/${blockchain}/${height}`
  const recorded = { block: unwrapped(`${folder}/block.json`), receipts: unwrapped(`${folder}/receipts.json`) }
  return { name: `${blockchain} ${height}`, blockchain, recorded: recorded as EvmNode.RecordedBlock }
}

const filesIn = (folder: string) => readdirSync(Fixtures.path(`${folder}/`))

/** Every block that is recorded whole, once. */
const blocks = (): ReadonlyArray<Named> => {
  const found = [
    ...filesIn("evm-rpc/bundles")
      .filter((file) => !file.includes("expected"))
      .map((file) => ({ name: file, blockchain: "ethereum", recorded: EvmNode.bundle(file.slice(0, -8)).recorded })),
    ...filesIn(squid).flatMap((blockchain) => filesIn(`${squid}/${blockchain}`).map((at) => answered(blockchain, at))),
    ...filesIn(`${parser}/ethereum`)
      .filter((file) => /^raw_block_\d+\.json/.test(file))
      .map(raw),
    ...["arbitrum", "ethereum"].flatMap((blockchain) =>
      filesIn(`${parser}/${blockchain}`)
        // Block 70951 is of a network that is gone, from before Byzantium by its height alone.
        .filter((file) => /^native_block_[\d_]+\.json/.test(file) && !file.includes("_70951"))
        .map((file) => native(blockchain, file))
    )
  ]
  const keyOf = ({ recorded }: Named) => recorded.block.hash
  return found.filter((block, index) => found.findIndex((other) => keyOf(other) === keyOf(block)) === index)
}

const byzantium = 4_370_000

describe.skipIf(!Fixtures.exist)("Proof of EVM blocks", () => {
  const all = Fixtures.exist ? blocks() : []
  const named = (name: string) => all.find((block) => block.name.includes(name))!.recorded

  it("has blocks to prove", () => assert.isAbove(all.length, 15))

  for (const { blockchain, name, recorded } of all) {
    it.live(`${name} is proven but for what nothing commits to`, () =>
      Effect.gen(function* () {
        const { unproven = [] } = yield* read(recorded, "full", blockchain)
        const { callTracer, receipts } = recorded
        const traced = callTracer !== undefined && receipts.length > 0
        const outcomes = Number(recorded.block.number) < byzantium && receipts.length > 0
        assert.deepStrictEqual(
          unproven.map(({ cause, part }) => [part, cause]),
          [...(outcomes ? ["outcomes"] : []), ...(traced ? ["internal transactions"] : [])].map((part) => [
            part,
            "uncommitted"
          ])
        )
      })
    )
  }

  describe("each single change of an answer is refused or named, or changes nothing that is read", () => {
    /** Places of all values within an answer, and of all lists. */
    const places = (json: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> => {
      if (typeof json !== "object" || json === null) return [path]
      const below = Object.entries(json).flatMap(([key, value]) => places(value, [...path, key]))
      return Array.isArray(json) && json.length > 0 ? [path, ...below] : below
    }
    const digits = "0123456789abcdef"
    /** Another value of the same form; of a list, the list without its last item. */
    const changed = (value: unknown, seed: number): unknown => {
      if (Array.isArray(value)) return value.slice(0, -1)
      if (typeof value === "boolean") return !value
      if (typeof value === "number") return value + 1
      if (typeof value !== "string" || !value.startsWith("0x")) return `0x${"ab".repeat(20)}`
      if (value === "0x") return "0x01"
      const at = 2 + (seed % (value.length - 2))
      const digit = digits.indexOf(value[at]!.toLowerCase())
      return value.slice(0, at) + digits[(digit + 1 + (seed % 15)) % 16] + value.slice(at + 1)
    }
    /** What is not proven at the level by any means: who sent, below `full`, and the outcome before Byzantium. */
    const isExempt = (path: ReadonlyArray<string>, level: Proof.Level, recorded: EvmNode.RecordedBlock) =>
      (level === "roots" && path.at(-3) === "transactions" && path.at(-1) === "from") ||
      (Number(recorded.block.number) < byzantium && path[0] === "receipts" && path.at(-1) === "status")

    const cases = [
      ["ethereum-1000000", "ethereum", 200],
      ["native_block_150_000_000", "arbitrum", 300],
      ["ethereum-468179.json.gz", "ethereum", 100],
      ["ethereum-17053184", "ethereum", 30]
    ] as const
    const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 1)
    for (const [name, blockchain, count] of cases) {
      for (const level of ["roots", "full"] as const) {
        it.live(`${name} at ${level}`, () =>
          Effect.gen(function* () {
            const recorded = structuredClone(named(name))
            const { block, receipts } = recorded
            const read = yield* reader(recorded, level, blockchain)
            const whole = yield* read(recorded)
            const found = places({ block, receipts })
            const picks = fc.sample(
              fc.tuple(fc.nat(found.length - 1), fc.nat()),
              Math.ceil((level === "full" ? count / 3 : count) * runs)
            )
            let refused = 0
            for (const [index, seed] of picks) {
              const path = found[index]!
              const key = path.at(-1)!
              const parent = path.slice(0, -1).reduce<EvmNode.Json>((json, step) => json[step], { block, receipts })
              const holder = parent as Record<string, unknown>
              const before = holder[key]
              holder[key] = changed(before, seed)
              const result = yield* Effect.result(read({ ...recorded, ...(path.length === 1 ? parent : {}) }))
              holder[key] = before
              if (Result.isFailure(result)) refused++
              else if (result.success.unproven?.some(({ cause }) => cause === "unknown")) refused++
              else if (!isExempt(path, level, recorded)) assert.deepStrictEqual(result.success, whole, path.join("."))
            }
            assert.isAbove(refused, picks.length / 4)
          })
        )
      }
    }
  })

  describe("what is not known is named, and stops nothing", () => {
    const recorded = () => structuredClone(named("ethereum-17053184"))
    const parts = ({ unproven = [] }: Block) => unproven.map(({ cause, part }) => `${part}: ${cause}`)
    const traced = "internal transactions: uncommitted"

    it.live("a field of the header from a fork to come", () =>
      Effect.gen(function* () {
        const known = recorded()
        const block = { ...known.block, extraRoot: known.block.stateRoot }
        // The hash does not cover the field.
        assert.deepStrictEqual(parts(yield* read({ ...known, block }, "full")), [traced])
        const { baseFeePerGas, ...rest } = known.block
        const whole = yield* read(known, "full")
        const renamed = yield* read({ ...known, block: { ...rest, feePerGas: baseFeePerGas } as never }, "full")
        assert.deepStrictEqual(parts(renamed), ["header: unknown", traced])
        assert.deepStrictEqual(renamed.transfers, whole.transfers)
      })
    )

    it.live("a type of transaction", () =>
      Effect.gen(function* () {
        const known = recorded()
        known.block.transactions[3].type = "0x77"
        const whole = yield* read(recorded(), "full")
        const block = yield* read(known, "full")
        assert.deepStrictEqual(parts(block), ["transactions: unknown", "senders: unknown", "receipts: unknown", traced])
        const isKnown = ({ kind, transaction }: Block["transfers"][number]) => kind !== "coin" || transaction !== 3
        assert.deepStrictEqual(block.transfers, whole.transfers.filter(isKnown))
        // The others are of their hashes still.
        known.block.transactions[4].value = "0x1"
        assert.strictEqual((yield* Effect.flip(read(known, "roots")))._tag, "ProofFailed")
      })
    )

    it.live("a field of a receipt from a fork to come", () =>
      Effect.gen(function* () {
        const known = recorded()
        const added = (receipt: EvmNode.Json) => ({ ...receipt, stateGasUsed: "0x1" })
        // The root does not cover the field.
        assert.deepStrictEqual(parts(yield* read({ ...known, receipts: known.receipts.map(added) }, "full")), [traced])
        const receipts = known.receipts.map((receipt) => ({ ...added(receipt), cumulativeGasUsed: "0x1" }))
        assert.deepStrictEqual(parts(yield* read({ ...known, receipts }, "roots")), ["receipts: unknown", traced])
      })
    )

    it.live("but not the milliseconds that Base's nodes tell beside, of which no hash is made", () =>
      Effect.gen(function* () {
        const known = recorded()
        const block = { ...known.block, timestampMs: "0x1" }
        const receipts = known.receipts.map((receipt) => ({ ...receipt, blockTimestampMs: "0x1" }))
        assert.deepStrictEqual(parts(yield* read({ ...known, block, receipts }, "full")), [traced])
        const wrong = [
          { ...known, receipts, block: { ...block, gasUsed: "0x1" } },
          { ...known, block, receipts: receipts.map((receipt) => ({ ...receipt, cumulativeGasUsed: "0x1" })) }
        ]
        for (const each of wrong) assert.strictEqual((yield* Effect.flip(read(each, "roots")))._tag, "ProofFailed")
      })
    )

    it.live("a header and roots that fit by no known form, of which two nodes say the same", () =>
      Effect.gen(function* () {
        const known = recorded()
        const block = { ...known.block, extraData: "0x01", receiptsRoot: known.block.stateRoot }
        const nodes: Array<EvmNode.RecordedBlock> = [
          { ...known, block },
          { ...known, block }
        ]
        const urls = yield* Effect.forEach([0, 1] as const, (at) =>
          Effect.map(
            FakeNode.make((method, params) => EvmNode.answers([nodes[at]!])(method, params)),
            ({ url }) => url
          )
        )
        const source = yield* EvmSource.make(chainOf("ethereum"), yield* JsonRpc.make({ urls }), { internal: true })
        const height = Number(known.block.number)
        const found = yield* source.blockAt(height)
        assert.deepStrictEqual(parts(found), ["header: unknown", "receipts: unknown", traced])
        assert.match(found.unproven![0]!.reason, /the header does not hash to the block's hash, and every node/)
        assert.deepStrictEqual(found.transfers, (yield* read(known, "roots")).transfers)
        nodes[1] = { ...known, block: { ...block, extraData: "0x02" } }
        assert.strictEqual((yield* Effect.flip(source.blockAt(height)))._tag, "ProofFailed")
        nodes[1] = known
        assert.deepStrictEqual(parts(yield* source.blockAt(height)), [traced])
      }).pipe(Effect.scoped)
    )

    it.live("receipts without a bloom are proven by the bloom of their logs", () =>
      Effect.gen(function* () {
        const known = recorded()
        const receipts = known.receipts.map(({ logsBloom, ...receipt }) => receipt)
        assert.deepStrictEqual(parts(yield* read({ ...known, receipts }, "roots")), [traced])
      })
    )

    it.live(
      "receipts before Byzantium with a status in place of the root, of which the block's bloom proves the logs",
      () =>
        Effect.gen(function* () {
          const known = structuredClone(named("native_block_4000000"))
          const receipts = known.receipts.map(({ root, ...receipt }): EvmNode.Json => ({ ...receipt, status: "0x1" }))
          const block = yield* read({ ...known, receipts }, "full")
          assert.deepStrictEqual(parts(block), ["receipts: unknown", "outcomes: uncommitted"])
          assert.isAbove(block.transfers.filter(({ kind }) => kind === "token").length, 0)
          const logs = receipts.flatMap((receipt) => receipt.logs as Array<EvmNode.Json>)
          ;(logs[0] as Record<string, unknown>).address = zero
          assert.match((yield* Effect.flip(read({ ...known, receipts }, "roots"))).message, /logsBloom/)
        })
    )

    it.live("a node that answers no roots, and no signatures", () =>
      Effect.gen(function* () {
        const known = recorded()
        const { receiptsRoot, transactions, transactionsRoot, ...header } = known.block
        const unsigned = (transactions as ReadonlyArray<EvmNode.Json>).map(({ r, ...transaction }) => transaction)
        const block = { ...header, transactions: unsigned }
        assert.deepStrictEqual(parts(yield* read({ ...known, block } as never, "full")), [
          ...["header: unknown", "transactions: unknown", "senders: unknown", "receipts: unknown"],
          traced
        ])
      })
    )
  })

  it.live("a transaction that only Bor may add is refused elsewhere, and refused with another hash than Bor's", () =>
    Effect.gen(function* () {
      const known = structuredClone(named("ethereum-17053184"))
      const index = `0x${known.receipts.length.toString(16)}`
      const added = {
        ...known.block.transactions[0],
        from: zero,
        to: zero,
        value: "0x0",
        type: "0x0",
        transactionIndex: index
      }
      const receipt = { ...known.receipts[0], transactionIndex: index, logs: [] }
      const forged = {
        block: { ...known.block, transactions: [...known.block.transactions, added] },
        receipts: [...known.receipts, receipt]
      }
      for (const blockchain of ["ethereum", "polygon"]) {
        const error = yield* Effect.flip(read(forged, "roots", blockchain))
        assert.strictEqual(error._tag, "ProofFailed", blockchain)
      }
    })
  )

  it.live("logs are counted, so that a node's own numbers make no second event", () =>
    Effect.gen(function* () {
      const known = structuredClone(named("ethereum-17053184"))
      const receipts = known.receipts.map((receipt) => ({
        ...receipt,
        logs: receipt.logs.map((log: EvmNode.Json) => ({
          ...log,
          logIndex: `0x${(Number(log.logIndex) + 7).toString(16)}`
        }))
      }))
      assert.deepStrictEqual(yield* read({ ...known, receipts }, "roots"), yield* read(known, "roots"))
    })
  )
})
