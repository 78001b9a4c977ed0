/**
 * Whether a chain's record and its node are up to date: an answer that looks current has to be current. Where they are not, the
 * client is told to come back.
 */

import * as Bytes from "@headwater/core/Bytes"
import type { ConnectedNode, Family, FamilyFields } from "@headwater/indexer/families/Family"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import type { Head } from "@headwater/indexer/families/Source"
import type { ChainReader, Tip } from "@headwater/indexer/store/chain/ChainReader"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { NodeUnavailable } from "../contract/Errors.ts"

export interface Freshness<Node extends ConnectedNode = ConnectedNode> {
  /** The node, if it is connected and not behind what is recorded. */
  readonly node: Effect.Effect<Node, NodeUnavailable>
  /** As `node`, with its newest block. */
  readonly nodeAtHead: Effect.Effect<{ readonly node: Node; readonly head: Head }, NodeUnavailable>
  /**
   * The last recorded block, if it is on the node's chain and next to its head. With `newest` it waits a moment for a
   * block that the node has and the record is about to have.
   */
  readonly recorded: (newest: boolean) => Effect.Effect<{ readonly tip: Tip; readonly node: Node }, NodeUnavailable>
  /** Answers 503 for a node that fails; only messages of our own are repeated. */
  readonly orUnavailable: <A, E, R>(
    self: Effect.Effect<A, E | NodeError, R>
  ) => Effect.Effect<A, Exclude<E, NodeError> | NodeUnavailable, R>
}

/** How long a node may take to say where it is. */
const timeout = "10 seconds"

/** How long a request waits for the record and the node to agree, and between two looks at either. */
const waitMillis = 1_000
const lookMillis = 20
const headMillis = 250

/** How far the record may be behind the node even so, in time and as blocks of that time. */
const lagMillis = 10_000
const lagOf = (blockSeconds: number) => Math.max(2, Math.ceil(lagMillis / 1_000 / blockSeconds))

/** What a node has done, in words of our own. Only a node that was not heard of does not answer. */
const failedBy: Record<NodeError["_tag"], string> = {
  NodeUnreachable: "does not answer",
  NodeRejected: "refused the request",
  NodeInconsistent: "gave an answer that cannot be used",
  ProofFailed: "gave an answer that cannot be used",
  BlockMissing: "lacks a block that is needed"
}

const isNodeError = (error: unknown): error is NodeError =>
  Object.hasOwn(failedBy, String((error as { readonly _tag?: unknown } | undefined)?._tag))

/** Of a chain of this family. */
export const make = Effect.fnUntraced(function* <Node extends ConnectedNode, Fields extends FamilyFields>(
  record: ChainReader,
  family: Family<Node, Fields>
) {
  const nodes = yield* ConnectedNodes
  const statuses = yield* ChainStatus
  const { chain } = record
  const retryAfter = Math.max(1, Math.ceil(chain.blockSeconds))
  const unavailable = (message: string) => new NodeUnavailable({ message, retryAfter })

  const orUnavailable: Freshness["orUnavailable"] = (self) =>
    Effect.catchIf(self, isNodeError, (error) =>
      Effect.andThen(
        Effect.logWarning(`The node of ${record.name} failed: ${error.message}`),
        unavailable(`The node of ${record.name} ${failedBy[error._tag]}`)
      )
    ) as never

  const compared = Effect.gen(function* () {
    // First the record, then the node: in between only the node can get ahead.
    const tip = yield* Effect.orDie(record.tip)
    const node = yield* nodes.ofFamily(chain, family)
    for (let waited = 0; ; waited += headMillis) {
      const head = yield* node.source.head
      if (tip === undefined || head.height >= tip.height) return { head, node, tip }
      // Another node may have given the block that is recorded, a moment ago.
      if (waited >= waitMillis) {
        return yield* unavailable(`The node of ${record.name} is behind: at block ${head.height}, not ${tip.height}`)
      }
      yield* Effect.sleep(Duration.millis(headMillis))
    }
  }).pipe(
    orUnavailable,
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => Effect.fail(unavailable(`The node of ${record.name} does not answer`))
    })
  )

  /** Whether the record is too far behind a height: in blocks, and in the time since it was last complete. */
  const isBehind = (height: number, tip: Tip) =>
    Effect.map(
      Clock.currentTimeMillis,
      (now) => height > tip.height + lagOf(chain.blockSeconds) && now - (statuses.get(chain)?.atHeadAt ?? 0) > lagMillis
    )

  const recorded: Freshness<Node>["recorded"] = Effect.fnUntraced(function* (newest) {
    const { head, node } = yield* compared
    for (let waited = 0; ; waited += lookMillis) {
      const tip = yield* Effect.orDie(record.tip)
      if (tip === undefined || (yield* isBehind(head.height, tip))) {
        return yield* unavailable(
          `${record.name} is being read: at block ${tip?.height ?? "(none)"} of ${head.height}; try again later`
        )
      }
      if (!newest || tip.height >= head.height || waited >= waitMillis) {
        const hash = head.height === tip.height ? head.hash : yield* node.source.hashAt(tip.height)
        if (Bytes.equal(hash, tip.hash)) return { tip, node }
        if (waited >= waitMillis) {
          return yield* unavailable(`${record.name} is being reorganised at block ${tip.height}; try again`)
        }
      }
      yield* Effect.sleep(Duration.millis(lookMillis))
    }
  }, orUnavailable)

  return {
    node: Effect.map(compared, ({ node }) => node),
    nodeAtHead: compared,
    recorded,
    orUnavailable
  } satisfies Freshness<Node>
})
