/** Looks at a chain as `serve` does: whether the block that is read next can be had from the chain's nodes. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Capability from "@headwater/indexer/families/Capability"
import * as Families from "@headwater/indexer/families/families"
import type { NodeError } from "@headwater/indexer/families/node/NodeError"
import { ok } from "@headwater/indexer/families/node/NodeFinding"
import type { Head, Source } from "@headwater/indexer/families/Source"
import type * as StoredBlocks from "@headwater/indexer/store/chain/StoredBlocks"
import * as Availability from "@headwater/indexer/sync/Availability"
import * as Effect from "effect/Effect"
import { commandName } from "../CommandName.ts"
import type * as Settings from "../settings/Settings.ts"
import type { Finding, Unaddressed } from "./Finding.ts"
import * as NodeCheck from "./NodeCheck.ts"

/** What to do where the nodes lack the block that is read next; `first`: the first later one that they have. */
const nextAdvice = (chain: Chain.Chain, position: StoredBlocks.Position | undefined, first: number | undefined) => {
  const other = "use a node that has this block, or let this one fetch it"
  if (first === undefined) return other
  return position === undefined
    ? `${other}; or set start = ${first}, the first block that the nodes have`
    : `${other}; if no node has blocks ${position.height + 1} to ${first - 1} any more: ${commandName} skip ` +
        `${Chain.nameOf(chain)} --to ${first - 1}, with the daemon stopped`
}

/** Reads the block that `serve` reads next. */
const next = Effect.fnUntraced(function* (
  source: Source,
  height: number
): Effect.fn.Return<ReadonlyArray<Unaddressed>, NodeError> {
  const block = yield* source.blockAt(height)
  const { missing } = block
  const read: Unaddressed =
    missing === undefined
      ? ok(`block ${height}, which is read next, can be read`)
      : {
          level: "warning",
          code: "block_untraced",
          message: `block ${height}, which is read next, is read without internal transactions: ${missing[0]?.reason}`,
          advice:
            "add a node that keeps the state of that block; what the blocks lack is filled in as soon as there is one"
        }
  return [read, ...NodeCheck.ofNotUnderstood(block)]
})

/** Whether the nodes still have the store's blocks, as far as the store cannot go back. */
const branch = Effect.fnUntraced(function* (
  source: Source,
  chain: Chain.Chain,
  head: Head,
  { cursor, first, height, lowest }: StoredBlocks.Position
): Effect.fn.Return<ReadonlyArray<Unaddressed>, NodeError> {
  const mayHave = (block: StoredBlocks.BlockId | undefined) => NodeCheck.mayHave(source, head, block)
  const isBehind = head.height < height
  if (!isBehind && (yield* mayHave(cursor))) return []
  const mayBeUndone = yield* mayHave(lowest)
  if ((isBehind || !mayBeUndone) && !(yield* mayHave(first))) {
    return [
      {
        level: "problem",
        code: "nodes_on_another_branch",
        message: `the nodes' chain differs from the store's at block ${first!.height} already, the first one in the store`,
        advice:
          "see that the URLs name the right nodes; if the network was reset, begin with a new store, or without " +
          `${Chain.nameOf(chain)} in this one`
      }
    ]
  }
  if (!mayBeUndone) {
    return [
      {
        level: "problem",
        code: "nodes_on_another_branch",
        message: `the nodes' chain differs from the store's at block ${lowest!.height} already, below which nothing is undone`,
        advice: `see that the nodes are right, then ${commandName} rewind ${Chain.nameOf(chain)} <height>, to a block that both have`
      }
    ]
  }
  return isBehind
    ? [
        {
          level: "problem",
          code: "node_behind_store",
          message: `the node is at block ${head.height}, and the store at block ${height}`,
          advice: "wait until the node has synchronised; nothing is recorded before it passes the store"
        }
      ]
    : [ok(`block ${height} has left the chain, and will be undone`)]
})

const lookAt = Effect.fnUntraced(function* (
  source: Source,
  {
    chain,
    head,
    position,
    start
  }: {
    readonly chain: Chain.Chain
    readonly head: Head
    readonly position: StoredBlocks.Position | undefined
    readonly start: Settings.ChainSettings["start"]
  }
): Effect.fn.Return<ReadonlyArray<Unaddressed>, NodeError> {
  const left = position === undefined ? [] : yield* branch(source, chain, head, position)
  if (left.length > 0) return left
  const height = position === undefined ? (start === "latest" ? head.height : start) : position.height + 1
  if (height <= head.height) return yield* next(source, height)
  return position === undefined
    ? [
        {
          level: "warning",
          code: "start_ahead",
          message: `the chain is at block ${head.height}: nothing is recorded before block ${height}, at which the settings start`,
          advice: "set an earlier start, unless this is meant"
        }
      ]
    : [ok(`block ${position.height} is recorded, and is the newest`)]
})

/** Everything about a chain that its nodes say together. That a node does not answer is told where that node is. */
export const check = Effect.fn("ChainCheck.check")(function* (
  chain: Chain.Chain,
  settings: Settings.ChainSettings,
  position: NodeCheck.Position
) {
  const found = yield* Effect.gen(function* () {
    if (position === "unknown") return []
    const { source } = yield* Families.connect(chain, { ...settings, announcements: false })
    const head = yield* source.head
    if (Capability.lacking(yield* source.capabilities, Capability.network) !== undefined) return []
    return yield* Effect.catch(
      lookAt(source, { chain, head, position, start: settings.start }),
      Effect.fnUntraced(function* (error) {
        const height = NodeCheck.nextOf(position, settings.start) ?? head.height
        const first = yield* Effect.orElseSucceed(
          Effect.timeout(Availability.firstAbove(source, height, head.height), NodeCheck.searchTimeout),
          () => undefined
        )
        const lack: Unaddressed = {
          level: "problem",
          code: "next_block_unavailable",
          message:
            `the next block to be read cannot be had: ${error.message}` +
            (first === undefined ? "" : `; the nodes have blocks from ${first} on`),
          advice: nextAdvice(chain, position, first)
        }
        return [lack]
      })
    )
  }).pipe(
    Effect.scoped,
    Effect.timeout(NodeCheck.timeout),
    Effect.orElseSucceed((): ReadonlyArray<Unaddressed> => [])
  )
  const announcements = yield* Families.announcementReport(chain, settings).pipe(
    Effect.scoped,
    Effect.timeout(NodeCheck.timeout),
    Effect.orElseSucceed(() => [])
  )
  return [...found, ...announcements].map((about): Finding => ({ subject: Chain.nameOf(chain), ...about }))
})
