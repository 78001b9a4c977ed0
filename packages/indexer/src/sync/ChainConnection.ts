/** The way to the nodes of a chain, all of which have to be on its network. */
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Capability from "../families/Capability.ts"
import type { NodeSettings } from "../families/Family.ts"
import * as Families from "../families/families.ts"
import * as ReaderThreads from "./ReaderThreads.ts"

/** A node is on another network than its chain: none of its answers may be used. */
export class WrongNetwork extends Schema.TaggedError<WrongNetwork>()("WrongNetwork", { message: Schema.String }) {}

/** How long a node may take to say which network it is on, before the chain is followed without its word. */
const networkTimeout = "10 seconds"

/** Fails for a node of another network; why it is not proved that the node is of its chain's network, if it is not. */
const checkNetwork = Effect.fnUntraced(function* (host: string, capabilities: ReadonlyArray<Capability.Capability>) {
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
const checkNetworks = (chain: Chain.Chain, settings: NodeSettings) =>
  Effect.forEach(
    settings.nodes.length > 1 ? settings.nodes : [],
    (node) =>
      Families.connect(chain, {
        ...settings,
        nodes: [node],
        announcements: false,
        internalTransactions: false
      }).pipe(
        Effect.flatMap(({ source }) => source.capabilities),
        Effect.flatMap((capabilities) => checkNetwork(new URL(Redacted.value(node)).host, capabilities)),
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
export const open = Effect.fnUntraced(function* (chain: Chain.Chain, settings: NodeSettings) {
  yield* checkNetworks(chain, settings)
  const connected = yield* Families.connect(chain, settings)
  const capabilities = yield* connected.source.capabilities
  const networkDoubt = yield* checkNetwork(new URL(Redacted.value(settings.nodes[0])).host, capabilities)
  const threads = yield* ReaderThreads.Current
  return { ...(yield* threads.reading(chain, { connected, settings, capabilities })), networkDoubt }
})
