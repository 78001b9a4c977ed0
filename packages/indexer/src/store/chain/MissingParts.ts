/**
 * Parts of committed blocks that no node could give: a row for each range of blocks, which grows with each block that
 * lacks the part, ends where blocks are undone, is shown to the operator, and shrinks or splits where the part is entered.
 */
import type { Block, MissingPart } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Tables } from "../database/Tables.ts"
import * as BlockRange from "./BlockRange.ts"

/** The ranges of a chain's blocks without internal transactions. */
const ofChain = (db: Kysely<Tables>, chain: Chain.Chain) =>
  db
    .selectFrom("missing_parts")
    .innerJoin("chain", "chain.id", "missing_parts.chain")
    .where("chain.name", "=", Chain.nameOf(chain))
    .where("missing_parts.part", "=", "internal")

/** Notes what the block lacks that is being committed, and so stands above all others. */
export const add = Effect.fnUntraced(function* (chain: number, height: number, missing: ReadonlyArray<MissingPart>) {
  const { defer } = yield* Database
  for (const { part, reason } of missing) {
    yield* defer((db) => {
      const last = db
        .selectFrom("missing_parts")
        .select(["from_height", "to_height"])
        .where("chain", "=", chain)
        .where("part", "=", part)
        .orderBy("from_height", "desc")
        .limit(1)
      const neighbour = db
        .selectFrom(last.as("last"))
        .select("from_height")
        .where("to_height", "=", height - 1)
      return db
        .insertInto("missing_parts")
        .values({
          ...{ chain, part, to_height: height, reason },
          from_height: sql<number>`coalesce(${neighbour}, ${height})`
        })
        .onConflict((conflict) =>
          conflict.columns(["chain", "part", "from_height"]).doUpdateSet({ to_height: height, reason })
        )
    })
  }
})

/** Forgets what blocks above `fork` lack, in the transaction that undoes them. */
export const undo = (chain: number, fork: number) => BlockRange.endAt("missing_parts", chain, fork)

/** The range without internal transactions that a committed block is of. */
const rangeAt = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .selectFrom("missing_parts")
      .selectAll()
      .where("chain", "=", chain)
      .where("part", "=", "internal")
      .where("from_height", "<=", height)
      .orderBy("from_height", "desc")
      .limit(1)
  )
  return row !== undefined && row.to_height >= height ? row : undefined
})

/**
 * Whether a block that is entered again brings internal transactions that its record lacks. `internalFrom` as in
 * `Reprocess.Options`.
 */
export const fillsInternal = (chain: number, block: Block, internalFrom: number | undefined) =>
  internalFrom === undefined || block.missing !== undefined
    ? Effect.succeed(false)
    : Effect.map(rangeAt(chain, block.height), (range) => range !== undefined)

/** Notes that a block's internal transactions are recorded now: what its range has below and above the block is left. */
export const filledInternal = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer, insertMany } = yield* Database
  const range = yield* rangeAt(chain, height)
  if (range === undefined) return
  const { from_height: from, part, to_height: to } = range
  yield* defer((db) =>
    db.deleteFrom("missing_parts").where("chain", "=", chain).where("part", "=", part).where("from_height", "=", from)
  )
  const below = { ...range, to_height: height - 1 }
  const above = { ...range, from_height: height + 1 }
  yield* insertMany("missing_parts", [...(from < height ? [below] : []), ...(height < to ? [above] : [])])
})

/** Whether any block of a row of `chain` lacks its internal transactions. */
export const isWaiting = sql<boolean>`(
  select 1 from missing_parts m where m.chain = chain.id and m.part = 'internal' limit 1
) is not null`

/** Heights of blocks without their internal transactions: upwards above a height, or downwards below one. */
export const heights = Effect.fn("MissingParts.heights")(function* (
  chain: Chain.Chain,
  where: { readonly above: number } | { readonly below: number },
  limit: number
) {
  const { read } = yield* Database
  const rows = yield* read((db) => {
    const all = ofChain(db, chain).select(["from_height", "to_height"]).limit(limit)
    return "above" in where
      ? all.where("to_height", ">", where.above).orderBy("from_height", "asc")
      : all.where("from_height", "<", where.below).orderBy("from_height", "desc")
  })
  const found: Array<number> = []
  for (const { from_height: from, to_height: to } of rows) {
    const isUpwards = "above" in where
    const first = isUpwards ? Math.max(from, where.above + 1) : Math.min(to, where.below - 1)
    const count = Math.min(limit - found.length, isUpwards ? to - first + 1 : first - from + 1)
    for (let i = 0; i < count; i++) found.push(isUpwards ? first + i : first - i)
  }
  return found
})

/** Ranges that are told one by one. */
const rangesTold = 20

/** Blocks without their internal transactions, for the operator: how many, the first height and the last. */
export interface MissingInternal extends BlockRange.BlockRange {
  readonly blocks: number
  /** The lowest ranges without a block in between that is whole, at most 20. */
  readonly ranges: ReadonlyArray<BlockRange.BlockRange>
  /** Of the newest of these blocks. */
  readonly reason: string
}

/** What a chain lacks, by range; undefined where it lacks nothing. */
export const missingInternal = Effect.fn("MissingParts.missingInternal")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const ranges = yield* read((db) =>
    ofChain(db, chain).select(["from_height as from", "to_height as to"]).orderBy("from_height").limit(rangesTold)
  )
  const [newest] = yield* read((db) =>
    ofChain(db, chain).select(["to_height as to", "reason"]).orderBy("from_height", "desc").limit(1)
  )
  const [all] = yield* read((db) =>
    ofChain(db, chain).select(sql<number>`cast(sum(to_height - from_height + 1) as bigint)`.as("blocks"))
  )
  const [first] = ranges
  if (first === undefined || newest === undefined || all === undefined) return undefined
  return { ...newest, from: first.from, blocks: all.blocks, ranges } satisfies MissingInternal
})

/** What is missing, and what becomes of that, for the operator. */
export const describe = (chain: Chain.Chain, { blocks, from, ranges, reason, to }: MissingInternal): string => {
  const last = ranges.at(-1)?.to ?? to
  const all = [...ranges.map(BlockRange.heights), ...(last < to ? [`and others up to ${to}`] : [])].join(", ")
  const count = blocks === 1 ? "1 block lacks its" : `${blocks} blocks lack their`
  return (
    `${count} internal transactions: ${all} (${reason}). They are filled in, and their callbacks sent, as soon as one ` +
    "of the chain's nodes can trace them; to ask the nodes at once: " +
    `headwater replay ${Chain.nameOf(chain)} --from ${from} --to ${to} --callbacks`
  )
}
