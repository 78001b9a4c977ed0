/** Looks at one node of a chain: whether it answers, what it is, how far it is, and what it can do. */
import * as Chain from "@headwater/core/chains/Chain"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { Capability, Source } from "@headwater/indexer/families/Source"
import * as TronHttp from "@headwater/indexer/families/tron/TronHttp"
import * as XrpNode from "@headwater/indexer/families/xrp/XrpNode"
import type * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Settings from "../settings/Settings.ts"
import * as ChainSupervisor from "../supervision/ChainSupervisor.ts"
import type { Finding } from "./Finding.ts"
import * as NodeSelfReport from "./NodeSelfReport.ts"
import { type About, ok } from "./NodeSelfReport.ts"

/** How long a node may take with everything that it is asked. */
const patience = "30 seconds"

/** The node's own words about itself; none where it does not give them. */
const describe = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const options = { urls: Settings.nodeUrls(settings), timeoutMillis: settings.timeoutMillis, attempts: 1 }
  const ask = (methods: ReadonlyArray<string>) =>
    Effect.flatMap(JsonRpc.make(options), (rpc) =>
      Effect.map(rpc.results(methods.map((method) => ({ method, params: [] }))), (answers) =>
        answers.map(Result.getOrUndefined)
      )
    )
  switch (chain.family) {
    case "evm":
      return NodeSelfReport.evm(yield* ask(["web3_clientVersion", "eth_syncing"]))
    case "utxo":
      return NodeSelfReport.utxo(yield* ask(["getnetworkinfo", "getblockchaininfo", "getindexinfo"]))
    case "xrp": {
      const node = yield* XrpNode.make(options)
      return NodeSelfReport.xrp(yield* node.request("server_info", {}), settings.start)
    }
    case "tron": {
      const http = yield* TronHttp.make({ ...options, headers: Settings.nodeHeaders(settings) })
      const orNothing = <A>(asked: Effect.Effect<A, NodeError>) =>
        Effect.catchTag(asked, ["NodeRejected", "NodeInconsistent"], () => Effect.undefined)
      const info = yield* orNothing(http.post("/wallet/getnodeinfo"))
      const genesis = yield* orNothing(http.read(GenesisBlock, "/wallet/getblockbynum", '{"num":0}'))
      return NodeSelfReport.tron(chain, info, genesis?.blockID)
    }
  }
})

const GenesisBlock = Schema.Struct({ blockID: Schema.String })

const traceAdvice =
  "start geth, Erigon or Besu with its debug or trace API, Nethermind with its Trace module; or set " +
  "internalTransactions = false, and do without"

const tronAdvice =
  "set vm.saveInternalTx = true in its configuration and restart it, which helps for blocks from then on; or set " +
  "internalTransactions = false, and do without"

/** What to do about an ability that a node lacks, where its detail does not say it. */
const adviceOfCapability: Readonly<Record<string, string>> = {
  "receipts of a block": "upgrade the node, if catching up is too slow",
  finality: "upgrade the node; or keep undoDepth as deep as you trust",
  prevouts:
    "upgrade the node; or subscribe to addresses before they are first paid; or follow the chain anew with start = 0 and " +
    'record = "all"',
  history: "let the node fetch what it lacks, or use one that keeps everything; or start later"
}

/** What a missing ability means: without the network or wanted traces nothing is right; the rest makes do. */
const ofCapability = (
  { family }: Chain.Chain,
  { available, detail, name, unsure }: Capability,
  settings: Settings.ChainSettings
): About => {
  if (available) return ok(`${name}: ${detail}`)
  if (name === "network") return { level: "problem", message: detail, advice: "correct the URL of the node" }
  if (name === "internal transactions") {
    if (!settings.internalTransactions) return ok(`${name}: not wanted`)
    const advice = family === "tron" ? tronAdvice : traceAdvice
    return { level: unsure === true ? "warning" : "problem", message: detail, advice }
  }
  // No node of any kind gives these.
  if (name === "TRC-10 tokens") return ok(detail)
  const advice =
    family === "tron" && name === "finality"
      ? "enable the node's solidity API (node.http.solidityEnable = true), or /wallet/getnodeinfo"
      : adviceOfCapability[name]
  return { level: "warning", message: `${name}: ${detail}`, ...(advice === undefined ? {} : { advice }) }
}

