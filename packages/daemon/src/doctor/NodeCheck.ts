/** Looks at one node of a chain: whether it answers, what it is, how far it is, and what it can do. */
import * as Chain from "@headwater/core/Chain"
import * as JsonRpc from "@headwater/indexer/sources/JsonRpc"
import type { NodeError } from "@headwater/indexer/sources/NodeError"
import type { Capability, Source } from "@headwater/indexer/sources/Source"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as FollowedChains from "../FollowedChains.ts"
import type * as Settings from "../Settings.ts"
import type { Finding } from "./Finding.ts"

type About = Omit<Finding, "subject">
type Json = Readonly<Record<string, unknown>>

/** How long a node may take with everything that it is asked. */
const patience = "30 seconds"
/** How far the newest block may be ahead of this machine's clock, in seconds. */
const clockTolerance = 60

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null
const ok = (message: string): About => ({ level: "ok", message })

/** What a node calls itself, and whether it still synchronises: the answers of a family, in words. */
const words: Partial<
  Record<
    Chain.Family,
    {
      readonly methods: ReadonlyArray<string>
      readonly read: (answers: ReadonlyArray<unknown>) => ReadonlyArray<About>
    }
  >
> = {
  evm: {
    methods: ["web3_clientVersion", "eth_syncing"],
    read: ([version, syncing]) => [
      ...(typeof version === "string" ? [ok(version.slice(0, 100))] : []),
      ...(isJson(syncing)
        ? [
            {
              level: "warning",
              message: `it still synchronises: block ${Number(syncing.currentBlock)} of ${Number(syncing.highestBlock)}`,
              advice: "wait, or follow from a node that is done"
            } as const
          ]
        : [])
    ]
  },
  utxo: {
    methods: ["getnetworkinfo", "getblockchaininfo", "getindexinfo"],
    read: ([network, chain, indexes]) => [
      ...(isJson(network) ? [ok(`${network.subversion ?? "unknown"}`.slice(0, 100))] : []),
      ...(isJson(network) && Math.abs(Number(network.timeoffset)) > clockTolerance
        ? [
            {
              level: "warning",
              message: `its clock is ${network.timeoffset} s from its peers'`,
              advice: "set the clock of the node's machine by NTP"
            } as const
          ]
        : []),
      ...(isJson(chain) && (chain.initialblockdownload === true || Number(chain.headers) - Number(chain.blocks) > 10)
        ? [
            {
              level: "warning",
              message: `it still synchronises: block ${chain.blocks} of ${chain.headers}`,
              advice: "wait, or follow from a node that is done"
            } as const
          ]
        : []),
      ...(isJson(indexes) ? [ok(`txindex: ${isJson(indexes.txindex) ? "yes" : "no"}`)] : [])
    ]
  }
}

/** The node's own words about itself; none where it does not give them. */
const describe = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const asked = words[chain.family]
  if (asked === undefined) return []
  const rpc = yield* JsonRpc.make({
    urls: settings.nodes.map(Redacted.value),
    timeoutMillis: settings.timeoutMillis,
    attempts: 1
  })
  const answers = yield* rpc.results(asked.methods.map((method) => ({ method, params: [] })))
  return asked.read(answers.map(Result.getOrUndefined))
})

/** What a missing ability means: without the network or wanted traces nothing is right; the rest makes do. */
const ofCapability = ({ available, detail, name }: Capability, settings: Settings.ChainSettings): About => {
  if (available) return ok(`${name}: ${detail}`)
  if (name === "network") return { level: "problem", message: detail, advice: "correct the URL of the node" }
  if (name !== "internal transactions") return { level: "warning", message: `${name}: ${detail}` }
  return settings.internalTransactions
    ? {
        level: "problem",
        message: detail,
        advice:
          "start geth, Erigon or Besu with its debug or trace API, Nethermind with its Trace module; or set " +
          "internalTransactions = false, and do without"
      }
    : ok("internal transactions: not wanted")
}

/** Reads the newest block whole, as following does. */
const newest = Effect.fnUntraced(function* (
  source: Source,
  settings: Settings.ChainSettings
): Effect.fn.Return<About, NodeError> {
  const { height } = yield* source.head
  const { time } = yield* source.blockAt(height)
  const age = Math.floor((yield* Clock.currentTimeMillis) / 1000) - time
  const message = `block ${height} is read, ${age < 0 ? `${-age} s ahead of this machine's clock` : `${age} s old`}`
  if (age < -clockTolerance) {
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

/** Everything about one of the chain's nodes. */
export const check = Effect.fn("NodeCheck.check")(function* (
  chain: Chain.Chain,
  chainSettings: Settings.ChainSettings,
  node: Settings.ChainSettings["nodes"][number]
) {
  const settings = { ...chainSettings, nodes: [node] as const }
  const subject = `${Chain.nameOf(chain)} ${new URL(Redacted.value(node)).host}`
  const failed = (tag: keyof typeof adviceOf, message: string): ReadonlyArray<About> => [
    { level: "problem", message, advice: adviceOf[tag] }
  ]
  const found = yield* Effect.gen(function* () {
    const { source } = yield* FollowedChains.connect(chain, settings)
    const capabilities = (yield* source.capabilities).map((capability) => ofCapability(capability, settings))
    const about = yield* describe(chain, settings)
    // What a node of another network says of its blocks is of no interest.
    const wrong = capabilities.some(({ level, message }) => level === "problem" && /another network/.test(message))
    return [...about, ...capabilities, ...(wrong ? [] : [yield* newest(source, settings)])]
  }).pipe(
    Effect.scoped,
    Effect.timeout(patience),
    Effect.catch((error) =>
      Effect.succeed(failed(error._tag, error._tag === "TimeoutError" ? `no answer within ${patience}` : error.message))
    )
  )
  return found.map((about): Finding => ({ subject, ...about }))
})
