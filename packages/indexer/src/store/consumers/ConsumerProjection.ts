/**
 * What blocks change in the record that consumers read: each block with its events, numbered in the order in which blocks
 * came, and the number of the step back by which a block left the chain. The blocks up to a number that had not left by
 * that number are the chain as it was then, so that a consumer's number says all of what the consumer knows.
 *
 * Steps back are taken by every program that undoes blocks; blocks are written where a program has consumers.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { Commit, Make, ResolvedBlock } from "../chain/Projection.ts"
import { Database } from "../database/Database.ts"
import * as BlockEvents from "./BlockEvents.ts"
import * as ConsumedAddresses from "./ConsumedAddresses.ts"

/** The number of the next block or step back. */
const nextNumber = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("consumed_block")
      .select(({ fn }) => fn.max("number").as("last"))
      .where("chain", "=", chain)
  )
  return (row?.last ?? 0) + 1
})

/** Takes a step back: every block above `fork` has left the chain. */
const stepBack = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { insertMany, query } = yield* Database
  const above = yield* query((db) =>
    db
      .selectFrom("consumed_block")
      .select("number")
      .where("chain", "=", chain)
      .where("left_number", "is", null)
      .where("height", ">", fork)
      .limit(1)
  )
  if (above.length === 0) return
  const number = yield* nextNumber(chain)
  yield* query((db) =>
    db
      .updateTable("consumed_block")
      .set({ left_number: number })
      .where("chain", "=", chain)
      .where("left_number", "is", null)
      .where("height", ">", fork)
  )
  const none = new Uint8Array(0)
  yield* insertMany("consumed_block", [
    { chain, number, left_number: number, height: fork, hash: none, parent: none, time: 0, content: "" }
  ])
})

/** Deletes blocks that have left the chain, once every consumer has passed that; the last number stays. */
const forgetLeft = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  const passed = sql<number>`(select coalesce(min(position), ${Number.MAX_SAFE_INTEGER}) from consumer where chain = ${chain})`
  yield* query((db) =>
    db
      .deleteFrom("consumed_block")
      .where("chain", "=", chain)
      .where("left_number", "<=", passed)
      .where("number", "<", sql<number>`(select max(number) from consumed_block where chain = ${chain})`)
  )
})

export const make: Make = Effect.fnUntraced(function* (opened) {
  const { id, undoDepth } = opened
  const consumed = yield* ConsumedAddresses.Current
  const undo = ({ fork }: { readonly fork: number }) => stepBack(id, fork)
  if (consumed === undefined) return { apply: {}, undo, reprocess: {} }

  const { addresses, keepBlocks, onRecorded } = consumed
  const eventsOf = BlockEvents.make(opened, addresses)
  /** The commit under way, and the number of its next block. */
  let entering: Commit | undefined
  let next = 0

  const record = Effect.fnUntraced(function* (block: ResolvedBlock, commit: Commit) {
    const { hash, height, parent, time } = block
    const content = BlockEvents.encode(yield* eventsOf(block, commit))
    // A program of an earlier version has undone blocks without the step back.
    if (!commit.continues) yield* stepBack(id, height - 1)
    // Another process may have undone blocks and entered the same ones again: the chain is as we left it, and longer.
    if (entering !== commit) next = yield* nextNumber(id)
    entering = commit
    const number = next++
    commit.insert("consumed_block", [{ chain: id, number, left_number: null, height, hash, parent, time, content }])
    commit.afterwards(onRecorded)
  })

  return {
    apply: { record },
    undo,
    reprocess: {},
    prune: Effect.fnUntraced(function* (below) {
      yield* forgetLeft(id)
      if (keepBlocks === undefined) return
      const { query } = yield* Database
      const kept = Math.min(below, below + undoDepth - keepBlocks)
      // Steps back stay: without them, a consumer that has been away would not know that its blocks have left.
      yield* query((db) =>
        db
          .deleteFrom("consumed_block")
          .where("chain", "=", id)
          .where("height", "<", kept)
          .where(sql<boolean>`(left_number is null or left_number <> number)`)
      )
    })
  }
})
