/**
 * Commits blocks up to the node's head: fetched several at a time, committed in the order of their heights. Blocks that
 * have come since the last commit share the next one.
 */
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { ChainStatus } from "../../families/node/ChainStatus.ts"
import * as Heads from "../../families/node/Heads.ts"
import * as Proof from "../../families/node/Proof.ts"
import type { Head, Source } from "../../families/Source.ts"
import type { ChainStore } from "../../store/chain/ChainStore.ts"
import * as MissingParts from "../../store/chain/MissingParts.ts"
import * as BlockTrace from "../BlockTrace.ts"
import type { SyncMetrics } from "../SyncMetrics.ts"
import * as TokenNames from "../TokenNames.ts"
import * as BlocksInOrder from "./BlocksInOrder.ts"
import * as Finality from "./Finality.ts"

export interface Options {
  /** Blocks fetched at the same time. */
  readonly concurrency: number
}

/** What may share a commit: blocks, and transfers and logs of all of them, so that others who write do not wait for long. */
const maxBlocks = 32
const maxTransfers = 5_000
/** A pause after each commit, far behind: the commit of several blocks costs little more than that of one small block. */
const batchDelay = Effect.sleep("10 millis")

/** The first of these blocks, and those after it that may share its commit. */
const sharingCommit = (blocks: ReadonlyArray<Block>): ReadonlyArray<Block> => {
  let sum = 0
  const end = blocks.findIndex(({ logs = [], spends, transfers }, i) => {
    sum += transfers.length + spends.length + logs.length
    return i > 0 && sum > maxTransfers
  })
  return end === -1 ? blocks : blocks.slice(0, end)
}

const warnOfMissing = (chain: Chain, blocks: ReadonlyArray<Block>) => {
  const missing = blocks.flatMap(({ height, missing = [] }) => missing.map(({ reason }) => ({ height, reason })))
  const [first] = missing
  if (first === undefined) return Effect.void
  const [from, to] = [first.height, missing.at(-1)!.height]
  const gap = { blocks: missing.length, from, to, ranges: [{ from, to }], reason: first.reason }
  return Effect.logWarning(`Committed, but ${MissingParts.describe(chain, gap)}`)
}

/** Says once what a chain's blocks have without proof, and again where another reason makes it so. */
const warnOfUnproven = (before: ReadonlyArray<Proof.Unproven>, after: ReadonlyArray<Proof.Unproven>) =>
  Effect.forEach(
    after.filter(({ part, cause }) => !before.some((known) => known.part === part && known.cause === cause)),
    (unproven) =>
      unproven.cause === "unknown"
        ? Effect.logWarning(`Committed ${Proof.describe(unproven)}`)
        : Effect.logInfo(`Committed ${Proof.describe(unproven)}`),
    { discard: true }
  )

/** Lines for one block. */
const logged = 20

/** A line for each transaction that was not understood in full. */
const warnOfNotUnderstood = Effect.fnUntraced(function* (chain: Chain, { height, notUnderstood = [] }: Block) {
  for (const { reason, transactionId, transfers } of notUnderstood.slice(0, logged)) {
    const transaction =
      transactionId === undefined ? "a transaction" : `transaction ${Hash.encode(chain, transactionId)}`
    yield* Effect.logWarning(
      `Block ${height}, ${transaction} is not understood in full: ${reason}; transfers taken: ${transfers}. ` +
        "A newer version may understand the transaction; headwater status names the command that fills in the rest"
    )
  }
  if (notUnderstood.length > logged) {
    yield* Effect.logWarning(`Block ${height}: ${notUnderstood.length - logged} more transactions are not understood`)
  }
})

/** Gives the functions that commit the block of the head, and every block from the height `first` to the head. */
export const make = Effect.fnUntraced(function* (
  source: Source,
  store: ChainStore,
  metrics: SyncMetrics,
  options: Options
) {
  const statuses = yield* ChainStatus
  const { chain } = source
  const trace = yield* BlockTrace.make(chain)

  const commit = Effect.fnUntraced(function* (fetched: ReadonlyArray<Block>, head: Head) {
    let rest = fetched
    while (rest.length > 0) {
      const blocks = sharingCommit(rest)
      const final = yield* Finality.of(store, head, blocks)
      const committed = yield* trace.committing(
        blocks,
        TokenNames.withTokens(source, store, blocks, (learned) => store.commit(blocks, learned, final))
      )
      const entered = rest.slice(0, committed.blocks)
      const last = entered.at(-1)!
      rest = rest.slice(committed.blocks)
      metrics.committed(committed.blocks)
      yield* warnOfMissing(chain, entered)
      for (const block of entered) {
        if (block.notUnderstood !== undefined) yield* warnOfNotUnderstood(chain, block)
      }
      const now = yield* Clock.currentTimeMillis
      const status = statuses.get(chain)
      const before = status?.unproven ?? []
      const unproven = entered.reduce(Proof.add, before)
      yield* warnOfUnproven(before, unproven)
      const recovered = status?.state === "failing" ? ({ state: "syncing", message: undefined } as const) : {}
      const { height, time: blockTime } = last
      statuses.update(chain, { height, committedAt: now, blockTime, unproven, ...recovered }, now)
    }
  })

  const fetch = (height: number) => trace.fetching(height, source.blockAt(height))

  /** The block of the head by itself, as most blocks come; gives the block. */
  const newest = (head: Head) =>
    Effect.tap(Effect.provideService(fetch(head.height), Heads.NamedHash, head.hash), (block) => commit([block], head))

  const all = (first: number, head: Head) =>
    BlocksInOrder.fetch(source, fetch, { first, last: head.height, concurrency: options.concurrency }).pipe(
      Stream.buffer({ capacity: maxBlocks }),
      Stream.runForEachArray((blocks) =>
        Effect.andThen(commit(blocks, head), head.height - blocks.at(-1)!.height > maxBlocks ? batchDelay : Effect.void)
      )
    )

  return {
    newest,
    from: (first: number, head: Head) => (first === head.height ? Effect.asVoid(newest(head)) : all(first, head))
  }
})
