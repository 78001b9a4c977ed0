/**
 * Looks for transactions that subscriptions are for and that may have been mined before: who subscribes right after a
 * broadcast may come behind the block. A node's word is not enough: the block that it names is read, and has to have the
 * transaction. Where no node shows that block any more, it has to be one that was committed.
 */
import type { Block, BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import type { Broadcasting } from "../families/Broadcasting.ts"
import type { NodeError } from "../families/node/NodeError.ts"
import type { Source } from "../families/Source.ts"
import * as Broadcasts from "../store/broadcasts/Broadcasts.ts"
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
 * Looks at which the node named a block that is not the one there, or another node could not be asked: one that is on a branch
 * of its own, or that is down, may be so for a while.
 */
const otherBlocksUntilLost = 10

/** Blocks by which a node may be ahead on a branch that the chain does not come to. */
const longestBranch = 100

/** A transaction of which no node says where it is, is asked for again after this part of the blocks since the first look. */
const partUntilAskedAgain = 1 / 32

/** Ids of transactions in the blocks that are remembered: many may subscribe to those of the same blocks, in any order. */
const rememberedIds = 100_000

type Place = Pick<BlockHeader, "hash" | "height">
type Read = BlockHeader & Pick<Block, "transactions">

/** The blocks that were read last. */
const makeMemory = () => {
  const blocks = new Map<string, Read>()
  let ids = 0
  return {
    get: (hash: Uint8Array) => blocks.get(Bytes.key(hash)),
    add: ({ hash, height, parent, time, transactions }: Block) => {
      blocks.set(Bytes.key(hash), { hash, height, parent, time, transactions })
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
  const blockOf = ({ hash, height }: Place) =>
    reading.withPermit(
      Effect.gen(function* () {
        const known = memory.get(hash)
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

  const look = Effect.fnUntraced(function* (chainId: number, one: PastTransactions.Look, begun: number) {
    const { absences, transactionId } = one
    const found = yield* whereIs(one, begun)
    // Blocks may have come since the step began.
    const height = Math.max(begun, (yield* ChainRow.find(chain))?.height ?? begun)
    if (found === undefined) {
      const age = height - (one.from_height ?? height)
      const pause = Math.min(longestBranch, Math.floor(age * partUntilAskedAgain))
      return yield* PastTransactions.miss(one, height + pause, absences)
    }
    const places = found.state === "mined" ? [found, ...(found.others ?? [])] : []
    // A block that is yet to come says by itself what it has; one that is far ahead is on no branch of its own.
    const ahead = places.filter((place) => place.height > height).map((place) => place.height)
    const hidden: Array<Place> = []
    let isOfBranch = false
    let isOfOther = false
    for (const place of places) {
      if (place.height > height) continue
      const block = yield* blockOf(place)
      if (block === undefined) hidden.push(place)
      else if (!Bytes.equal(block.hash, place.hash)) isOfOther = true
      else if (block.transactions.some((id) => Bytes.equal(id, transactionId))) {
        if (yield* PastTransactions.tell(chain, block, one)) return
        isOfBranch = true
      }
    }
    if (ahead.length > 0) {
      return yield* PastTransactions.miss(one, Math.max(height, Math.min(...ahead) - longestBranch), absences)
    }
    if (isOfBranch) return yield* PastTransactions.miss(one, height, absences)
    const mayChange = isOfOther || (found.state !== "mined" && found.isPartial === true)
    const most = mayChange ? otherBlocksUntilLost : Broadcasts.absencesUntilLost(chain)
    const isLast = absences + 1 >= most
    for (const place of isLast ? hidden : []) {
      const header = yield* PastTransactions.headerOf(chainId, place)
      if (header !== undefined && (yield* PastTransactions.tell(chain, header, one))) return
    }
    yield* PastTransactions.miss(one, height, isLast ? undefined : absences + 1)
  })

  const step: PastTransactionSync["step"] = Effect.gen(function* () {
    const row = yield* ChainRow.find(chain)
    if (row === undefined || row.height === null) return
    const { height, id } = row
    const failed = yield* LooksInTurn.run(
      (limit, behind) => PastTransactions.toLookFor(id, height, limit, behind),
      (one: PastTransactions.Look) => Effect.as(look(id, one, height), false)
    )
    memory.clear()
    if (refusal !== undefined) yield* Effect.logWarning(`Where transactions are is not known yet: ${refusal}`)
    refusal = undefined
    if (failed !== undefined) return yield* Effect.failCause(failed)
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("PastTransactionSync.step"))

  const run = retryForever(chain, "Looking for mined transactions", options, step)
  return { step, run } satisfies PastTransactionSync
})
