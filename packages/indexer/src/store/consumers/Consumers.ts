/**
 * Consumers of a chain's events: programs that embed the indexer, each with a name and a position of its own. What a
 * consumer is told next follows from the position alone: the blocks that it knows and that have left the chain, and those
 * that are on the chain and that it does not know.
 */
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as BlockEvents from "./BlockEvents.ts"

/** Blocks that a consumer is to be told of are not kept: never recorded for consumers, or not any more. */
export class EventsNotKept extends Schema.TaggedError<EventsNotKept>()("EventsNotKept", {
  consumer: Schema.String,
  /** `blockchain/network`. */
  chain: Schema.String,
  /** The first block that lacks, and the last one. */
  from: Schema.Int,
  to: Schema.Int
}) {
  override get message() {
    return (
      `The events of blocks ${this.from} to ${this.to} of ${this.chain} are not kept, which the consumer ${this.consumer} ` +
      "has yet to be told of: what it has is to be made anew from another source, and the consumer to be forgotten and " +
      `started at block ${this.to + 1}`
    )
  }
}

/** The consumer is told in another place as well, which has acknowledged more; or it was forgotten. */
export class ConsumerElsewhere extends Schema.TaggedError<ConsumerElsewhere>()("ConsumerElsewhere", {
  consumer: Schema.String,
  /** `blockchain/network`. */
  chain: Schema.String
}) {
  override get message() {
    return `The consumer ${this.consumer} of ${this.chain} has acknowledged in another place, or was forgotten`
  }
}

/** Where a consumer begins: at a height, behind the last block, or with the first block that is kept. */
export type From = number | "latest" | "first"

/** How far a consumer has come, or has been told. */
export interface Progress {
  readonly position: number
  /** The number up to which the consumer may know blocks that it has not acknowledged: those that left are told as undone. */
  readonly told: number
  /** The number of the last step back whose undone blocks have been told, not below the position. */
  readonly steppedBack: number
  /** The last block of the chain as far as the consumer knows it; undefined where that is none. */
  readonly height: number | undefined
  /** The block's hash, where it is known. */
  readonly hash: Uint8Array | undefined
}

export interface Consumer {
  readonly id: number
  readonly name: string
  readonly chain: Chain
  /** The chain's number in the store. */
  readonly chainId: number
  /** The first block that the consumer is told of. */
  readonly from: number
  /** As far as the consumer has acknowledged. */
  readonly acknowledged: Progress
}

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

const toConsumer = (chain: Chain, row: Row<"consumer">): Consumer => ({
  ...{ id: row.id, name: row.name, chain, chainId: row.chain, from: row.from_height },
  acknowledged: {
    ...{ position: row.position, told: Math.max(row.told, row.position), steppedBack: row.stepped_back },
    ...{ height: row.height ?? undefined, hash: undefined }
  }
})

/** The consumer of this name, made where there is none. */
export const open = Effect.fn("Consumers.open")(function* (chain: Chain, name: string, from: From) {
  const { query, transaction } = yield* Database
  const chainId = yield* ChainRow.make(chain)
  const find = query((db) =>
    db.selectFrom("consumer").selectAll().where("name", "=", name).where("chain", "=", chainId)
  )
  const make = Effect.gen(function* () {
    const cursor = yield* ChainRow.lock(chainId)
    const [known] = yield* find
    if (known !== undefined) return toConsumer(chain, known)
    const wanted = from === "first" ? 0 : from === "latest" ? (cursor.height ?? -1) + 1 : from
    const onChain = yield* query((db) =>
      db
        .selectFrom("consumed_block")
        .select(["height", "number"])
        .where("chain", "=", chainId)
        .where("left_number", "is", null)
        .where("completion", "=", 0)
        .where("height", ">=", wanted)
        .orderBy("height")
        .limit(1)
    )
    const [last] = yield* query((db) =>
      db
        .selectFrom("consumed_block")
        .select(({ fn }) => fn.max("number").as("number"))
        .where("chain", "=", chainId)
    )
    const [first] = onChain
    if (typeof from === "number") {
      // A chain that has no blocks for consumers yet will have those that follow its cursor.
      const begins = first?.height ?? (cursor.height === null ? from : cursor.height + 1)
      if (begins > from) {
        return yield* new EventsNotKept({ consumer: name, chain: nameOf(chain), from, to: begins - 1 })
      }
    }
    const begins = first?.height ?? wanted
    const position = first === undefined ? (last?.number ?? 0) : first.number - 1
    const height = first === undefined && from === "first" ? null : begins - 1
    const [row] = yield* query((db) =>
      db
        .insertInto("consumer")
        .values({ name, chain: chainId, from_height: begins, position, told: position, stepped_back: position, height })
        .returningAll()
    )
    return toConsumer(chain, row!)
  })
  return yield* transaction(make)
})

/** The consumer, as far as it has acknowledged by now, here or elsewhere; fails where it was forgotten. */
export const present = Effect.fnUntraced(function* ({ chain, id, name }: Consumer) {
  const { query } = yield* Database
  const [row] = yield* query((db) => db.selectFrom("consumer").selectAll().where("id", "=", id))
  return row === undefined
    ? yield* new ConsumerElsewhere({ consumer: name, chain: nameOf(chain) })
    : toConsumer(chain, row)
})

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
export const next = Effect.fn("Consumers.next")(function* (
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

/**
 * Takes note that a consumer is told so far, before it is: should the program be killed, it may have written any of that. Fails
 * where the consumer has acknowledged more in another place.
 */
export const tell = Effect.fn("Consumers.tell")(function* (
  { chain, id, name }: Pick<Consumer, "chain" | "id" | "name">,
  from: Progress,
  to: Progress
) {
  const { query } = yield* Database
  const told = yield* query((db) =>
    db
      .updateTable("consumer")
      .set({ told: sql<number>`case when told < ${to.told} then ${to.told} else told end` })
      .where("id", "=", id)
      .where(sql<boolean>`(position, stepped_back) <= (${from.position}, ${from.steppedBack})`)
      .returning("id")
  )
  if (told.length === 0) return yield* new ConsumerElsewhere({ consumer: name, chain: nameOf(chain) })
})

/** Moves the position of a consumer on, unless it is there or beyond. */
export const acknowledge = Effect.fn("Consumers.acknowledge")(function* (
  { id }: Pick<Consumer, "id">,
  { height, position, steppedBack }: Progress
) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .updateTable("consumer")
      .set({ position, stepped_back: steppedBack, height: height ?? null })
      .where("id", "=", id)
      .where(sql<boolean>`(position, stepped_back) < (${position}, ${steppedBack})`)
  )
})

/** Whether a consumer has acknowledged so far and no further; nobody else moves it until the transaction ends. */
export const isAt = Effect.fnUntraced(function* ({ id }: Pick<Consumer, "id">, { position, steppedBack }: Progress) {
  const { forUpdate, query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("consumer").select(["position", "stepped_back"]).where("id", "=", id).modifyEnd(forUpdate)
  )
  return row?.position === position && row.stepped_back === steppedBack
})

/** Whether one progress is beyond another one of the same consumer. */
export const isBeyond = (one: Progress, other: Progress) =>
  one.position > other.position || (one.position === other.position && one.steppedBack > other.steppedBack)

/** Forgets a consumer on all chains: nothing is kept for it any more. */
export const forget = Effect.fn("Consumers.forget")(function* (name: string) {
  const { query } = yield* Database
  yield* query((db) => db.deleteFrom("consumer").where("name", "=", name))
})
