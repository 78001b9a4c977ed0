/** The row of a chain: its number in the store, its cursor, and the lock that orders commits with changes of what is watched. */
import type { BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "./Database.ts"
import * as Fence from "./Fence.ts"
import { prepared } from "./Prepared.ts"
import type { Row } from "./Tables.ts"

export type ChainRow = Row<"chain">

export type Cursor = Pick<ChainRow, "hash" | "height">

/** Whether the block may be the next after the cursor. */
export const follows = ({ hash, height }: Cursor, block: Pick<BlockHeader, "height" | "parent">) =>
  height === null || (block.height === height + 1 && (hash === null || Bytes.equal(hash, block.parent)))

const byName = prepared((db, name: string) => db.selectFrom("chain").selectAll().where("name", "=", name))

/** The row, or undefined where nothing of the chain has been stored. */
export const find = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read(byName(Chain.nameOf(chain)))
  return row
})

/** The row, as the present transaction sees the store. */
export const present = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { query } = yield* Database
  const [row] = yield* query(byName(Chain.nameOf(chain)))
  return row
})

/** The rows of all chains of which anything was stored. */
export const all = Effect.flatMap(Database, ({ read }) =>
  read((db) => db.selectFrom("chain").selectAll().orderBy("id"))
)

/** Makes the row where there is none, and gives the chain's number in the store. */
export const make = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .insertInto("chain")
      .values({ name: Chain.nameOf(chain) })
      .onConflict((on) => on.column("name").doNothing())
  )
  return (yield* present(chain))!.id
})

/**
 * Locks the row until the transaction ends: commits and changes of what is watched exclude one another. A follower whose
 * chain has come to somebody else is refused ({@link Fence}).
 */
export const lock = Effect.fnUntraced(function* (id: number) {
  const { forUpdate, read } = yield* Database
  const [row] = yield* read((db) => db.selectFrom("chain").selectAll().where("id", "=", id).modifyEnd(forUpdate))
  yield* Fence.check(row!)
  return row!
})

const bump = Effect.fnUntraced(function* (column: "id" | "name", value: number | string) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db.updateTable("chain").set({ revision: sql<number>`revision + 1` }).where(column, "=", value).returningAll()
  )
  if (row !== undefined) yield* Fence.check(row)
  return row
})

/** As {@link lock}, and counts the revision up: what is watched, or what is due when, has changed, or blocks have left. */
export const lockAndBumpRevision = (id: number) => Effect.map(bump("id", id), (row) => row!)

/** As {@link lockAndBumpRevision}, of a chain of which nothing may have been stored yet. */
export const lockAndBumpRevisionOf = Effect.fnUntraced(function* (chain: Chain.Chain) {
  return (yield* bump("name", Chain.nameOf(chain))) ?? (yield* lockAndBumpRevision(yield* make(chain)))
})

const cursor = prepared((db, height: number, hash: Uint8Array | null, first: number | null, id: number) =>
  db.updateTable("chain").set({ height, hash, first_height: first }).where("id", "=", id)
)

/** Moves the cursor, in a transaction that has the lock. */
export const moveCursor = Effect.fnUntraced(function* (
  id: number,
  to: { readonly height: number; readonly hash: Uint8Array | null; readonly firstHeight: number | null }
) {
  const { defer } = yield* Database
  yield* defer(cursor(to.height, to.hash, to.firstHeight, id))
})

/**
 * Begins a new epoch of the chain: who has followed until now writes nothing any more. Epochs are no smaller than the time in
 * milliseconds, so that none comes twice where a store has lost its last commits. One statement: the chain stands still
 * meanwhile. Undefined where there is no such chain.
 */
const begin = Effect.fnUntraced(function* (column: "id" | "name", value: number | string) {
  const { query } = yield* Database
  const now = yield* Clock.currentTimeMillis
  const [row] = yield* query((db) =>
    db
      .updateTable("chain")
      .set({ epoch: sql<number>`case when epoch < ${now} then ${now} else epoch + 1 end` })
      .where(column, "=", value)
      .returning(["id", "epoch"])
  )
  return row && ({ chain: row.id, epoch: row.epoch } satisfies Fence.Fence)
})

/** Begins a new epoch of the chain, in a transaction that has the lock. */
export const beginEpoch = (id: number) => begin("id", id)

/** The fence of who begins to follow the chain, whose row is made where there is none. */
export const follow = Effect.fnUntraced(function* (
  chain: Chain.Chain
): Effect.fn.Return<Fence.Fence, DatabaseError, Database> {
  return (yield* begin("name", Chain.nameOf(chain))) ?? (yield* begin("id", yield* make(chain)))!
})

/** Takes note that the internal transactions of blocks below a height have been forgotten, in a transaction that has the lock. */
export const forgetInternalBelow = Effect.fnUntraced(function* (id: number, height: number) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .updateTable("chain")
      .set({ internal_forgotten_below: height })
      .where("id", "=", id)
      .where("internal_forgotten_below", "<", height)
  )
})

/** The first block whose internal transactions have not been forgotten; 0 of a chain of which nothing was stored. */
export const internalRememberedFrom = Effect.fnUntraced(function* (id: number) {
  const { read } = yield* Database
  const [row] = yield* read((db) => db.selectFrom("chain").select("internal_forgotten_below").where("id", "=", id))
  return row?.internal_forgotten_below ?? 0
})

/** Takes note that blocks from a height on are to come, in a transaction that has the lock: none of them is forgotten. */
export const rememberInternalFrom = Effect.fnUntraced(function* (id: number, height: number) {
  const { defer } = yield* Database
  yield* defer((db) =>
    db
      .updateTable("chain")
      .set({ internal_forgotten_below: height })
      .where("id", "=", id)
      .where("internal_forgotten_below", ">", height)
  )
})

const final = prepared((db, height: number, id: number, epoch: number | null, above: number) =>
  db
    .updateTable("chain")
    .set({ final_height: height })
    .where("id", "=", id)
    .where(sql<boolean>`epoch = coalesce(${epoch}, epoch)`)
    .where((where) => where.or([where("final_height", "is", null), where("final_height", "<", above)]))
)

/** Takes note of a height that a node has called final, where that is the newest one so far. */
export const setFinal = Effect.fnUntraced(function* (id: number, height: number) {
  const { defer } = yield* Database
  const fence = yield* Fence.Current
  yield* defer(final(height, id, fence?.chain === id ? fence.epoch : null, height))
})

/** Brings what was final, and where the chain began, down to a chain that ends at `height`. */
export const lower = Effect.fnUntraced(function* (id: number, height: number) {
  const { query } = yield* Database
  const atMost = (column: "final_height" | "first_height", value: number) =>
    query((db) =>
      db
        .updateTable("chain")
        .set({ [column]: value })
        .where("id", "=", id)
        .where(column, ">", value)
    )
  yield* atMost("final_height", height)
  yield* atMost("first_height", height + 1)
})

/** The row with the number of the last reorganisation that was carried out, both as they were at one moment. */
export const findWithReorganisations = Effect.fnUntraced(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("chain")
      .selectAll()
      .select((select) =>
        select
          .selectFrom("reorganisation")
          .select((of) => of.fn.max("reorganisation.id").as("last"))
          .whereRef("reorganisation.chain", "=", "chain.id")
          .as("reorganisations")
      )
      .where("name", "=", Chain.nameOf(chain))
  )
  return row
})
