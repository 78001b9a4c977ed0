/**
 * Follows the configured chains, each in a fiber of its own that is started again when it fails: a broken node, or a
 * defect in what reads it, never stops another chain.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as EvmNode from "@headwater/indexer/families/evm/EvmNode"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { type ConnectedNode, ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { Source } from "@headwater/indexer/families/Source"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as Announcements from "@headwater/indexer/families/utxo/Announcements"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as InternalRetention from "@headwater/indexer/store/chain/InternalRetention"
import * as Tokens from "@headwater/indexer/store/chain/Tokens"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as AccountSync from "@headwater/indexer/sync/AccountSync"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Settings from "../settings/Settings.ts"
import * as UtxoSideTasks from "./UtxoSideTasks.ts"

/** A node is on another network than its chain: nothing of it may be taken. */
export class WrongNetwork extends Schema.TaggedError<WrongNetwork>()("WrongNetwork", { message: Schema.String }) {}

/** How long a node may search through all of its coins. */
const searchMillis = 3_600_000

/** Connects to the nodes of a chain and finds out what they can do. */
export const connect = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const options = {
    urls: Settings.nodeUrls(settings),
    timeoutMillis: settings.timeoutMillis,
    connections: settings.parallel * 2
  }
  switch (chain.family) {
    case "evm": {
      const rpc = yield* JsonRpc.make(options)
      const source = yield* EvmSource.make(chain, rpc, { internal: settings.internalTransactions })
      return {
        source,
        evm: EvmNode.make(rpc),
        tokenMetadata: source.tokenMetadata
      } satisfies ConnectedNode as ConnectedNode
    }
    case "utxo": {
      const rpc = yield* JsonRpc.make(options)
      const patient = yield* JsonRpc.make({
        ...{ urls: Settings.nodeUrls(settings), connections: 1, attempts: 1 },
        timeoutMillis: searchMillis
      })
      const announcements = yield* Announcements.make(settings.zmq ?? [])
      const source = yield* UtxoSource.make(chain, rpc, { patient, announcements })
      return { source, utxo: source } satisfies ConnectedNode as ConnectedNode
    }
    case "tron": {
      const source = yield* TronSource.make(chain, {
        ...options,
        headers: Settings.nodeHeaders(settings),
        internal: settings.internalTransactions
      })
      return { source, tron: source, tokenMetadata: source.tokenMetadata } satisfies ConnectedNode as ConnectedNode
    }
    case "xrp": {
      const source = yield* XrpSource.make(chain, options)
      return { source, xrp: source } satisfies ConnectedNode as ConnectedNode
    }
  }
})

/** How long a node may take to say which network it is on, before the chain is followed without its word. */
const networkPatience = "10 seconds"

const checkNetwork = Effect.fnUntraced(function* (host: string, source: Source) {
  const network = (yield* source.capabilities).find(({ name }) => name === "network")
  if (network?.available === false) {
    return yield* new WrongNetwork({ message: `${host}: ${network.detail}, and start again` })
  }
})

/**
 * Looks at each of several nodes by itself, since fail-over must not end on another chain. One that does not answer is
 * passed over: what it says later has to fit the chain that is stored.
 */
const checkNetworks = (chain: Chain.Chain, settings: Settings.ChainSettings) =>
  Effect.forEach(
    settings.nodes.length > 1 ? settings.nodes : [],
    (node) =>
      connect(chain, { ...settings, nodes: [node], zmq: [], internalTransactions: false }).pipe(
        Effect.flatMap(({ source }) => checkNetwork(new URL(Redacted.value(node)).host, source)),
        Effect.scoped,
        Effect.timeout(networkPatience),
        Effect.catchTag(
          ["NodeUnreachable", "NodeRejected", "NodeInconsistent", "BlockMissing", "TimeoutError"],
          () => Effect.void
        )
      ),
    { concurrency: "unbounded", discard: true }
  )

/** Connects to the nodes of a chain, all of which have to be on its network as far as they answer. */
export const open = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  yield* checkNetworks(chain, settings)
  const connected = yield* connect(chain, settings)
  yield* checkNetwork(new URL(Redacted.value(settings.nodes[0])).host, connected.source)
  const { tokenMetadata } = connected
  const tokens = tokenMetadata === undefined ? undefined : yield* Tokens.make(Chain.nameOf(chain), tokenMetadata)
  return { ...connected, tokens }
})

/** Waits before a chain is started again: doubling from one second, at most 30 seconds. */
const restarts = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** Follows one chain for good. Ends where only an operator can help; the chain's status says so. */
const follow = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const outbox = yield* Outbox
  const statuses = yield* ChainStatus
  const nodes = yield* ConnectedNodes
  const tell = (state: "failing" | "stopped", message: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => statuses.update(chain, { state, message }, now))

  const run = Effect.gen(function* () {
    const { tokens, ...node } = yield* open(chain, settings)
    yield* nodes.connect(chain, node)
    const store = yield* ChainStore.open(chain, {
      record: settings.record,
      undoDepth: settings.undoDepth,
      gapLimit: settings.gapLimit,
      ...(tokens === undefined ? {} : { tokens })
    })
    if (node.utxo !== undefined) yield* UtxoSideTasks.run(node.utxo, store, settings)
    if (node.xrp !== undefined) {
      const pollInterval = Duration.millis(settings.pollMillis)
      const accounts = yield* AccountSync.make(node.xrp, { pollInterval, gapLimit: settings.gapLimit })
      yield* Effect.forkScoped(accounts.run)
    }
    if (settings.internalTransactions) {
      yield* InternalRetention.run(yield* ChainReader.make(chain), settings)
    }
    const { run } = yield* Follow.make(node.source, store, {
      start: settings.start,
      pollInterval: Duration.millis(settings.pollMillis),
      concurrency: settings.parallel,
      undoDepth: settings.undoDepth,
      onCommitted: (_blocks, { callbacks }) => (callbacks > 0 ? outbox.wakeup : Effect.void)
    })
    return yield* run
  }).pipe(Effect.scoped)

  yield* run.pipe(
    Effect.catchTag(["UnrecoverableFork", "WrongNetwork"], (error) =>
      Effect.andThen(tell("stopped", error.message), Effect.logError(error.message))
    ),
    Effect.tapError((error) =>
      Effect.andThen(tell("failing", error.message), Effect.logWarning(`Cannot follow: ${error.message}`))
    ),
    Effect.tapDefect((defect) =>
      Effect.andThen(
        tell("failing", "Unexpected failure; the log has it"),
        Effect.logError("Failed", Cause.die(defect))
      )
    ),
    Effect.catchDefect((defect) => Effect.fail(defect)),
    Effect.retry(restarts),
    Effect.ignore,
    Effect.annotateLogs({ chain: Chain.nameOf(chain) })
  )
})

/** Follows every configured chain as long as the layer lives. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const statuses = yield* ChainStatus
    const now = yield* Clock.currentTimeMillis
    for (const { chain, settings } of Settings.chains(yield* Settings.Settings)) {
      statuses.update(chain, { state: "starting" }, now)
      yield* Effect.forkScoped(follow(chain, settings))
    }
  })
)
