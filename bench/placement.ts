/**
 * What the work costs where 1, 2 and 3 daemons share it: processes on one PostgreSQL, with six chains of nodes in another
 * process, whose blocks all come at once. CPU of the daemons and of all processes of the server for each block, from then
 * on until every chain has its last one; in brackets less what the daemons use at rest in as much time.
 *
 *     node bench/placement.ts [rounds] [blocks a chain] [transactions a block]
 */
import { fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as Redacted from "effect/Redacted"
import * as Effect from "effect/Effect"
import pg from "pg"
import * as Headwater from "../test/Headwater.ts"
import bundle from "../test/Program.ts"
import startPostgres from "../test/PostgresServer.ts"
import * as EvmNode from "../packages/indexer/test/families/evm/EvmNode.ts"
import * as SealedBlock from "../packages/indexer/test/families/evm/SealedBlock.ts"
import * as FakeNode from "../packages/indexer/test/FakeNode.ts"
import * as PostgresCosts from "./PostgresCosts.ts"
import { median } from "./Samples.ts"

const [rounds = 3, blocks = 250, transactions = 50] = process.argv.slice(2).map(Number)
const chains = ["ethereum", "polygon", "arbitrum", "base", "optimism", "avalanche"].map((name) => `${name}/devnet`)
const firstHeight = 17_000_000
const restMillis = 10_000

/** A node for each chain, which have the first block until they are told to have all. */
const nodes = Effect.gen(function* () {
  const { recorded } = EvmNode.bundle("ethereum-17053184")
  const made: Array<EvmNode.RecordedBlock> = []
  for (let i = 0; i <= blocks; i++) {
    const parent = made.at(-1)?.block.hash ?? `0x${"00".repeat(32)}`
    const time = Math.floor(Date.now() / 1000) - blocks + i
    made.push(SealedBlock.repeated(recorded, transactions, 1, { height: firstHeight + i, parent, time }))
  }
  const plain: Readonly<Record<string, string>> = {
    eth_call: "0x",
    eth_getCode: "0x",
    eth_getBalance: "0x1",
    eth_getTransactionCount: "0x1"
  }
  let shown = made.slice(0, 1)
  process.on("message", (all) => {
    shown = all === "all" ? made : made.slice(0, 1)
  })
  process.once("disconnect", () => process.exit())
  const urls = yield* Effect.forEach(chains, () =>
    Effect.map(
      FakeNode.make((method, params) => plain[method] ?? EvmNode.answers(shown, { chainId: "0x7a69" })(method, params)),
      ({ url }) => url
    )
  )
  process.send!(urls)
  return yield* Effect.never
}).pipe(Effect.scoped)

/** CPU seconds of a process, all its threads. */
const cpuOf = (pid: number) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ")
  return (Number(fields[11]) + Number(fields[12])) / 100
}

const measure = Effect.fnUntraced(function* (
  node: ReturnType<typeof fork>,
  urls: ReadonlyArray<string>,
  count: number
) {
  // The stores of tests see whether there is a server.
  const { locations } = yield* Effect.promise(() => import("../test/Stores.ts"))
  const location = yield* locations.find(({ name }) => name === "postgres")!.location
  if (location.kind !== "postgres") return yield* Effect.die("no PostgreSQL")
  node.send("first")
  const settings = {
    chains: Object.fromEntries(
      chains.map((chain, i) => [chain, { nodes: [urls[i]], start: firstHeight, record: "watched", pollMillis: 500 }])
    ),
    log: { level: "warn" }
  }
  const daemons: Array<Headwater.Headwater> = []
  for (let i = 0; i < count; i++) {
    daemons.push(
      yield* Headwater.start(location, settings, daemons[0] === undefined ? {} : { apiKey: daemons[0].apiKey })
    )
  }
  const client = new pg.Client({ connectionString: Redacted.value(location.url) })
  yield* Effect.promise(() => client.connect())
  yield* Effect.addFinalizer(() => Effect.promise(() => client.end()))
  const server = yield* Effect.promise(() => PostgresCosts.postmaster(client))
  const reached = (height: number) =>
    Effect.promise(() => client.query("select count(*)::int as n from chain where height >= $1", [height])).pipe(
      Effect.delay("200 millis"),
      Effect.repeat({ until: ({ rows }) => rows[0].n === chains.length })
    )
  const used = () => ({
    at: performance.now(),
    own: daemons.reduce((sum, daemon) => sum + cpuOf(daemon.pid()), 0),
    server: PostgresCosts.cpuOf(server)
  })
  yield* reached(firstHeight)
  // Daemons that have just come take chains from one another.
  yield* Effect.sleep("15 seconds")
  const begin = used()
  yield* Effect.sleep(restMillis)
  const rested = used()
  node.send("all")
  yield* reached(firstHeight + blocks)
  const ended = used()
  const seconds = (ended.at - rested.at) / 1000
  const rest = {
    own: (rested.own - begin.own) / (restMillis / 1000),
    server: (rested.server - begin.server) / (restMillis / 1000)
  }
  const each = (seconds: number) => (seconds / (blocks * chains.length)) * 1000
  const result = {
    ...{ count, seconds, rest },
    own: each(ended.own - rested.own),
    server: each(ended.server - rested.server),
    net: each(ended.own - rested.own + ended.server - rested.server - (rest.own + rest.server) * seconds)
  }
  console.log(JSON.stringify(result))
  return result
}, Effect.scoped)

const main = Effect.gen(function* () {
  const node = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), "nodes"])
  yield* Effect.addFinalizer(() => Effect.sync(() => node.kill("SIGKILL")))
  const urls = yield* Effect.promise<ReadonlyArray<string>>(
    () => new Promise((resolve) => node.once("message", (urls) => resolve(urls as ReadonlyArray<string>)))
  )
  const all: Array<Effect.Success<ReturnType<typeof measure>>> = []
  for (let round = 0; round < rounds; round++) {
    for (const count of [1, 2, 3]) all.push(yield* measure(node, urls, count))
  }
  console.log(
    `${chains.length} chains of ${blocks} blocks with ${transactions} transactions, medians of ${rounds} rounds`
  )
  for (const count of [1, 2, 3]) {
    const of = (value: (one: (typeof all)[number]) => number) =>
      median(all.filter((one) => one.count === count).map(value))
    console.log(
      `${count} daemons: ${of(({ own }) => own).toFixed(2)} + ${of(({ server }) => server).toFixed(2)} ms of CPU a block ` +
        `(${of(({ net }) => net).toFixed(2)}); ` +
        `at rest ${of(({ rest }) => (rest.own / count) * 1000).toFixed(0)} + ` +
        `${of(({ rest }) => (rest.server / count) * 1000).toFixed(0)} ms a second and daemon`
    )
  }
}).pipe(Effect.scoped)

if (process.argv.includes("nodes")) await Effect.runPromise(nodes)
else {
  bundle()
  const stop = await startPostgres()
  await Effect.runPromise(main)
  await stop?.()
  process.exit()
}
