/**
 * From a node's announcement of a block to the commit of that block and to the first byte of its callback at a receiver, of
 * the daemon as its own process with the settings that nobody changed: anvil's `newHeads`, and litecoind with a ZeroMQ
 * publisher before it, since Debian's has none. Beside it the floor: a bare loop in this process that hears the same
 * announcement, asks the node for the block, and posts a signed body to the same receiver. The commit is told by spans, which
 * are sent where a block has one callback: a thousand of them would be a third of the daemon's work, and fall to the receiver's
 * thread.
 *
 *     node bench/push.ts [blocks, 100] [evm | utxo | both] [subscriptions that each block calls back, 1]
 */
import { createHmac } from "node:crypto"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import { Agent, fetch, WebSocket } from "undici"
import * as Anvil from "../test/Anvil.ts"
import * as Collector from "../test/Collector.ts"
import * as Folder from "../test/Folder.ts"
import * as Headwater from "../test/Headwater.ts"
import * as Litecoind from "../test/Litecoind.ts"
import * as Receiver from "./Receiver.ts"
import * as Comparison from "./Comparison.ts"
import { percentile } from "./Samples.ts"
import * as ZeroMq from "./ZeroMq.ts"

const [blocks = "100", which = "both", subscriptions = "1"] = process.argv.slice(2)
const count = Number(blocks)
const callbacks = Number(subscriptions)
const isTraced = callbacks === 1
const secret = "a secret of the benchmark"

interface Chain {
  readonly name: string
  readonly settings: object
  readonly mine: Effect.Effect<unknown>
  /** What the bare loop asks the node for when a block is announced. */
  readonly fetchBlock: () => Promise<unknown>
  /** When the newest announcement was heard, by `performance.now()`. */
  readonly onAnnounced: (hear: (at: number) => void) => void
}

