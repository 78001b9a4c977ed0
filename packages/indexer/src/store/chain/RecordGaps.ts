/**
 * The gaps of a chain's record that concern every address: transactions that were not understood, and internal
 * transactions that no node could give. Nobody knows whom they name, so that what an address had before the end of the
 * last gap is not called whole. Skipped blocks are no such gap: the record itself begins anew behind them.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"

/**
 * For each kind of transfers the first block from which on those of every transaction are there, as far as the record
 * reaches; internal ones are undefined where they are not recorded at present.
 */
export interface WholeFrom {
  readonly coin: number
  readonly token: number
  readonly internal: number | undefined
}

const after = (height: number | null) => (height === null ? 0 : height + 1)

export const wholeFrom = Effect.fn("RecordGaps.wholeFrom")(function* (chain: Chain.Chain) {
  const { read } = yield* Database
  const [row] = yield* read((db) =>
    db
      .selectFrom("chain")
      .select((of) => {
        const notUnderstood = (lacks: "lacks_coin" | "lacks_token" | "lacks_internal") =>
          of
            .selectFrom("not_understood as n")
            .select(({ fn }) => fn.max("n.height").as("last"))
            .whereRef("n.chain", "=", "chain.id")
            .where(`n.${lacks}`, "=", sql.lit(1))
        return [
          "internal_from",
          "coins_lost_to",
          notUnderstood("lacks_coin").as("coin"),
          notUnderstood("lacks_token").as("token"),
          notUnderstood("lacks_internal").as("internal"),
          of
            .selectFrom("missing_parts as m")
            .select(({ fn }) => fn.max("m.to_height").as("last"))
            .whereRef("m.chain", "=", "chain.id")
            .where("m.part", "=", "internal")
            .as("untraced")
        ]
      })
      .where("name", "=", Chain.nameOf(chain))
  )
  if (row === undefined) return { coin: 0, token: 0, internal: undefined } satisfies WholeFrom
  const { coin, coins_lost_to: lost, internal, internal_from: from, token, untraced } = row
  return {
    // What moved unseen does not come into the set of coins by a replay.
    coin: Math.max(after(coin), after(lost)),
    token: after(token),
    internal: from === null ? undefined : Math.max(from, after(internal), after(untraced))
  } satisfies WholeFrom
})
