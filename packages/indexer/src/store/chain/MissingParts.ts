/**
 * Parts of committed blocks that no node could give: a row for each, written and undone with its block, shown to the
 * operator, and gone once the part is entered.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { type Kysely, sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Tables } from "../database/Tables.ts"

/** The rows of a chain's blocks without internal transactions. */
const ofChain = (db: Kysely<Tables>, chain: Chain.Chain) =>
  db
    .selectFrom("missing_part")
    .innerJoin("chain", "chain.id", "missing_part.chain")
    .where("chain.name", "=", Chain.nameOf(chain))
    .where("missing_part.part", "=", "internal")

/** Forgets what blocks above `fork` lack, in the transaction that undoes them. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer } = yield* Database
  yield* defer((db) => db.deleteFrom("missing_part").where("chain", "=", chain).where("height", ">", fork))
})

/** Whether the record of a committed block lacks its internal transactions. */
const lacksInternal = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db
      .selectFrom("missing_part")
      .select("height")
      .where("chain", "=", chain)
      .where("height", "=", height)
      .where("part", "=", "internal")
  )
  return rows.length > 0
})

/**
 * Whether a block that is entered again brings internal transactions that its record lacks. `internalFrom` as in
 * `Reprocess.Options`.
 */
export const fillsInternal = (chain: number, block: Block, internalFrom: number | undefined) =>
  internalFrom === undefined || block.missing !== undefined ? Effect.succeed(false) : lacksInternal(chain, block.height)

/** Notes that a block's internal transactions are recorded now. */
export const filledInternal = Effect.fnUntraced(function* (chain: number, height: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db.deleteFrom("missing_part").where("chain", "=", chain).where("height", "=", height).where("part", "=", "internal")
  )
})

/** Heights of blocks without their internal transactions: upwards above a height, or downwards below one. */
export const heights = Effect.fn("MissingParts.heights")(function* (
  chain: Chain.Chain,
  where: { readonly above: number } | { readonly below: number },
  limit: number
) {
  const { read } = yield* Database
  const rows = yield* read((db) => {
    const all = ofChain(db, chain).select("missing_part.height").limit(limit)
    return "above" in where
      ? all.where("missing_part.height", ">", where.above).orderBy("missing_part.height", "asc")
      : all.where("missing_part.height", "<", where.below).orderBy("missing_part.height", "desc")
  })
  return rows.map(({ height }) => height)
})

/** Heights in a row, first and last. */
export interface Range {
  readonly from: number
  readonly to: number
}

/** Blocks without their internal transactions: how many, the first height and the last. */
export interface Gap extends Range {
  readonly blocks: number
}

/** What a chain lacks; undefined where it lacks nothing. */
export const gap = Effect.fn("MissingParts.gap")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    ofChain(db, chain).select(({ fn }) => [
      fn.countAll<number>().as("blocks"),
      fn.min("missing_part.height").as("from"),
      fn.max("missing_part.height").as("to")
    ])
  )
  if (row === undefined || row.blocks === 0) return undefined
  return { blocks: row.blocks, from: row.from, to: row.to } satisfies Gap
})

/** Ranges that are told one by one. */
const rangesTold = 20

/** What a chain lacks, for the operator. */
export interface MissingInternal extends Gap {
  /** The lowest ranges without a block in between that is whole, at most 20. */
  readonly ranges: ReadonlyArray<Range>
  /** Of the newest of these blocks. */
  readonly reason: string
}

/** What a chain lacks, by range; undefined where it lacks nothing. */
export const missingInternal = Effect.fn("MissingParts.missingInternal")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const whole = yield* gap(chain)
  if (whole === undefined) return undefined
  const ranges = yield* read((db) =>
    db
      .selectFrom(
        ofChain(db, chain)
          .select([
            "missing_part.height",
            sql<number>`missing_part.height - row_number() over (order by missing_part.height)`.as("run")
          ])
          .as("one")
      )
      .select(({ fn }) => [fn.min("one.height").as("from"), fn.max("one.height").as("to")])
      .groupBy("one.run")
      .orderBy("from")
      .limit(rangesTold)
  )
  const [newest] = yield* read((db) =>
    ofChain(db, chain).select("reason").orderBy("missing_part.height", "desc").limit(1)
  )
  return { ...whole, ranges, reason: newest?.reason ?? "" } satisfies MissingInternal
})

const textOf = ({ from, to }: Range) => (from === to ? `${from}` : `${from} to ${to}`)

/** What is missing, and what becomes of that, for the operator. */
export const describe = (chain: Chain.Chain, { blocks, from, ranges, reason, to }: MissingInternal): string => {
  const last = ranges.at(-1)?.to ?? to
  const all = [...ranges.map(textOf), ...(last < to ? [`and others up to ${to}`] : [])].join(", ")
  const count = blocks === 1 ? "1 block lacks its" : `${blocks} blocks lack their`
  return (
    `${count} internal transactions: ${all} (${reason}). They are filled in, and their callbacks sent, as soon as one ` +
    "of the chain's nodes can trace them; to ask the nodes at once: " +
    `headwater replay ${Chain.nameOf(chain)} --from ${from} --to ${to} --callbacks`
  )
}
