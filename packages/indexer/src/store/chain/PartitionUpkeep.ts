/**
 * Keeps the partitions of internal transactions, on PostgreSQL: of a chain's blocks of about two days each, made ahead of the
 * tip, and dropped once all of their blocks are forgotten. What has none is deleted row by row.
 */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as UnixTime from "../../UnixTime.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as Partitions from "../database/Partitions.ts"
import { rows } from "../database/Statements.ts"
import type { ChainReader } from "./ChainReader.ts"
import * as InternalPartitions from "./transfers/InternalPartitions.ts"

/** The seconds whose blocks are in a partition, about; a chain whose pace is not known yet has at least so many blocks in one. */
const seconds = 172_800
const leastBlocks = 1_000
/** The part of a partition that is left ahead of the tip when the next one is made. */
const lead = 1 / 4

/** Where the last partition of a chain ends, and whether another one is needed. */
const ahead = Effect.fnUntraced(function* ({ height, id }: Pick<ChainRow.ChainRow, "height" | "id">) {
  const { query } = yield* Database
  const [last] = yield* query((db) =>
    db
      .selectFrom("internal_partition")
      .select(["from_height", "to_height"])
      .where("chain", "=", id)
      .orderBy("to_height", "desc")
      .limit(1)
  )
  const end = last?.to_height ?? 0
  const isNeeded = last === undefined || end - height! <= lead * (end - last.from_height)
  return { end, isNeeded }
})

/** Whether the role may make a partition. */
const mayAttach = Effect.gen(function* () {
  const { read } = yield* Database
  const [row] = yield* read(
    rows(sql<{ readonly allowed: boolean }>`
      select has_schema_privilege(current_schema(), 'CREATE') and pg_has_role(relowner, 'USAGE') as allowed
      from pg_class where oid = 'packed_internal'::regclass`)
  )
  return row!.allowed
})

/** Makes the next partition where the last one is about to be full. */
export const prepare = Effect.fn("PartitionUpkeep.prepare")(function* (reader: ChainReader) {
  const { partitioned, read, transaction } = yield* Database
  const chain = yield* ChainRow.find(reader.chain)
  if (!partitioned || chain === undefined || chain.height === null || !(yield* ahead(chain)).isNeeded) return
  const { id } = chain
  const now = yield* UnixTime.seconds
  const [newest] = yield* read((db) =>
    db.selectFrom("block").select("time").where("chain", "=", id).orderBy("height", "desc").limit(1)
  )
  // By the blocks' own time where the clock is behind: one partition would be as wide as all that is recorded.
  const present = Math.max(now, newest?.time ?? now)
  const since = Math.max(chain.first_height ?? 0, yield* reader.heightSince(present - seconds))
  // A first sync passes blocks sooner than partitions could be made for them.
  if (since > chain.height || !(yield* mayAttach)) return
  const blocks = Math.max(leastBlocks, chain.height - since)
  yield* transaction(
    Effect.gen(function* () {
      const row = yield* ChainRow.lock(id)
      const { end, isNeeded } = yield* ahead(row)
      // Another daemon has made the partition.
      if (!isNeeded) return
      // Blocks up to the tip have what they have elsewhere.
      const from = Math.max(end, row.height! + 1)
      yield* InternalPartitions.attach(id, from, from + blocks)
    })
  )
})

/** Drops the partitions whose blocks are all forgotten. */
export const drop = Effect.fn("PartitionUpkeep.drop")(function* (reader: ChainReader) {
  const { partitioned, query, read } = yield* Database
  const chain = yield* ChainRow.find(reader.chain)
  if (!partitioned || chain === undefined) return
  const { id, internal_forgotten_below: below } = chain
  const over = yield* read((db) =>
    db
      .selectFrom("internal_partition")
      .select("from_height")
      .where("chain", "=", id)
      .where("to_height", "<=", below)
      .orderBy("from_height")
  )
  for (const { from_height } of over) {
    const isForgotten = Effect.gen(function* () {
      // The chain may have been rewound, and blocks of the partition come again.
      const { internal_forgotten_below: below } = yield* ChainRow.lock(id)
      const rows = yield* query((db) =>
        db
          .deleteFrom("internal_partition")
          .where("chain", "=", id)
          .where("from_height", "=", from_height)
          .where("to_height", "<=", below)
          .returning("from_height")
      )
      return rows.length > 0
    })
    yield* Partitions.drop(InternalPartitions.nameOf(id, from_height), isForgotten)
  }
})

/** Makes what is needed, and drops what is forgotten. */
export const keep = (reader: ChainReader) =>
  prepare(reader).pipe(
    // What comes is among the other transfers then.
    Effect.catch((error) => Effect.logWarning(`No partition was made for internal transactions: ${error.message}`)),
    Effect.andThen(drop(reader))
  )
