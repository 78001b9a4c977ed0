/**
 * Looks for transactions that subscriptions are for and that may have been mined before: who subscribes right after a
 * broadcast may come behind the block. A node's word is not enough: the block that it names is read, and has to have the
 * transaction. Where no node shows that block any more, it has to be one that was committed.
 */
import type { Block, BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import type { Broadcasting } from "../families/Broadcasting.ts"
import type { NodeError } from "../families/node/NodeError.ts"
import type { Source } from "../families/Source.ts"
import * as ChainRow from "../store/database/ChainRow.ts"
import { Database, type DatabaseError } from "../store/database/Database.ts"
import * as PastTransactions from "../store/subscriptions/PastTransactions.ts"
import * as LooksInTurn from "./internal/LooksInTurn.ts"
import { type Pace, retryForever } from "./RetryForever.ts"

export interface PastTransactionSync {
  /** Looks for every transaction that has not been looked for since the last block. Asks no node where there is none. */
  readonly step: Effect.Effect<void, DatabaseError | NodeError>
  /** Steps until it is interrupted; failures are logged and tried again. */
  readonly run: Effect.Effect<never>
}

/**
 * Seconds for which nodes show a transaction in no block, at least, until nobody looks for it any more: behind one address may be
 * nodes that are some blocks behind one another.
 */
const secondsUntilAbsent = 24
const absencesUntilLost = ({ blockSeconds }: Chain) => Math.max(2, Math.ceil(secondsUntilAbsent / blockSeconds))

/**
 * Looks, and seconds since the subscription, until nobody looks any more for a transaction of which a node named a block that is
 * not the one there, or does not have it, or that no node shows, or which another node may have that could not be asked: one that
 * is on a branch of its own, or that is down, may be so for a while.
 */
const doubtsUntilLost = 10
const secondsUntilLost = 600

/** Blocks by which a node may be ahead on a branch that the chain does not come to. */
const longestBranch = 100

/** A transaction that some node may know is asked for again after this part of the blocks since the first look. */
const partUntilAskedAgain = 1 / 32

/** Ids of transactions in the blocks that are remembered: many may subscribe to those of the same blocks, in any order. */
const rememberedIds = 100_000

type Place = Pick<BlockHeader, "hash" | "height">

/** A transaction's blocks, as nodes show them, and what there is to be noted where none of these is one of the chain. */
interface Seen {
  readonly blocks: ReadonlyArray<BlockHeader>
  readonly missed: PastTransactions.Missed
}

type Read = BlockHeader & Pick<Block, "transactions">

/** Whether a block that was read is the one that a node named, and has the transaction. */
const isThere = ({ hash, transactions }: Read, named: Place, transactionId: Uint8Array) =>
  Bytes.equal(hash, named.hash) && transactions.some((id) => Bytes.equal(id, transactionId))

/** The blocks that were read last, by their heights: where nodes name several at one height, that is not read for each of them. */
const makeMemory = () => {
  const blocks = new Map<number, Read>()
  let ids = 0
  return {
    get: (height: number) => blocks.get(height),
    add: ({ hash, height, parent, time, transactions }: Block) => {
      blocks.set(height, { hash, height, parent, time, transactions })
      ids += transactions.length
      for (const [key, first] of blocks) {
        if (ids <= rememberedIds || blocks.size === 1) break
        blocks.delete(key)
        ids -= first.transactions.length
      }
    },
    clear: () => {
      blocks.clear()
      ids = 0
    }
  }
}

export const make = Effect.fn("PastTransactionSync.make")(function* (
  source: Pick<Source, "blockAt" | "chain">,
  broadcasting: Pick<Broadcasting, "find">,
  options: Pace
) {
  const { chain } = source
  const database = yield* Database
  const reading = yield* Semaphore.make(1)
  const memory = makeMemory()

  /** The block that the node has at this height; undefined where it shows none. */
  const blockAt = (height: number) =>
    reading.withPermit(
      Effect.gen(function* () {
        const known = memory.get(height)
        if (known !== undefined) return known
        const block = yield* Effect.catchTag(
          source.blockAt(height),
          ["BlockMissing", "NodeInconsistent", "NodeRejected", "ProofFailed"],
          ({ message }) => Effect.as(Effect.logWarning(`Block ${height} cannot be read again: ${message}`), undefined)
        )
        if (block !== undefined) memory.add(block)
        return block as Read | undefined
      })
    )

  /** Why a node could not say where a transaction is, in this step. */
  let refusal: string | undefined

  const whereIs = ({ from_height, transactionId }: PastTransactions.Look, height: number) =>
    Effect.catchTag(
      broadcasting.find(transactionId, from_height ?? height),
      ["NodeInconsistent", "NodeRejected"],
      ({ message }) =>
        Effect.sync(() => {
          refusal ??= message
        })
    )

  /** What the nodes show of a transaction. */
  const see = Effect.fnUntraced(function* (
    chainId: number,
    look: PastTransactions.Look,
    begun: number
  ): Effect.fn.Return<Seen, DatabaseError | NodeError, Database> {
    const { absences, doubts, from_height, transactionId } = look
    const counts = { absences, doubts }
    const found = yield* whereIs(look, begun)
    // Blocks may have come since the step began.
    const height = Math.max(begun, (yield* ChainRow.find(chain))?.height ?? begun)
    const age = height - (from_height ?? height - absences - doubts)
    const pause = Math.min(longestBranch, Math.floor(age * partUntilAskedAgain))
    if (found === undefined) return { blocks: [], missed: { look, height: height + pause, counts } }
    const places = found.state === "mined" ? [found, ...(found.others ?? [])] : []
    const blocks: Array<BlockHeader> = []
    const hidden: Array<Place> = []
    let isInDoubt = found.state !== "mined" && found.isPartial === true
    for (const place of places) {
      if (place.height > height) continue
      const block = yield* blockAt(place.height)
      if (block === undefined) hidden.push(place)
      else if (isThere(block, place, transactionId)) blocks.push(block)
      else isInDoubt = true
    }
    // A block that is yet to come says by itself what it has; one that is far ahead is on no branch of its own.
    const ahead = places.filter((place) => place.height > height).map((place) => place.height)
    if (ahead.length > 0) {
      return { blocks, missed: { look, height: Math.max(height, Math.min(...ahead) - longestBranch), counts } }
    }
    if (blocks.length > 0) return { blocks, missed: { look, height, counts } }
    const headers = yield* Effect.forEach(hidden, (place) => PastTransactions.headerOf(chainId, place))
    const committed = headers.filter((header) => header !== undefined)
    // A node that has too much to do may say where a transaction is, and refuse to show the block.
    isInDoubt ||= hidden.length > committed.length
    // Nodes that were in doubt through an outage say nothing of how often they have none behind it.
    const next = isInDoubt ? { absences, doubts: doubts + 1 } : { absences: absences + 1, doubts }
    const isLost = isInDoubt
      ? next.doubts >= doubtsUntilLost && age * chain.blockSeconds >= secondsUntilLost
      : next.absences >= absencesUntilLost(chain)
    if (!isLost) return { blocks, missed: { look, height: isInDoubt ? height + pause : height, counts: next } }
    return { blocks: committed, missed: { look, height, counts: committed.length > 0 ? counts : undefined } }
  })

  /** Tells what is seen of blocks of the chain, those of one block at once, and takes note of the others. */
  const write = Effect.fnUntraced(function* (seen: ReadonlyArray<Seen>) {
    const open = new Set(seen)
    const found = seen.flatMap((one) => one.blocks.map((block) => ({ block, one })))
    for (const some of Map.groupBy(found, ({ block }) => Bytes.key(block.hash)).values()) {
      const still = some.map(({ one }) => one).filter((one) => open.has(one))
      const looks = still.map(({ missed }) => missed.look)
      if (looks.length === 0 || !(yield* PastTransactions.tell(chain, some[0]!.block, looks))) continue
      for (const one of still) open.delete(one)
    }
    yield* PastTransactions.miss([...open].map(({ missed }) => missed))
    return false
  })

  const lookAt = Effect.fnUntraced(function* (
    chainId: number,
    looks: ReadonlyArray<PastTransactions.Look>,
    height: number
  ) {
    const exits = yield* LooksInTurn.each(looks, (look) => see(chainId, look, height))
    const seen = exits.flatMap((exit) => (exit !== undefined && Exit.isSuccess(exit) ? [exit.value] : []))
    const written = yield* Effect.exit(write(seen))
    return exits.map((exit) => exit && (Exit.isSuccess(exit) ? written : Exit.failCause(exit.cause)))
  })

  const step: PastTransactionSync["step"] = Effect.gen(function* () {
    const row = yield* ChainRow.find(chain)
    if (row === undefined || row.height === null) return
    const { height, id } = row
    const failed = yield* LooksInTurn.run(
      PastTransactions.queue(id, height),
      (some: ReadonlyArray<PastTransactions.Look>) => lookAt(id, some, height)
    )
    memory.clear()
    if (refusal !== undefined) yield* Effect.logWarning(`Where transactions are is not known yet: ${refusal}`)
    refusal = undefined
    if (failed !== undefined) return yield* Effect.failCause(failed)
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("PastTransactionSync.step"))

  const run = retryForever(chain, "Looking for mined transactions", options, step)
  return { step, run } satisfies PastTransactionSync
})
