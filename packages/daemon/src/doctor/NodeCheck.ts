/** Checks one node of a chain: whether the node answers, its version, its newest block, its capabilities. */
import type { Block, UnprovenPart } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Capability from "@headwater/indexer/families/Capability"
import * as Families from "@headwater/indexer/families/families"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import { clockTolerance, ok } from "@headwater/indexer/families/node/NodeFinding"
import type { Head, Source } from "@headwater/indexer/families/Source"
import type * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as Availability from "@headwater/indexer/sync/Availability"
import * as UnixTime from "@headwater/indexer/UnixTime"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Settings from "../settings/Settings.ts"
import type { Finding, Unaddressed } from "./Finding.ts"
import type { FindingCode } from "./FindingExplanations.ts"

/** How long a node may take for all of the requests, and for those that find the first block it has. */
export const timeout = "30 seconds"
export const searchTimeout = "15 seconds"

const codeOfLack: Partial<Record<Capability.Name, FindingCode>> = {
  "internal transactions": "no_internal_transactions",
  finality: "no_finality",
  history: "incomplete_history",
  prevouts: "prevouts_hidden",
  "coin search": "no_coin_search",
  "receipts of a block": "no_block_receipts"
}

/**
 * What a capability means: without the network or wanted traces nothing is right; the rest makes do. What nothing has shown
 * is neither well nor wrong.
 */
const ofCapability = (
  { advice, available, detail, name, unobtainable, unsure }: Capability.Capability,
  settings: Settings.ChainSettings
): Unaddressed => {
  if (available && unsure !== true) return ok(`${name}: ${detail}`)
  if (name === Capability.network && !available)
    return { level: "problem", code: "wrong_network", message: detail, advice: "correct the URL of the node" }
  const code = name === Capability.network ? "network_unproven" : (codeOfLack[name] ?? "capability_lacking")
  const what = advice === undefined ? {} : { advice }
  if (name === Capability.internalTransactions) {
    if (!settings.internalTransactions) return ok(`${name}: not wanted`)
    if (unsure !== true) return { level: "problem", code, message: detail, ...what }
  }
  if (unsure === true) return { level: "unknown", code, message: `${name}: ${detail}`, ...what }
  if (unobtainable === true) return ok(detail)
  return { level: "warning", code, message: `${name}: ${detail}`, ...what }
}

/** What the node's word alone vouches for: to be known where no chain can prove it, and to be seen to where another could. */
const ofUnproven = ({ cause, part, reason }: UnprovenPart, height: number): Unaddressed => {
  const message = `block ${height} is read with ${part} without proof: ${reason}`
  return cause === "uncommitted"
    ? ok(message)
    : {
        level: "unknown",
        code: "part_unproven",
        message,
        advice:
          "see whether a newer version of Headwater or of the node's software knows the form; else compare two nodes"
      }
}

const ofBlock = ({ height, missing }: Block, age: number, settings: Settings.ChainSettings): Unaddressed => {
  if (missing !== undefined) {
    const message = `block ${height} is read without internal transactions: ${missing[0]?.reason}`
    return {
      level: "problem",
      code: "block_untraced",
      message,
      advice: "use a node that keeps the state of that block; or set internalTransactions = false, and do without"
    }
  }
  const message = `block ${height} is read, ${age < 0 ? `${-age} s ahead of this machine's clock` : `${age} s old`}`
  if (age < -clockTolerance) {
    return { level: "warning", code: "block_ahead_of_clock", message, advice: "set this machine's clock by NTP" }
  }
  return age > settings.silentSeconds
    ? {
        level: "warning",
        code: "block_old",
        message,
        advice: "see whether the node has peers and synchronises, and whether clocks are right"
      }
    : ok(message)
}

/** What of a block would be recorded in part. */
export const ofNotUnderstood = ({ height, notUnderstood = [] }: Block): ReadonlyArray<Unaddressed> => {
  const [first] = notUnderstood
  if (first === undefined) return []
  const count = notUnderstood.length === 1 ? "1 transaction is" : `${notUnderstood.length} transactions are`
  return [
    {
      level: "warning",
      code: "not_understood",
      message: `in block ${height}, ${count} not understood in full: ${first.reason}`,
      advice: "upgrade Headwater; or, if this is the newest one, compare the block with another node's"
    }
  ]
}

/** Reads the newest block whole, as following does. */
const newest = Effect.fnUntraced(function* (
  source: Source,
  settings: Settings.ChainSettings
): Effect.fn.Return<ReadonlyArray<Unaddressed>, NodeError> {
  const { height } = yield* source.head
  const block = yield* source.blockAt(height)
  const age = (yield* UnixTime.seconds) - block.time
  return [
    ofBlock(block, age, settings),
    ...ofNotUnderstood(block),
    ...(block.unproven ?? []).map((part) => ofUnproven(part, height))
  ]
})

/** Where the store stands in a chain; undefined where it has no block, unknown where it does not open. */
export type Position = StoredBlocks.Position | "unknown" | undefined

/** The height of the block that `serve` reads next; undefined where that is the newest one, or nobody knows. */
export const nextOf = (position: Position, start: Settings.ChainSettings["start"]): number | undefined => {
  if (position === "unknown") return undefined
  if (position !== undefined) return position.height + 1
  return start === "latest" ? undefined : start
}

