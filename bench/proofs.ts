/**
 * CPU that the proof of recorded Ethereum blocks takes at each level of `verify`, against the floor of parsing the node's
 * answers, and against reading the blocks without proof. In turns, in one process; the longest pause of the event loop
 * stands beside.
 *
 *     node bench/proofs.ts [rounds]
 */
import { readdirSync, readFileSync } from "node:fs"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { gunzipSync } from "node:zlib"
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as Failover from "@headwater/indexer/families/node/Failover"
import type { JsonRpc } from "@headwater/indexer/families/node/JsonRpc"
import { NodeRejected } from "@headwater/indexer/families/node/NodeError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

const [rounds = 20] = process.argv.slice(2).map(Number)
const folder = new URL("../../shared/fixtures/evm-rpc/bundles/", import.meta.url)
const ethereum = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

interface Recorded {
  readonly block: string
  readonly receipts: string
  readonly height: number
  readonly transactions: number
}

const recorded = readdirSync(folder)
  .filter((file) => !file.includes("expected"))
  .map((file): Recorded => {
    const json = JSON.parse(gunzipSync(readFileSync(new URL(file, folder))).toString())
    const { eth_getBlockByNumber: block, eth_getBlockReceipts: receipts } = json
    return {
      ...{ block: JSON.stringify(block), receipts: JSON.stringify(receipts) },
      ...{ height: Number(block.number), transactions: block.transactions.length }
    }
  })
  .filter(({ transactions }) => transactions > 50)

/** A node that has one block: as from the network, the answers are parsed each time. */
const nodeOf = ({ block, receipts }: Recorded): JsonRpc => {
  const answers: Readonly<Record<string, string>> = {
    eth_chainId: '"0x1"',
    eth_getBlockByNumber: block,
    eth_getBlockReceipts: receipts
  }
  const result = (method: string): Result.Result<unknown, NodeRejected> =>
    answers[method] === undefined
      ? Result.fail(new NodeRejected({ node: "memory", method, code: -32601, message: "method not found" }))
      : Result.succeed(JSON.parse(answers[method]))
  const results: JsonRpc["results"] = (calls) => Effect.sync(() => calls.map(({ method }) => result(method)))
  return {
    node: "memory",
    results,
    batch: (calls) => Effect.flatMap(results(calls), (all) => Effect.fromResult(Result.all(all))),
    call: (method) => Effect.suspend(() => Effect.fromResult(result(method)))
  }
}

const cpu = (self: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function* () {
    const before = process.cpuUsage()
    yield* self
    const { system, user } = process.cpuUsage(before)
    return (system + user) / 1000
  })

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[values.length >> 1]!

const program = Effect.gen(function* () {
  const levels = ["links", "roots", "full"] as const
  const sources = yield* Effect.forEach(levels, (verify) =>
    Effect.forEach(recorded, (block) =>
      Effect.map(EvmSource.make(ethereum, Failover.alone(nodeOf(block)), { internal: false, verify }), ({ blockAt }) =>
        blockAt(block.height)
      )
    )
  )
  const parse = Effect.sync(() => recorded.map(({ block, receipts }) => [JSON.parse(block), JSON.parse(receipts)]))
  const contestants = [
    ["parse", parse],
    ...levels.map((level, at) => [level, Effect.all(sources[at]!, { discard: true })] as const)
  ] as const
  const measured = contestants.map(() => ({ cpu: [] as Array<number>, pause: [] as Array<number> }))
  for (let round = -2; round < rounds; round++) {
    for (const [at, [, self]] of contestants.entries()) {
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
  const transactions = recorded.reduce((sum, block) => sum + block.transactions, 0)
  console.log(`${recorded.length} blocks, ${transactions} transactions, medians of ${rounds} rounds:`)
  for (const [at, [name]] of contestants.entries()) {
    const all = median(measured[at]!.cpu)
    console.log(
      `${name.padEnd(6)} ${(all / recorded.length).toFixed(2).padStart(7)} ms CPU a block  ` +
        `${((all / transactions) * 1000).toFixed(0).padStart(5)} µs a transaction  ` +
        `longest pause ${median(measured[at]!.pause).toFixed(0)} ms`
    )
  }
})

await Effect.runPromise(program)
