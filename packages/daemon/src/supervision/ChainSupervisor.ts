/**
 * Follows the configured chains, each in a fiber of its own that is started again when it fails: a broken node, or a
 * defect in the code that reads the node, never stops another chain.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Capability from "@headwater/indexer/families/Capability"
import * as Families from "@headwater/indexer/families/families"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import type { Source } from "@headwater/indexer/families/Source"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import * as Follow from "@headwater/indexer/sync/Follow"
import * as SideTasks from "@headwater/indexer/sync/SideTasks"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Settings from "../settings/Settings.ts"

/** A node is on another network than its chain: none of its answers may be used. */
export class WrongNetwork extends Schema.TaggedError<WrongNetwork>()("WrongNetwork", { message: Schema.String }) {}

/** How long a node may take to say which network it is on, before the chain is followed without its word. */
const networkTimeout = "10 seconds"

/** Fails for a node of another network; why it is not proved that the node is of its chain's network, if it is not. */
const checkNetwork = Effect.fnUntraced(function* (host: string, source: Source) {
  const capabilities = yield* source.capabilities
  const wrong = Capability.lacking(capabilities, Capability.network)
  if (wrong !== undefined) {
    return yield* new WrongNetwork({ message: `${host}: ${wrong.detail}, and start again` })
  }
  const doubt = Capability.networkDoubt(capabilities)
  if (doubt !== undefined) yield* Effect.logWarning(`${host}: the network is ${doubt}`)
  return doubt
})

/**
 * Looks at each of several nodes by itself, since fail-over must not end on another chain. A node that does not answer
 * is passed over: its later answers have to fit the chain that is stored.
 */
const checkNetworks = (chain: Chain.Chain, settings: Settings.ChainSettings) =>
  Effect.forEach(
    settings.nodes.length > 1 ? settings.nodes : [],
    (node) =>
      Families.connect(chain, {
        ...settings,
        nodes: [node],
        announcements: false,
        internalTransactions: false
      }).pipe(
        Effect.flatMap(({ source }) => checkNetwork(new URL(Redacted.value(node)).host, source)),
        Effect.scoped,
        Effect.timeout(networkTimeout),
        Effect.catchTag(
          ["NodeUnreachable", "NodeRejected", "NodeInconsistent", "ProofFailed", "BlockMissing", "TimeoutError"],
          () => Effect.void
        )
      ),
    { concurrency: "unbounded", discard: true }
  )

/** Connects to the nodes of a chain, all of which have to be on its network as far as they answer. */
export const open = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  yield* checkNetworks(chain, settings)
  const connected = yield* Families.connect(chain, settings)
  const networkDoubt = yield* checkNetwork(new URL(Redacted.value(settings.nodes[0])).host, connected.source)
  return { ...connected, networkDoubt }
})

/** Waits before a chain is started again: doubling from one second, at most 30 seconds. */
const restarts = Schedule.min([Schedule.exponential("1 second"), Schedule.spaced("30 seconds")])

/** Follows one chain for good. Ends where only an operator can help; the chain's status says so. */
const follow = Effect.fnUntraced(function* (chain: Chain.Chain, settings: Settings.ChainSettings) {
  const outbox = yield* Outbox
  const statuses = yield* ChainStatus
  const nodes = yield* ConnectedNodes
  const report = (state: "failing" | "stopped", message: string) =>
    Effect.map(Clock.currentTimeMillis, (now) => statuses.update(chain, { state, message }, now))

  const run = Effect.gen(function* () {
    const node = yield* open(chain, settings)
    const { networkDoubt } = node
    statuses.update(chain, { networkDoubt }, yield* Clock.currentTimeMillis)
    yield* nodes.connect(chain, node)
    const store = yield* ChainStore.open(chain, settings)
    yield* SideTasks.run(node, store, settings)
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
      Effect.andThen(report("stopped", error.message), Effect.logError(error.message))
    ),
    Effect.tapError((error) =>
      Effect.andThen(report("failing", error.message), Effect.logWarning(`Cannot follow: ${error.message}`))
    ),
    Effect.tapDefect((defect) =>
      Effect.andThen(
        report("failing", "Unexpected failure; the log has it"),
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