/** Whether the node has the block that is read next, or else from where on the node has blocks. */
const reach = Effect.fnUntraced(function* (source: Source, next: number | undefined) {
  const { height } = yield* source.head
  if (next === undefined || next > height) return []
  const lack = yield* Availability.lackOf(source, next)
  if (lack === undefined) return [ok(`has block ${next}, which is read next`)]
  const first = yield* Effect.orElseSucceed(
    Effect.timeout(Availability.firstAbove(source, next, height), searchTimeout),
    () => undefined
  )
  const has = first === undefined ? "" : `; it has blocks from ${first} on`
  return [
    {
      level: "warning",
      code: "node_lacks_next_block",
      message: `the node lacks block ${next}, which is read next (${lack})${has}`,
      advice: "let the node fetch it, or put a node first that has it"
    } satisfies Unaddressed
  ]
})

/** Whether a source's chain has a block of the store. A node that lacks the height, or is not there yet, says nothing against it. */
export const mayHave = (source: Source, head: Head, block: StoredBlocks.BlockId | undefined) =>
  block === undefined || block.height > head.height
    ? Effect.succeed(true)
    : source.hashAt(block.height).pipe(
        Effect.map((theirs) => Bytes.equal(theirs, block.hash)),
        Effect.catchTag("BlockMissing", () => Effect.succeed(true))
      )

/** Whether one of several nodes is on a branch that the store cannot take: the chain stops while that node alone answers. */
const branch = Effect.fnUntraced(function* (source: Source, position: Position) {
  if (position === "unknown" || position?.lowest === undefined) return []
  const { lowest } = position
  if (yield* mayHave(source, yield* source.head, lowest)) return []
  return [
    {
      level: "problem",
      code: "nodes_on_another_branch",
      message: `the node's chain differs from the store's at block ${lowest.height} already, below which nothing is undone`,
      advice:
        "take the node out of `nodes` until its chain is that of the others: where it alone answers, the chain stops"
    } satisfies Unaddressed
  ]
})

const codeOf: Record<NodeError["_tag"], FindingCode> = {
  NodeUnreachable: "node_unreachable",
  NodeRejected: "node_rejected",
  ProofFailed: "proof_failed",
  NodeInconsistent: "node_inconsistent",
  BlockMissing: "node_block_missing"
}

const adviceOf: Record<NodeError["_tag"] | "TimeoutError", string> = {
  NodeUnreachable: "see whether the node runs, and whether the URL names its RPC port, user and password",
  NodeRejected: "see whether the URL names the node's RPC, and whether the node allows these calls to its user",
  ProofFailed:
    "do not use this node: compare the block with another node's, and see whether its software or disk is broken",
  NodeInconsistent: "see whether the URL names a node of this chain, at its RPC port",
  BlockMissing: "wait until the node has synchronised",
  TimeoutError: "see whether the node runs and what it is busy with"
}

/** What a failure of a node means, and what to do. */
const problemOf = (chain: Chain.Chain, error: NodeError | Cause.TimeoutError): Unaddressed => {
  if (error._tag === "TimeoutError") {
    return {
      level: "problem",
      code: "node_slow",
      message: `no answer within ${timeout}`,
      advice: adviceOf.TimeoutError
    }
  }
  const method = "method" in error ? error.method : ""
  return {
    level: "problem",
    code: codeOf[error._tag],
    // A path says more than the name of a call.
    message: method.startsWith("/") ? `${method}: ${error.message}` : error.message,
    advice: Families.of(chain).adviceByMethod?.[method] ?? adviceOf[error._tag]
  }
}

/** What the node can do, and its newest block, as following sees them. */
const follow = Effect.fnUntraced(function* (
  chain: Chain.Chain,
  settings: Settings.ChainSettings,
  { isOneOfSeveral, position }: { readonly isOneOfSeveral: boolean; readonly position: Position }
) {
  const { source } = yield* Families.connect(chain, settings)
  const capabilities = yield* source.capabilities
  // The blocks of a node of another network are of no interest.
  const wrong = Capability.lacking(capabilities, Capability.network) !== undefined
  const block = wrong
    ? []
    : [
        ...(yield* Effect.catch(newest(source, settings), (error) => Effect.succeed([problemOf(chain, error)]))),
        ...(yield* Effect.orElseSucceed(reach(source, nextOf(position, settings.start)), () => [])),
        ...(isOneOfSeveral ? yield* Effect.orElseSucceed(branch(source, position), () => []) : [])
      ]
  return [...capabilities.map((capability) => ofCapability(capability, settings)), ...block]
})

/** Everything about one of the chain's nodes. */
export const check = Effect.fn("NodeCheck.check")(function* (
  chain: Chain.Chain,
  chainSettings: Settings.ChainSettings,
  node: Settings.ChainSettings["nodes"][number],
  position: Position
) {
  const settings = { ...chainSettings, nodes: [node] as const }
  const subject = `${Chain.nameOf(chain)} ${new URL(Redacted.value(node)).host}`
  const found = yield* Effect.all(
    [
      // That a node does not answer is reported once: by following, below.
      Families.selfReport(chain, settings).pipe(
        Effect.scoped,
        Effect.timeout(timeout),
        Effect.orElseSucceed(() => [])
      ),
      follow(chain, settings, { isOneOfSeveral: chainSettings.nodes.length > 1, position }).pipe(
        Effect.scoped,
        Effect.timeout(timeout),
        Effect.catch((error) => Effect.succeed([problemOf(chain, error)]))
      )
    ],
    { concurrency: 2 }
  )
  return found.flat().map((about): Finding => ({ subject, ...about }))
})
