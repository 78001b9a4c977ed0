/**
 * What blocks change in the record that consumers read: each block with its events, numbered in the order in which blocks
 * came, and the number of the step back by which a block left the chain. The blocks up to a number that had not left by
 * that number are the chain as it was then, so that a consumer's number says all of what the consumer knows. A step back
 * leaves no more blocks than a consumer can be told of at a time: where more leave, there are several.
 *
 * Steps back are taken by every program that undoes blocks; blocks are written where a program has consumers.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { Commit, Make, Reprocessing, ResolvedBlock } from "../chain/Projection.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
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

/**
 * What one step back leaves, and consumers are told as undone at a time: in characters of what is kept of the events, and so
 * many for each block. One block leaves in any case.
 */
export const StepCharacters = Context.Reference<number>(
  "@headwater/indexer/store/consumers/ConsumerProjection/StepCharacters",
  { defaultValue: () => 1_000_000 }
)
const blockCharacters = 1_000

/**
 * The lowest block above `fork` that the next step back leaves, and whether that is the lowest one of all; undefined where
 * there is none. No block at `below` or above is left.
 */
const nextStep = Effect.fnUntraced(function* (chain: number, fork: number, below: number) {
  const { query } = yield* Database
  const characters = yield* StepCharacters
  // PostgreSQL would look at each row that has just left, step by step.
  const above = sql`chain = ${chain} and left_number is null and height > ${fork} and height < ${below}`
  const [row] = yield* query(
    rows(sql<{ readonly lowest: number | null; readonly last: number | null }>`
      select min(height) as lowest, (select min(height) from consumed_block where ${above}) as last from (
        select height, sum(characters) over (order by height desc) - characters as before from (
          select height, length(content) + ${sql.lit(blockCharacters)} as characters from consumed_block
          where ${above} order by height desc limit ${Math.ceil(characters / blockCharacters)}
        ) b
      ) c where before < ${characters}`)
  )
  return row === undefined || row.lowest === null ? undefined : { lowest: row.lowest, isLast: row.lowest === row.last }
})

/** Takes steps back, from the highest block down, until every block above `fork` has left the chain. */
const stepBack = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { insertMany, query } = yield* Database
  let below = Number.MAX_SAFE_INTEGER
  while (true) {
    const step = yield* nextStep(chain, fork, below)
    if (step === undefined) return
    const height = step.isLast ? fork : step.lowest - 1
    const number = yield* nextNumber(chain)
    yield* query((db) =>
      db
        .updateTable("consumed_block")
        .set({ left_number: number })
        .where("chain", "=", chain)
        .where("left_number", "is", null)
        .where("height", ">", height)
        .where("height", "<", below)
    )
    below = step.lowest
    const none = new Uint8Array(0)
    yield* insertMany("consumed_block", [
      {
        ...{ chain, number, left_number: number, height, hash: none, parent: none, time: 0 },
        ...{ content: "", completion: 0, lacks: "" }
      }
    ])
    if (step.isLast) return
  }
})

/** The number that every consumer has passed: with blocks, or with steps back. */
const passed = (chain: number, by: "position" | "stepped_back") =>
  sql<number>`(
    select coalesce(min(${sql.ref(by)}), ${Number.MAX_SAFE_INTEGER}) from consumer where chain = ${chain}
  )`

/** Deletes blocks that have left the chain, once every consumer has passed that; the last number stays. */
const forgetLeft = Effect.fnUntraced(function* (chain: number) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .deleteFrom("consumed_block")
      .where("chain", "=", chain)
      .where("left_number", "<=", passed(chain, "stepped_back"))
      .where("number", "<", sql<number>`(select max(number) from consumed_block where chain = ${chain})`)
  )
})

/**
 * Forgets blocks below a height. Those that lack something stay for what may become known of them, which stays until every
 * consumer has passed it. Steps back stay: without them, a consumer that has been away would not know that its blocks left.
 */
const forgetBelow = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const below = sql`chain = ${chain} and height < ${height} and (left_number is null or left_number <> number)`
  yield* query(
    rows(sql`update consumed_block set completion = number where ${below} and completion = 0 and lacks <> ''`)
  )
  yield* query(
    rows(
      sql`delete from consumed_block where ${below} and lacks = '' and (completion = 0 or number <= ${passed(chain, "position")})`
    )
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
    commit.insert("consumed_block", [
      { chain: id, number, left_number: null, height, hash, parent, time, ...content, completion: 0 }
    ])
    commit.afterwards(onRecorded)
  })

  /** Takes note of what has become known of a block that lacked something. */
  const complete = Effect.fnUntraced(function* (block: ResolvedBlock, reprocessing: Reprocessing) {
    const { insertMany, query } = yield* Database
    const { hash, height, parent, time } = block
    const kept = yield* query((db) =>
      db
        .selectFrom("consumed_block")
        .select(["number", "content", "lacks"])
        .where("chain", "=", id)
        .where("height", "=", height)
        .where("left_number", "is", null)
        .orderBy("number")
    )
    if (kept.every(({ lacks }) => lacks === "")) return
    const completion = BlockEvents.completionOf(kept, yield* eventsOf(block, reprocessing))
    if (completion === undefined) return
    yield* query((db) =>
      db
        .updateTable("consumed_block")
        .set({ lacks: "" })
        .where("chain", "=", id)
        .where("height", "=", height)
        .where("left_number", "is", null)
    )
    const number = yield* nextNumber(id)
    yield* insertMany("consumed_block", [
      {
        ...{ chain: id, number, left_number: null, height, hash, parent, time },
        ...{ ...BlockEvents.encode(completion), completion: number }
      }
    ])
    reprocessing.afterwards(onRecorded)
  })

  return {
    apply: { record },
    undo,
    reprocess: { record: complete },
    prune: Effect.fnUntraced(function* (below) {
      yield* forgetLeft(id)
      if (keepBlocks !== undefined) yield* forgetBelow(id, Math.min(below, below + undoDepth - keepBlocks))
    })
  }
})
