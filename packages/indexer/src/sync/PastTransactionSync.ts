/**
 * Looks for transactions that subscriptions are for and that may have been mined before: who subscribes right after a
 * broadcast may come behind the block. A node's word is not enough: the block that it names is read, and has to have the
 * transaction. Where no node shows that block any more, it has to be one that was committed.
 */
import type { Block } from "@headwater/core/Block"
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

export const make = Effect.fn("PastTransactionSync.make")(function* (
  source: Pick<Source, "blockAt" | "chain">,
  broadcasting: Pick<Broadcasting, "find">,
  options: Pace
) {
  const { chain } = source
  const database = yield* Database
  const reading = yield* Semaphore.make(1)

  /** The block that was read last: many may subscribe to transactions of one. */
  let last: Block | undefined

  /** The block that the node has at this height; undefined where it shows none. */
  const blockOf = ({ hash, height }: { readonly hash: Uint8Array; readonly height: number }) =>
    reading.withPermit(
      Effect.gen(function* () {
        if (last !== undefined && Bytes.equal(last.hash, hash)) return last
        last = yield* Effect.catchTag(
          source.blockAt(height),
          ["BlockMissing", "NodeInconsistent", "NodeRejected", "ProofFailed"],
          ({ message }) => Effect.as(Effect.logWarning(`Block ${height} cannot be read again: ${message}`), undefined)
        )
        return last
      })
    )

  /** Why a node could not say where a transaction is, in this step. */
  let refusal: string | undefined

  const look = Effect.fnUntraced(function* (chainId: number, one: PastTransactions.Look, height: number) {
    const { absences, transactionId } = one
    const found = yield* Effect.catchTag(
      broadcasting.find(transactionId, one.from_height ?? height),
      ["NodeInconsistent", "NodeRejected"],
      ({ message }) =>
        Effect.sync(() => {
          refusal ??= message
        })
    )
    // It may say so at the next block.
    if (found === undefined) return yield* PastTransactions.miss(one, height, absences)
    // A block that is yet to come says by itself what it has; one that is far ahead is on no branch of its own.
    if (found.state === "mined" && found.height > height) {
      return yield* PastTransactions.miss(one, Math.max(height, found.height - longestBranch), absences)
    }
    const block = found.state === "mined" ? yield* blockOf(found) : undefined
    const isThatBlock = found.state === "mined" && block !== undefined && Bytes.equal(block.hash, found.hash)
    if (isThatBlock && block.transactions.some((id) => Bytes.equal(id, transactionId))) {
      if (yield* PastTransactions.tell(chain, block, one)) return
      return yield* PastTransactions.miss(one, height, absences)
    }
    const mayChange = (block !== undefined && !isThatBlock) || (found.state === "absent" && found.isPartial === true)
    const most = mayChange ? otherBlocksUntilLost : Broadcasts.absencesUntilLost(chain)
    const isLast = absences + 1 >= most
    if (isLast && found.state === "mined" && block === undefined) {
      const header = yield* PastTransactions.headerOf(chainId, found)
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
      (one: PastTransactions.Look) => look(id, one, height)
    )
    last = undefined
    if (refusal !== undefined) yield* Effect.logWarning(`Where transactions are is not known yet: ${refusal}`)
    refusal = undefined
    if (failed !== undefined) return yield* Effect.failCause(failed)
  }).pipe(Effect.provideService(Database, database), Effect.withSpan("PastTransactionSync.step"))

  const run = retryForever(chain, "Looking for mined transactions", options, step)
  return { step, run } satisfies PastTransactionSync
})
