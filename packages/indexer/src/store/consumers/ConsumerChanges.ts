/**
 * What a consumer is told next, by the consumer's position alone: the blocks that the consumer knows and that have left the
 * chain, and those that are on the chain and that the consumer does not know.
 */
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as BlockEvents from "./BlockEvents.ts"
import { type Consumer, EventsNotKept, type Progress } from "./Consumers.ts"

/** What a consumer is told next. */
export interface Change {
  /** Blocks that the consumer knows and that one step back has left, in the order of their heights. */
  readonly undone: ReadonlyArray<BlockEvents.ConsumedBlock>
  /** Blocks that follow the last one that is left; none where another step back has left more that the consumer knows. */
  readonly blocks: ReadonlyArray<BlockEvents.ConsumedBlock>
  /** What has become known of blocks since the consumer was told of them. */
  readonly completed: ReadonlyArray<BlockEvents.ConsumedBlock>
  /** How far the consumer has come with these. */
  readonly progress: Progress
}

/** What is told at a time, beside the undone blocks of a step back. */
export interface Limits {
  readonly blocks: number
  /** Of what the store keeps of the blocks' events; one block is told in any case. */
  readonly characters: number
}

const defaultLimits: Limits = { blocks: 64, characters: 1_000_000 }

/** Whether all of these blocks were skipped by an operator. */
const areSkipped = Effect.fnUntraced(function* (chain: number, from: number, to: number) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("skipped_blocks")
      .select(["from_height", "to_height"])
      .where("chain", "=", chain)
      .where("to_height", ">=", from)
      .where("from_height", "<=", to)
      .orderBy("from_height")
  )
  const reached = found.reduce((next, range) => (range.from_height <= next ? range.to_height + 1 : next), from)
  return reached > to
})

type BlockRow = Omit<Row<"consumed_block">, "chain" | "lacks">

/** Fails where blocks are missing between the consumer's position and the next notification. */
const checkWhole = Effect.fnUntraced(function* (
  { chain, chainId, from, name }: Consumer,
  last: Pick<Progress, "hash" | "height">,
  blocks: ReadonlyArray<BlockRow>
) {
  let { hash, height } = last
  for (const block of blocks) {
    const expected = height === undefined ? block.height : Math.max(height + 1, from)
    const follows =
      block.height === expected
        ? hash === undefined || Bytes.equal(hash, block.parent)
        : block.height > expected && (yield* areSkipped(chainId, expected, block.height - 1))
    if (!follows) {
      const to = Math.max(expected, block.height - 1)
      return yield* new EventsNotKept({ consumer: name, chain: nameOf(chain), from: expected, to })
    }
    height = block.height
    hash = block.hash
  }
})

/** Fails where a consumer that knows no block is not told of the first that has come since it was made. */
const checkFirst = Effect.fnUntraced(function* (
  { chain, chainId, name }: Consumer,
  steppedBack: number,
  first: BlockRow | undefined
) {
  if (first === undefined) return
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("consumed_block")
      .select("number")
      .where("chain", "=", chainId)
      .where("number", "=", steppedBack + 1)
  )
  if (found.length > 0) return
  return yield* new EventsNotKept({ consumer: name, chain: nameOf(chain), from: 0, to: first.height - 1 })
})

/**
 * As of one moment: the steps back since a consumer's progress, up to the first one that undoes blocks for the consumer, and
 * these; and where no later step undoes any more, all steps, and the rows of the next blocks.
 */
const rowsAfter = ({ chainId, from }: Consumer, { position, steppedBack, told }: Progress, limits: Limits) => {
  // By the index of what has left: sums, and no order, keep SQLite from looking through all that the consumer knows.
  const undone = sql`chain = ${chainId} and number <> left_number and number + 0 <= ${told} and height + 0 >= ${from}`
  const columns = sql`number, left_number, height, hash, parent, time, content, completion`
  return rows(sql<BlockRow>`
    with step as (
      select left_number as number from consumed_block where ${undone} and left_number > ${steppedBack}
      order by left_number limit 1
    ), later as (
      select number from step where exists (
        select 1 from consumed_block where ${undone} and left_number > (select number from step)
      )
    )
    select ${columns} from consumed_block
    where chain = ${chainId} and number + 0 = left_number and left_number > ${steppedBack}
      and left_number <= coalesce((select number from later), ${sql.lit(Number.MAX_SAFE_INTEGER)})
    union all
    select ${columns} from consumed_block where ${undone} and left_number = (select number from step)
    union all
    select ${columns} from (
      select b.*, sum(length(content)) over (order by number) - length(content) as before from (
        select * from consumed_block
        where chain = ${chainId} and number > ${position} and left_number is null and height >= ${from}
          and not exists (select 1 from later)
        order by number limit ${limits.blocks}
      ) b
    ) c where before < ${limits.characters}`)
}

/** The last block that is left of those that a consumer knows. Its hash is not looked up. */
const forkOf = ({ hash, height }: Progress, steps: ReadonlyArray<BlockRow>): Pick<Progress, "hash" | "height"> => {
  const fork = Math.min(height ?? 0, ...steps.map((step) => step.height))
  return height === undefined || fork === height ? { height, hash } : { height: fork, hash: undefined }
}

/** The blocks of rows, lowest first, each with what became known of it later. */
const blocksOf = (chain: Chain, rows: ReadonlyArray<BlockRow>): ReadonlyArray<BlockEvents.ConsumedBlock> =>
  [...Map.groupBy(rows, ({ hash }) => Bytes.key(hash)).values()]
    .map((ofBlock) => BlockEvents.join(ofBlock.map((row) => BlockEvents.decode(chain, row))))
    .sort((a, b) => a.height - b.height)

/** What follows a consumer's progress; undefined where that is nothing yet. */
export const next = Effect.fn("ConsumerChanges.next")(function* (
  consumer: Consumer,
  progress: Progress,
  limits: Limits = defaultLimits
) {
  const { read } = yield* Database
  const found = (yield* read(rowsAfter(consumer, progress, limits))).toSorted((a, b) => a.number - b.number)
  const steps = found.filter(({ left_number, number }) => number === left_number)
  const undone = found.filter(({ left_number, number }) => left_number !== null && number < left_number)
  const told = found.filter(({ left_number }) => left_number === null)
  if (undone.length + told.length === 0) return undefined
  const blocks = told.filter(({ completion }) => completion === 0)
  const completed = told.filter(({ completion }) => completion !== 0)
  const fork = forkOf(progress, steps)
  if (progress.height === undefined) yield* checkFirst(consumer, progress.steppedBack, blocks[0])
  yield* checkWhole(consumer, fork, blocks)
  const last = blocks.at(-1) ?? fork
  const steppedBack = Math.max(progress.steppedBack, ...steps.map(({ number }) => number))
  const position = told.at(-1)?.number ?? progress.position
  const decode = (row: BlockRow) => BlockEvents.decode(consumer.chain, row)
  return {
    undone: blocksOf(consumer.chain, undone),
    blocks: blocks.map(decode),
    completed: completed.map(decode),
    progress: {
      ...{ position, told: Math.max(progress.told, position), steppedBack: Math.max(steppedBack, position) },
      ...{ height: last.height, hash: last.hash }
    }
  } satisfies Change as Change
})
