/**
 * Whether a chain's record and its node are at the present: answers that look current must be. Where they are not, the
 * client is told to come back.
 */
import type { ConnectedNode } from "@headwater/indexer/sources/ConnectedNodes"
import { ConnectedNodes } from "@headwater/indexer/sources/ConnectedNodes"
import type { NodeError } from "@headwater/indexer/sources/NodeError"
import type { RecordedChain, Tip } from "@headwater/indexer/store/RecordedChain"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { NodeUnavailable } from "../Errors.ts"

export interface Freshness {
  /** The node, if it is connected and not behind what is recorded. */
  readonly node: Effect.Effect<ConnectedNode, NodeUnavailable>
  /** The last recorded block, if it is on the node's chain and next to its head. */
  readonly recorded: Effect.Effect<{ readonly tip: Tip; readonly node: ConnectedNode }, NodeUnavailable>
  /** Answers 503 for a node that fails; only messages of our own are repeated. */
  readonly orUnavailable: <A, E, R>(
    self: Effect.Effect<A, E | NodeError, R>
  ) => Effect.Effect<A, Exclude<E, NodeError> | NodeUnavailable, R>
}

/** How long a node may take to say where it is. */
const patience = "10 seconds"

/** How long a request waits for a block that the node has and the record is about to have. */
const waitMillis = 1_000
const lookMillis = 20

/** Blocks that the record may lack even so: those of ten seconds, at least two. */
const lagOf = (blockSeconds: number) => Math.max(2, Math.ceil(10 / blockSeconds))

const same = (a: Uint8Array, b: Uint8Array) => Buffer.compare(a, b) === 0

const nodeErrors: ReadonlySet<unknown> = new Set([
  "NodeUnreachable",
  "NodeRejected",
  "NodeInconsistent",
  "BlockMissing"
] satisfies ReadonlyArray<NodeError["_tag"]>)

const isNodeError = (error: unknown): error is NodeError =>
  nodeErrors.has((error as { readonly _tag?: unknown } | undefined)?._tag)

export const make = Effect.fnUntraced(function* (record: RecordedChain) {
  const nodes = yield* ConnectedNodes
  const { chain } = record
  const retryAfter = Math.max(1, Math.ceil(chain.blockSeconds))
  const unavailable = (message: string) => new NodeUnavailable({ message, retryAfter })

  const orUnavailable: Freshness["orUnavailable"] = (self) =>
    Effect.catchIf(self, isNodeError, (error) =>
      Effect.andThen(
        Effect.logWarning(`The node of ${record.name} failed: ${error.message}`),
        unavailable(`The node of ${record.name} does not answer`)
      )
    ) as never

  const compared = Effect.gen(function* () {
    // First what is recorded, then the node: in between only the node can get ahead.
    const tip = yield* Effect.orDie(record.tip)
    const node = yield* nodes.of(chain)
    const head = yield* node.source.head
    if (tip !== undefined && head.height < tip.height) {
      return yield* unavailable(`The node of ${record.name} is behind: at block ${head.height}, not ${tip.height}`)
    }
    return { head, node, tip }
  }).pipe(
    orUnavailable,
    Effect.timeoutOrElse({
      duration: patience,
      orElse: () => Effect.fail(unavailable(`The node of ${record.name} does not answer`))
    })
  )

  /** The record's tip once it has reached a height, or as it is when the wait is over. */
  const tipAt = Effect.fnUntraced(function* (height: number) {
    for (let waited = 0; ; waited += lookMillis) {
      const tip = yield* Effect.orDie(record.tip)
      if (tip === undefined || tip.height >= height || waited >= waitMillis) return tip
      if (tip.height < height - lagOf(chain.blockSeconds)) return tip
      yield* Effect.sleep(Duration.millis(lookMillis))
    }
  })

  const recorded = Effect.gen(function* () {
    const { head, node } = yield* compared
    const tip = yield* tipAt(head.height)
    if (tip === undefined || head.height > tip.height + lagOf(chain.blockSeconds)) {
      return yield* unavailable(
        `${record.name} is being read: at block ${tip?.height ?? "(none)"} of ${head.height}; try again later`
      )
    }
    const hash = head.height === tip.height ? head.hash : yield* node.source.hashAt(tip.height)
    if (!same(hash, tip.hash)) {
      return yield* unavailable(`${record.name} is being reorganised at block ${tip.height}; try again`)
    }
    return { tip, node }
  }).pipe(orUnavailable)

  return { node: Effect.map(compared, ({ node }) => node), recorded, orUnavailable } satisfies Freshness
})
