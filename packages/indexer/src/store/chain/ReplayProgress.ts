/** How far a replay of a chain has come: one row a chain, by which a replay that was killed goes on. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"

export interface ReplayProgress {
  /** The first and the last height. */
  readonly from: number
  readonly to: number
  /** Every block below this height has been replayed. */
  readonly next: number
  /** Whether callbacks are added. */
  readonly callbacks: boolean
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

/** Forgets the replay that was begun, if there is one. */
export const end = Effect.fnUntraced(function* (chain: Chain) {
  const { defer } = yield* Database
  const id = (yield* ChainRow.find(chain))?.id
  if (id !== undefined) yield* defer((db) => db.deleteFrom("replay").where("chain", "=", id))
})

/** Notes the replay that begins, of a chain of which something is stored; one that was begun before is given up. */
export const begin = Effect.fnUntraced(function* (chain: Chain, { callbacks, from, next, to }: ReplayProgress) {
  const { insertMany, transaction } = yield* Database
  const id = (yield* ChainRow.find(chain))!.id
  const row = { chain: id, from_height: from, to_height: to, next_height: next, callbacks: callbacks ? 1 : 0 }
  yield* transaction(Effect.andThen(end(chain), insertMany("replay", [row])))
})

/** Notes the next height of the replay that was begun. */
export const advance = Effect.fnUntraced(function* (chain: Chain, next: number) {
  const { query } = yield* Database
  const id = (yield* ChainRow.find(chain))!.id
  yield* query((db) => db.updateTable("replay").set({ next_height: next }).where("chain", "=", id))
})
