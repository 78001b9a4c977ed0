/** Callbacks that ended before a time, in small steps: nothing is sent of them unless somebody asks for that. */
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database, type DatabaseError } from "../../database/Database.ts"
import * as SmallSteps from "../../database/SmallSteps.ts"
import { rows } from "../../database/Statements.ts"
import type { Row } from "../../database/Tables.ts"
import * as CallbackState from "../CallbackState.ts"

export type Ended = Pick<Row<"callback">, "id" | "chain" | "state" | "sequence" | "created" | "delivered">

const states: ReadonlySet<CallbackState.State> = new Set(CallbackState.transitions.prune.from)

/** When a callback ended, in milliseconds since the Unix epoch. */
export const endOf = ({ created, delivered }: Ended) => delivered ?? created

/** Has each step's callbacks that ended before a time, of numbers above `after`, handled; the sum of what that gives. */
export const eachStep = Effect.fnUntraced(function* <R>(
  { after, before }: { readonly after: number; readonly before: number },
  handle: (ended: ReadonlyArray<Ended>) => Effect.Effect<number, DatabaseError, R>
) {
  const { read } = yield* Database
  let from = after
  let count = 0
  while (true) {
    const found = yield* read(
      rows(sql<Ended>`
        select id, chain, state, sequence, created, delivered
        from callback where id > ${from} order by id limit ${SmallSteps.callbacksAtOnce}`)
    )
    const ended = found.filter((callback) => states.has(callback.state) && endOf(callback) < before)
    if (ended.length > 0) count += yield* handle(ended)
    const last = found.at(-1)
    if (last === undefined || found.length < SmallSteps.callbacksAtOnce || last.created >= before) return count
    from = last.id
    // The store is free for others between the steps.
    yield* Effect.sleep("10 millis")
  }
})
