/** Committed blocks that subscriptions on extended public keys are yet to be told of, since they paid addresses too early. */
import * as Effect from "effect/Effect"
import { Database } from "../../database/Database.ts"

/** The heights from one to another, both among them. */
export const range = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)

/** Blocks of which a subscription is to be told what it was not told yet. */
export const add = Effect.fnUntraced(function* (chain: number, subscription: number, heights: ReadonlyArray<number>) {
  const { insertMany } = yield* Database
  yield* insertMany(
    "past_payment",
    heights.map((height) => ({ chain, height, subscription })),
    "on conflict do nothing"
  )
})

/** The first such block above a height. */
export const after = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const [next] = yield* query((db) =>
    db
      .selectFrom("past_payment")
      .select("height")
      .where("chain", "=", chain)
      .where("height", ">", height)
      .orderBy("height")
      .limit(1)
  )
  return next?.height
})

/** The subscriptions that are to be told of a block. */
export const at = Effect.fnUntraced(function* (chain: number, height: number) {
  const { query } = yield* Database
  const found = yield* query((db) =>
    db.selectFrom("past_payment").select("subscription").where("chain", "=", chain).where("height", "=", height)
  )
  return found.map(({ subscription }) => subscription)
})

/** They have been told. */
export const remove = Effect.fnUntraced(function* (
  chain: number,
  height: number,
  subscriptions: ReadonlyArray<number>
) {
  const { query } = yield* Database
  yield* query((db) =>
    db
      .deleteFrom("past_payment")
      .where("chain", "=", chain)
      .where("height", "=", height)
      .where("subscription", "in", subscriptions)
  )
})