/** Reads the newest block whole, as following does. */
const newest = Effect.fnUntraced(function* (
  source: Source,
  settings: Settings.ChainSettings
): Effect.fn.Return<About, NodeError> {
  const { height } = yield* source.head
  const { missing, time } = yield* source.blockAt(height)
  if (missing !== undefined) {
    const message = `block ${height} is read without internal transactions: ${missing[0]?.reason}`
    return { level: "problem", message, advice: traceAdvice }
  }
  const age = Math.floor((yield* Clock.currentTimeMillis) / 1000) - time
  const message = `block ${height} is read, ${age < 0 ? `${-age} s ahead of this machine's clock` : `${age} s old`}`
  if (age < -NodeSelfReport.clockTolerance) {
    return { level: "warning", message, advice: "set this machine's clock by NTP" }
  }
  return age > settings.silentSeconds
    ? {
        level: "warning",
        message,
        advice: "see whether the node has peers and synchronises, and whether clocks are right"
      }
    : ok(message)
})

const adviceOf: Record<NodeError["_tag"] | "TimeoutError", string> = {
  NodeUnreachable: "see whether the node runs, and whether the URL names its RPC port, user and password",
  NodeRejected: "see whether the URL names the node's RPC, and whether the node allows these calls to its user",
  NodeInconsistent: "see whether the URL names a node of this chain, at its RPC port",
  BlockMissing: "wait until the node has synchronised",
  TimeoutError: "see whether the node runs and what it is busy with"
}

/** What to do about a failure of a certain call. */
const adviceOfMethod: Readonly<Record<string, string>> = {
  "/wallet/gettransactioninfobyblocknum":
    "allow this path on the node (java-tron 3.7 and later has it; see node.disabledApi), or use one that does: without " +
    "it there are no tokens, fees and internal transactions, and nothing is followed"
}

const problemOf = (error: NodeError | Cause.TimeoutError): About =>
  error._tag === "TimeoutError"
    ? { level: "problem", message: `no answer within ${patience}`, advice: adviceOf.TimeoutError }
    : {
        level: "problem",
        message:
          "method" in error && error.method.startsWith("/") ? `${error.method}: ${error.message}` : error.message,
        advice: ("method" in error ? adviceOfMethod[error.method] : undefined) ?? adviceOf[error._tag]
      }

/** What the node can do, and its newest block, as following sees them. */
const follow = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const { source } = yield* ChainSupervisor.connect(chain, settings)
  const capabilities = yield* source.capabilities
  // What a node of another network says of its blocks is of no interest.
  const wrong = capabilities.some(({ available, name }) => name === "network" && !available)
  const block = wrong
    ? []
    : [yield* Effect.catch(newest(source, settings), (error) => Effect.succeed(problemOf(error)))]
  return [...capabilities.map((capability) => ofCapability(chain, capability, settings)), ...block]
})

/** Everything about one of the chain's nodes. */
export const check = Effect.fn("NodeCheck.check")(function* (
  chain: Chain.Chain,
  chainSettings: Settings.ChainSettings,
  node: Settings.ChainSettings["nodes"][number]
) {
  const settings = { ...chainSettings, nodes: [node] as const }
  const subject = `${Chain.nameOf(chain)} ${new URL(Redacted.value(node)).host}`
  const found = yield* Effect.all(
    [
      // A node that does not answer is told of once.
      describe(chain, settings).pipe(
        Effect.scoped,
        Effect.timeout(patience),
        Effect.catch(() => Effect.succeed([]))
      ),
      follow(chain, settings).pipe(
        Effect.scoped,
        Effect.timeout(patience),
        Effect.catch((error) => Effect.succeed([problemOf(error)]))
      )
    ],
    { concurrency: 2 }
  )
  return found.flat().map((about): Finding => ({ subject, ...about }))
})
