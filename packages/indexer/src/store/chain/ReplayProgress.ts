/** How far a replay of a chain has come: one row a chain, by which a replay that was killed goes on. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"

/** What is replayed. */
export interface Range {
  /** The first and the last height. */
  readonly from: number
  readonly to: number
  /** Whether callbacks are added. */
  readonly callbacks: boolean
}

export interface ReplayProgress extends Range {
  /** Every block below this height has been replayed. */
  readonly next: number
}

/** The progress of the replay that was begun and has not ended. */
export const find = Effect.fnUntraced(function* (chain: Chain) {
  const { read } = yield* Database
  const found = yield* ChainRow.find(chain)
  if (found === undefined) return undefined
  const [row] = yield* read((db) => db.selectFrom("replay").selectAll().where("chain", "=", found.id))
  if (row === undefined) return undefined
  const { callbacks, from_height: from, next_height: next, to_height: to } = row
  return { from, to, next, callbacks: callbacks === 1 } satisfies ReplayProgress
})

const columnsOf = ({ callbacks, from, to }: Range) => ({
  from_height: from,
  to_height: to,
  callbacks: callbacks ? 1 : 0
})

/** Which row is the one of a range: of two replays of a chain the one that was begun last has the row. */
const isOf = (chain: number, range: Range) => {
  const { callbacks, from_height, to_height } = columnsOf(range)
  return sql<boolean>`chain = ${chain} and from_height = ${from_height} and to_height = ${to_height} and callbacks = ${callbacks}`
}

/** Forgets the replay of a range, unless another one was begun since. */
export const end = Effect.fnUntraced(function* (chain: Chain, range: Range) {
  const { query } = yield* Database
  const id = (yield* ChainRow.find(chain))?.id
  if (id !== undefined) yield* query((db) => db.deleteFrom("replay").where(isOf(id, range)))
})

/** Notes the replay that begins, of a chain of which something is stored; one that was begun before is given up. */
export const begin = Effect.fnUntraced(function* (chain: Chain, progress: ReplayProgress) {
  const { defer, insertMany, transaction } = yield* Database
  const { id } = (yield* ChainRow.find(chain))!
  const row = { chain: id, next_height: progress.next, ...columnsOf(progress) }
  yield* transaction(
    Effect.andThen(
      defer((db) => db.deleteFrom("replay").where("chain", "=", id)),
      insertMany("replay", [row])
    )
  )
})

/** Notes the next height of the replay of a range, unless another one was begun since. */
export const advance = Effect.fnUntraced(function* (chain: Chain, range: Range, next: number) {
  const { query } = yield* Database
  const { id } = (yield* ChainRow.find(chain))!
  yield* query((db) => db.updateTable("replay").set({ next_height: next }).where(isOf(id, range)))
})
