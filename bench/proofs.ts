/**
 * CPU that the proof of blocks takes at each level of `verify`: of recorded Ethereum blocks, with their traces where these were
 * recorded, against the floor of parsing the node's answers, and against the plain path (`plain`, which reads values where
 * the kernel reads bytes); and of each family against reading the blocks without proof (`links`). In turns, in one process; the
 * longest pause of the event loop stands beside. Nodes of the other families are in a process of their own.
 *
 * What one contestant leaves for the garbage collector is collected before the next one's turn.
 *
 *     node --expose-gc bench/proofs.ts [rounds] [evm]
 */
import { readdirSync, readFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { gunzipSync } from "node:zlib"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Failover from "@headwater/indexer/families/node/Failover"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type * as NodeHttp from "@headwater/indexer/families/node/NodeHttp"
import type * as Proof from "@headwater/indexer/families/node/Proof"
import type { Source } from "@headwater/indexer/families/Source"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Comparison from "./Comparison.ts"
import * as JsonRpcReply from "../packages/indexer/src/families/node/internal/JsonRpcReply.ts"
import * as NodeProcess from "./NodeProcess.ts"
import { median } from "./Samples.ts"

const rounds = Number(process.argv[2] ?? 20)
const folder = new URL("../../shared/fixtures/evm-rpc/bundles/", import.meta.url)
const ethereum = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

interface Recorded {
  readonly texts: Readonly<Record<string, string>>
  readonly height: number
  readonly transactions: number
}

const recorded = readdirSync(folder)
  .filter((file) => !file.includes("expected"))
  .map((file): Recorded => {
    const json = JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString())
    const { debug_traceBlock_callTracer: traces, eth_getBlockByNumber: block, eth_getBlockReceipts: receipts } = json
    const { transactions } = block as { readonly transactions: ReadonlyArray<{ readonly hash: string }> }
    const named = (result: unknown, index: number) => ({ txHash: transactions[index]!.hash, result })
    return {
      texts: {
        eth_chainId: '"0x1"',
        eth_getBlockByNumber: JSON.stringify(block),
        eth_getBlockReceipts: JSON.stringify(receipts),
        ...(Array.isArray(traces) ? { debug_traceBlockByHash: JSON.stringify(traces.map(named)) } : {})
      },
      ...{ height: Number(block.number), transactions: transactions.length }
    }
  })
  .filter(({ transactions }) => transactions > 50)

const http: NodeHttp.NodeHttp = { name: "memory", post: () => Effect.die("not asked"), redact: (text) => text }

