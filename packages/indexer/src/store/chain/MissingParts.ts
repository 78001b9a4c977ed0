/**
 * Parts of committed blocks that the node could not give: a row for each, written and undone with its block, shown to
 * the operator, and gone with the replay that enters the part.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"

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

/** Blocks without their internal transactions: how many, the first height and the last. */
export interface Gap {
  readonly blocks: number
  readonly from: number
  readonly to: number
}

/** What a chain lacks; undefined where it lacks nothing. */
export const gap = Effect.fn("MissingParts.gap")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("missing_part")
      .innerJoin("chain", "chain.id", "missing_part.chain")
      .select(({ fn }) => [
        fn.countAll<number>().as("blocks"),
        fn.min("missing_part.height").as("from"),
        fn.max("missing_part.height").as("to")
      ])
      .where("chain.name", "=", Chain.nameOf(chain))
      .where("part", "=", "internal")
  )
  if (row === undefined || row.blocks === 0) return undefined
  return { blocks: row.blocks, from: row.from, to: row.to } satisfies Gap
})

/** A gap and its remedy, for the operator. `reason`: that of the first block. */
export const describe = (chain: Chain.Chain, { blocks, from, to }: Gap, reason?: string): string =>
  `${blocks === 1 ? `block ${from} lacks its` : `${blocks} blocks from ${from} to ${to} lack their`} internal ` +
  `transactions${reason === undefined ? "" : ` (${reason})`}. Once a node can trace ${blocks === 1 ? "it" : "them"}: ` +
  `headwater replay ${Chain.nameOf(chain)} --from ${from} --to ${to} --callbacks`
