/**
 * The activation of a list that blocks were not matched against. Its addresses begin again in small steps behind the
 * activation, as if each came then: until that, an address takes no part. What was committed before the last of them had
 * begun is a gap, which an entry of the subscription's feed names.
 */
import * as Bytes from "@headwater/core/Bytes"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as Completeness from "../chain/Completeness.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as SmallSteps from "../database/SmallSteps.ts"
import { inChunks, rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as Gaps from "./internal/Gaps.ts"
import * as MissedUses from "./internal/MissedUses.ts"

/** Addresses of one step, each of which costs more than one that comes. */
const atOnce = 200

/** In the transaction that activates a subscription: whether it is one on a list, whose addresses are to begin again. */
export const begin = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, row: Row<"subscription">) {
  const { query } = yield* Database
  const begun = yield* query((db) =>
    db.updateTable("address_list").set({ begin_after: 0 }).where("subscription", "=", row.id).returning("subscription")
  )
  if (begun.length > 0) yield* MissedUses.lookOver(chain, row)
  return begun.length > 0
})

/** Those of the addresses, by their key, of which earlier blocks are still to tell. */
const behind = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<Uint8Array>) {
  const { query } = yield* Database
  const found = yield* inChunks(addresses, (some) =>
    query((db) => db.selectFrom("matched").select("address").where("chain", "=", chain).where("address", "in", some))
  )
  return new Set(found.map(({ address }) => Bytes.key(address!)))
})

const beginEach = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, listed: ReadonlyArray<Row<"listed_address">>) {
  if (listed.length === 0) return
  const { insertMany, numbers, query } = yield* Database
  const addresses = listed.map(({ address }) => address)
  yield* Completeness.begin(chain, addresses, chain.height)
  const { revision } = chain
  const set = (column: "revision" | "left_revision", of: typeof listed) =>
    query(
      rows(sql`
        update listed_address set ${sql.ref(column)} = ${revision} where id in ${numbers(of.map(({ id }) => id))}`)
    )
  const isBehind = yield* behind(chain.id, addresses)
  const kept = listed.filter(({ address }) => isBehind.has(Bytes.key(address)))
  yield* set(
    "revision",
    listed.filter(({ address }) => !isBehind.has(Bytes.key(address)))
  )
  // The row keeps its part in earlier blocks, and another has that in later ones.
  yield* set("left_revision", kept)
  // What is looked for of an earlier time is the other's.
  const ofKept = numbers(kept.map(({ id }) => id))
  yield* query(rows(sql`update listed_address set past_from = null, past_to = null where id in ${ofKept}`))
  yield* insertMany(
    "listed_address",
    kept.map(({ id: _, ...row }) => ({ ...row, revision, left_revision: null }))
  )
})

/** In the transaction of the last step. */
const end = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, row: Row<"subscription">) {
  const { query } = yield* Database
  if (row.gap_from === null) return
  yield* Gaps.enter(Chain.ofName(chain.name)!, chain, row)
  yield* MissedUses.lookOver(chain, row)
  yield* query((db) => db.updateTable("subscription").set({ gap_from: null }).where("id", "=", row.id))
})

/** In a transaction: begins up to so many addresses of an activated list again; whether there may be more. */
export const some = Effect.fn("ListActivation.some")(function* (most = atOnce) {
  const { query } = yield* Database
  const [due] = yield* query((db) =>
    db
      .selectFrom("address_list")
      .innerJoin("subscription", "subscription.id", "address_list.subscription")
      .select(["subscription.id", "subscription.chain"])
      .where("begin_after", "is not", null)
      .orderBy("address_list.subscription")
      .limit(1)
  )
  if (due === undefined) return false
  const chain = yield* ChainRow.lockAndBumpRevision(due.chain)
  const [row] = yield* query((db) => db.selectFrom("subscription").selectAll().where("id", "=", due.id))
  const [list] = yield* query((db) => db.selectFrom("address_list").selectAll().where("subscription", "=", due.id))
  const after = list?.begin_after ?? null
  // Another process may have gone on since.
  if (row === undefined || after === null) return true
  const isMatched = row.active + row.parking === 1
  const found = yield* query((db) =>
    db
      .selectFrom("listed_address")
      .selectAll()
      .where("subscription", "=", row.id)
      .where("left_revision", "is", null)
      .where("id", ">", after)
      .orderBy("id")
      .limit(isMatched ? most : 0)
  )
  yield* beginEach(
    chain,
    found.filter(({ revision }) => revision < row.active_from)
  )
  const isDone = found.length < most
  yield* query((db) =>
    db
      .updateTable("address_list")
      .set({ begin_after: isDone ? null : found.at(-1)!.id })
      .where("subscription", "=", row.id)
  )
  // Of one that is not matched any more the gap goes on, and the next activation begins anew.
  if (isDone && isMatched) yield* end(chain, row)
  return true
})

/** Begins what is left again, each step in a transaction. */
export const rest = Effect.flatMap(Database, ({ transaction }) => SmallSteps.whileMore(transaction(some())))