/** A node that has one block: the bytes of its answers, which are made once, are read each time. */
const nodeOf = ({ texts }: Recorded, isPlain = false): JsonRpc.JsonRpc => {
  const bodies = new Map<string, Buffer>()
  const results: JsonRpc.JsonRpc["results"] = (calls, numbers = "plain") => {
    const sent = calls.map(({ method }, id) => ({ id, method }))
    const answerOf = ({ id, method }: (typeof sent)[number]) =>
      texts[method] === undefined
        ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"method not found"}}`
        : `{"jsonrpc":"2.0","id":${id},"result":${texts[method]}}`
    const asked = sent.map(({ method }) => method).join()
    const body =
      bodies.get(asked) ?? Buffer.from(sent.length === 1 ? answerOf(sent[0]!) : `[${sent.map(answerOf).join()}]`)
    bodies.set(asked, body)
    const exchange = { node: http, sent, reply: { status: 200, retryAfter: undefined, body } }
    return Effect.mapError(JsonRpcReply.read(exchange, isPlain ? "plain" : numbers), ({ error }) => error)
  }
  return {
    node: "memory",
    results,
    batch: (calls) => Effect.flatMap(results(calls), (all) => Effect.fromResult(Result.all(all))),
    call: (method, params) => Effect.flatMap(results([{ method, params }]), ([result]) => Effect.fromResult(result!))
  }
}

const cpu = (self: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const before = process.cpuUsage()
    yield* self
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 1000
  })

const levels = ["links", "roots", "full"] as const
type Contestant = readonly [name: string, self: Effect.Effect<unknown, unknown>]

/** Medians of the contestants, in turns. */
const measure = Effect.fnUntraced(function* (
  of: string,
  { blocks, transactions }: { readonly blocks: number; readonly transactions: number },
  contestants: ReadonlyArray<Contestant>
) {
  const measured = contestants.map(() => ({ cpu: [] as Array<number>, pause: [] as Array<number> }))
  for (let round = -2; round < rounds; round++) {
    for (const [at, [, self]] of contestants.entries()) {
      globalThis.gc?.()
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      const milliseconds = yield* cpu(self)
      yield* Effect.sleep(5)
      delay.disable()
      if (round < 0) continue
      measured[at]!.cpu.push(milliseconds)
      measured[at]!.pause.push(delay.max / 1e6)
    }
  }
  console.log(`${of}: ${blocks} blocks, ${transactions} transactions, medians of ${rounds} rounds:`)
  const costs = (at: number) => measured[at]!.cpu.map((milliseconds) => milliseconds / blocks)
  Comparison.report({
    ...{ work: `${of} blocks read at verify = "roots"`, unit: "ms CPU a block", better: "less" },
    ours: costs(contestants.findIndex(([name]) => name === "roots")),
    floor: { name: contestants[0]![0], values: costs(0) }
  })
  for (const [at, [name]] of contestants.entries()) {
    const all = median(measured[at]!.cpu)
    console.log(
      `${name.padEnd(12)} ${(all / blocks).toFixed(2).padStart(7)} ms CPU a block  ` +
        `${((all / transactions) * 1000).toFixed(0).padStart(5)} µs a transaction  ` +
        `longest pause ${median(measured[at]!.pause).toFixed(0)} ms`
    )
  }
})

const evm = Effect.gen(function* () {
  const blocksAt = (verify: Proof.Level, isPlain: boolean) =>
    Effect.map(
      Effect.forEach(recorded, (block) =>
        Effect.map(
          EvmSource.make(ethereum, Failover.alone(nodeOf(block, isPlain)), { internal: true, verify }),
          ({ blockAt }) => blockAt(block.height)
        )
      ),
      (blocks) => Effect.all(blocks, { discard: true })
    )
  const bytes = recorded.map(({ texts }) => Object.values(texts).map((text) => Buffer.from(text)))
  const parse = Effect.sync(() => bytes.map((all) => all.map((text) => JSON.parse(text.toString()))))
  const transactions = recorded.reduce((sum, block) => sum + block.transactions, 0)
  const contestants: Array<Contestant> = [["parse", parse]]
  for (const level of levels) {
    contestants.push([level, yield* blocksAt(level, false)], [`${level}, plain`, yield* blocksAt(level, true)])
  }
  yield* measure("evm", { blocks: recorded.length, transactions }, contestants)
})

/** The last block of a node over HTTP, whose reading is a part of what is measured. */
const overHttp = Effect.fnUntraced(function* (
  of: string,
  open: (url: string, verify: Proof.Level) => Effect.Effect<Source, unknown, Scope.Scope>
) {
  const { heights, url } = yield* NodeProcess.start("HugeBlocks.ts", `usual-${of}`)
  const height = heights.at(-1)!
  const sources = yield* Effect.forEach(levels, (verify) => open(url, verify))
  const { transactions, unproven = [] } = yield* sources[2]!.blockAt(height)
  yield* measure(
    of,
    { blocks: 1, transactions: transactions.length },
    levels.map((level, at) => [level, sources[at]!.blockAt(height)])
  )
  console.log(`without proof: ${unproven.map(({ part }) => part).join(", ") || "nothing"}`)
})

const [bitcoin, xrp, tron] = ["bitcoin", "xrp", "tron"].map((name) =>
  Result.getOrThrow(Chain.find(name, "mainnet"))
) as [Chain.Chain, Chain.Chain, Chain.Chain]

const program = Effect.gen(function* () {
  yield* evm
  if (process.argv[3] === "evm") return
  yield* overHttp("utxo", (url, verify) =>
    Effect.flatMap(JsonRpc.make({ urls: [url] }), (rpc) => UtxoSource.make(bitcoin, rpc, { verify }))
  )
  yield* overHttp("xrp", (url, verify) => XrpSource.make(xrp, { urls: [url], verify }))
  yield* overHttp("tron", (url, verify) => TronSource.make(tron, { urls: [url], verify }))
})

await Effect.runPromise(Effect.scoped(program))