const rpc = async (url: string, method: string, params: ReadonlyArray<unknown>) => {
  const { origin, password, username } = new URL(url)
  const answer = await fetch(origin, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(username === ""
        ? {}
        : { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` })
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  })
  return ((await answer.json()) as { readonly result: unknown }).result
}

const evm = Effect.gen(function* () {
  const anvil = yield* Anvil.start({ args: ["--no-mining"] })
  // By way of the server that asks anvil one thing after the other; announcements come from anvil itself.
  const { url } = anvil
  let hear = (_: number) => {}
  const socket = new WebSocket(anvil.webSocket)
  yield* Effect.callback<void>((resume) => {
    socket.onopen = () =>
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_subscribe", params: ["newHeads"] }))
    socket.onmessage = ({ data }) => {
      if (String(data).includes("eth_subscription")) hear(performance.now())
      else resume(Effect.void)
    }
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => socket.close()))
  return {
    name: "ethereum/devnet",
    settings: { nodes: [url], newHeads: [anvil.webSocket] },
    mine: anvil.rpc("evm_mine", []),
    fetchBlock: () =>
      Promise.all([rpc(url, "eth_getBlockByNumber", ["latest", true]), rpc(url, "eth_getBlockReceipts", ["latest"])]),
    onAnnounced: (listener) => {
      hear = listener
    }
  } satisfies Chain
})

const utxo = Effect.gen(function* () {
  const litecoind = yield* Litecoind.start()
  const publisher = yield* Effect.acquireRelease(
    Effect.promise(() => ZeroMq.publisher()),
    (publisher) => Effect.sync(() => publisher.close())
  )
  let hear = (_: number) => {}
  return {
    name: "litecoin/regtest",
    settings: { nodes: [litecoind.url], zmq: [publisher.endpoint] },
    mine: Effect.flatMap(litecoind.mine(1), ([hash]) =>
      Effect.promise(async () => {
        await publisher.announce(hash!)
        hear(performance.now())
      })
    ),
    fetchBlock: async () => rpc(litecoind.url, "getblock", [await rpc(litecoind.url, "getbestblockhash", []), 0]),
    onAnnounced: (listener) => {
      hear = listener
    }
  } satisfies Chain
})

/** When each commit of a block ended, by `performance.now()`. */
const commitsOf = (spans: ReadonlyArray<Collector.Span>) =>
  spans
    .filter(({ name }) => name === "Block.commit")
    .map(({ endTimeUnixNano }) => Number(BigInt(endTimeUnixNano)) / 1e6 - performance.timeOrigin)

const show = (values: ReadonlyArray<number>) =>
  `p50 ${percentile(values, 0.5).toFixed(1).padStart(6)} ms  p99 ${percentile(values, 0.99).toFixed(1).padStart(6)} ms  (${values.length})`

const measure = (chainOf: typeof evm | typeof utxo) =>
  Effect.gen(function* () {
    const chain: Chain = yield* chainOf
    const folder = yield* Folder.scoped
    let received = (_path: string, _at: number) => {}
    const receiver = yield* Receiver.start((path, _, at) => received(path, at))
    const { spans, url: otlp } = yield* Collector.start
    const headwater = yield* Headwater.start(
      { kind: "sqlite", file: join(folder, "store.db") },
      {
        chains: { [chain.name]: chain.settings },
        callbacks: { allowHosts: [Receiver.host], extraCa: receiver.ca },
        ...(callbacks > 100 ? { limits: { duplicates: callbacks } } : {}),
        ...(isTraced ? { traces: { otlp } } : {})
      },
      // The sources, which find zeromq beside them.
      { program: fileURLToPath(new URL("../packages/daemon/src/main.ts", import.meta.url)) }
    )
    for (let i = 0; i < callbacks; i++) {
      const { status } = yield* headwater.post(`/blockchain-events/${chain.name}/block-mined`, {
        callbackSecretKey: secret,
        callbackUrl: `${receiver.url}/${i}`,
        allowDuplicates: true
      })
      if (status !== 201) return yield* Effect.die(new Error(`not subscribed: ${status}`))
    }

    const agent = new Agent({ connections: 16, allowH2: false, connect: { ca: receiver.ca } })
    const body = JSON.stringify({ padding: "x".repeat(400) })
    const post = async (path: string) => {
      const signature = createHmac("sha256", secret).update(body).digest("hex")
      const headers = { "content-type": "application/json", "x-signature": signature }
      const answer = await agent.request({ origin: receiver.url, path, method: "POST", headers, body })
      await answer.body.dump()
    }
    let isBare = false
    let announcedAt: number | undefined
    chain.onAnnounced((at) => {
      announcedAt = at
      if (isBare)
        void chain.fetchBlock().then(() => Promise.all(Array.from({ length: callbacks }, () => post("/bare"))))
    })

    /**
     * Mines a block and waits for all callbacks of it, of the bare loop's too where that takes part: milliseconds from the
     * announcement to each of them.
     */
    const block = Effect.fnUntraced(function* (withBare: boolean) {
      const ours: Array<number> = []
      const bare: Array<number> = []
      isBare = withBare
      const all = Effect.callback<void>((resume) => {
        received = (path, at) => {
          const arrivals = path === "/bare" ? bare : ours
          arrivals.push(at)
          if (ours.length === callbacks && bare.length === (withBare ? callbacks : 0)) resume(Effect.void)
        }
      })
      announcedAt = undefined
      yield* Effect.all([all, chain.mine], { concurrency: 2 })
      const from = announcedAt!
      // Another time of the poll's each time.
      yield* Effect.sleep(100 + ((ours[0]! * 1000) % 150))
      return { from, ours: ours.map((at) => at - from), bare: bare.map((at) => at - from) }
    })

    for (let i = 0; i < 10; i++) yield* block(true)
    const froms: Array<number> = []
    const ours: Array<number> = []
    const bare: Array<number> = []
    for (let i = 0; i < count; i++) {
      // In turns: where both take part they are in one another's way.
      const one = yield* block(false)
      froms.push(one.from)
      ours.push(...one.ours)
      bare.push(...(yield* block(true)).bare)
    }
    // Spans are sent in batches.
    if (isTraced) yield* Effect.sleep("6 seconds")
    const commits = commitsOf(spans)
    const committed = froms.flatMap((from) =>
      commits
        .filter((at) => at > from && at < from + 100)
        .slice(0, 1)
        .map((at) => at - from)
    )
    yield* Effect.promise(() => agent.destroy())
    console.log(`${chain.name}, ${callbacks} callbacks a block`)
    if (isTraced) console.log(`  announcement → commit    ${show(committed)}`)
    console.log(`  announcement → receiver  ${show(ours)}`)
    console.log(`  the bare loop            ${show(bare)}`)
    Comparison.report({
      ...{
        work: `${chain.name}: announcement to receiver, ${callbacks} callbacks a block`,
        unit: "ms",
        better: "less"
      },
      ...{ ours, floor: { name: "a bare loop", values: bare } }
    })
  }).pipe(Effect.scoped)

if (which !== "utxo") await Effect.runPromise(measure(evm))
if (which !== "evm") {
  if (Litecoind.installed) await Effect.runPromise(measure(utxo))
  else console.log("litecoind is not installed: no UTXO")
}
process.exit()
