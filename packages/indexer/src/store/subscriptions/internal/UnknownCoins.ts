/** Whether any subscribed address of a chain has coins that are unknown: only then an unknown input may be one of theirs. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as KnownCoins from "../../chain/KnownCoins.ts"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import { Database } from "../../database/Database.ts"

/** Revisions that are looked through in one query. */
const revisionsAtATime = 5_000

export const make = (chain: number) => {
  /** One such address: as long as it is one, no other is looked for. */
  let example: AddressBytes | undefined
  /** There is none among the subscriptions of the revisions up to this one. */
  let reached = 0
  /** The last reorganisation, of whatever process: coins that were known before may be unknown again. */
  let reorganisation: number | undefined

  const lastReorganisation = Effect.gen(function* () {
    const { query } = yield* Database
    const rows = yield* query((db) =>
      db.selectFrom("reorganisation").select("id").where("chain", "=", chain).orderBy("id", "desc").limit(1)
    )
    return rows[0]?.id
  })

  const isExample = Effect.fnUntraced(function* (address: AddressBytes) {
    const { query } = yield* Database
    const rows = yield* query((db) =>
      db
        .selectFrom("subscription as s")
        .leftJoin("completeness as c", (on) => on.onRef("c.chain", "=", "s.chain").onRef("c.address", "=", "s.address"))
        .select("s.id")
        .where("s.chain", "=", chain)
        .where("s.address", "=", address)
        .where(isMatched("s"))
        .where("c.coins", "is", null)
        .limit(1)
    )
    return rows.length > 0
  })

  return {
    /** Whether there is any at this revision of the chain; in a transaction. */
    any: Effect.fn("UnknownCoins.any")(function* (revision: number) {
      const present = yield* lastReorganisation
      if (present !== reorganisation) reached = 0
      reorganisation = present
      if (example !== undefined && (yield* isExample(example))) return true
      example = undefined
      // Where every address is proved, millions of subscriptions need not be looked through.
      if (reached < revision && !(yield* KnownCoins.areUnknown(chain))) reached = revision
      while (example === undefined && reached < revision) {
        const last = Math.min(reached + revisionsAtATime, revision)
        const [found] = yield* KnownCoins.unknown(chain, { after: reached, last })
        example = found
        if (found === undefined) reached = last
      }
      return example !== undefined
    })
  }
}
