/**
 * The partitions of internal transactions, on PostgreSQL, each of a chain's blocks from one height on below another one. Blocks
 * without a partition, as those of a first sync, have their internal transactions among the other transfers. The default
 * partition is for what nobody foresees: it is read from end to end where another one is made.
 */
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"
import * as Partitions from "../../database/Partitions.ts"
import { logOf } from "./internal/Logs.ts"
import * as Posting from "./internal/Posting.ts"

/** The name of the partition of blocks from a height on. */
export const nameOf = (chain: number, fromHeight: number) => `packed_internal_${chain}_${fromHeight}`

/** The partition that a chain's block has, if there is one. */
export const at = Effect.fnUntraced(function* (chain: number, height: number) {
  const { partitioned, query } = yield* Database
  if (!partitioned) return undefined
  const [found] = yield* query((db) =>
    db
      .selectFrom("internal_partition")
      .select(["from_height", "to_height"])
      .where("chain", "=", chain)
      .where("from_height", "<=", height)
      .where("to_height", ">", height)
  )
  return found
})

/** Blocks without a partition that are committed between two looks for one. */
const lookEvery = 10

/** Whether blocks that are committed have a partition: asked of each, and of the store where that may have changed. */
export const watch = (chain: number) => {
  let found: Effect.Success<ReturnType<typeof at>>
  let looked = -1
  return Effect.fnUntraced(function* (height: number) {
    if (found !== undefined && height >= found.from_height && height < found.to_height) return true
    if (looked >= 0 && height > looked && height < looked + lookEvery) return false
    looked = height
    found = yield* at(chain, height)
    return found !== undefined
  })
}

/** Makes the partition of a chain's blocks from a height on below another one, in a transaction. */
export const attach = Effect.fnUntraced(function* (chain: number, from: number, to: number) {
  const { query } = yield* Database
  const log = logOf(chain, "internal")
  yield* Partitions.attach({
    ...{ name: nameOf(chain, from), of: "packed_internal", like: "packed_internal" },
    indexes: ["unique index on NAME (log, position)"],
    ...{ from: [log, Posting.positionOf(from, 0)], to: [log, Posting.positionOf(to, 0)] }
  })
  yield* query((db) => db.insertInto("internal_partition").values({ chain, from_height: from, to_height: to }))
})
