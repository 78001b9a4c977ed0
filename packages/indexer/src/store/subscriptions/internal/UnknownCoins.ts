/** Whether any subscribed address of a chain has coins that are unknown: only then an unknown input may be one of theirs. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Effect from "effect/Effect"
import * as KnownCoins from "../../chain/KnownCoins.ts"
import * as LostCoins from "../../chain/LostCoins.ts"
import { isMatched } from "../../chain/MatchedSubscriptions.ts"
import type { Commit } from "../../chain/Projection.ts"
import { Database } from "../../database/Database.ts"

/** A transaction in which blocks enter; they are not said where one enters again. */
type Entering = Pick<Commit, "revision" | "foundRevision"> & Partial<Pick<Commit, "blocks">>

export const make = (chain: number) => {
  /** An address with unknown coins: as long as it is one, no other is looked for. */
  let example: AddressBytes | undefined
  /** There is none among the subscriptions of the revisions up to this one. */
  let reached = 0
  /** The last reorganisation, of whatever process: coins that were known before may be unknown again. */
  let reorganisation: number | undefined
  /** The transaction that has looked for it: its blocks follow one another. */
  let lookedIn: Entering | undefined

  const lastReorganisation = Effect.gen(function* () {
    const { query } = yield* Database
    const rows = yield* query((db) =>
      db.selectFrom("reorganisation").select("id").where("chain", "=", chain).orderBy("id", "desc").limit(1)
    )
    return rows[0]?.id
  })

  const isExample = Effect.fnUntraced(function* (address: AddressBytes) {
    const { query } = yield* Database
    if ((yield* KnownCoins.known(chain, [address], Number.MAX_SAFE_INTEGER)).size > 0) return false
    const rows = yield* query((db) =>
      db
        .selectFrom("subscribed_address as s")
        .select("s.id")
        .where("s.chain", "=", chain)
        .where("s.address", "=", address)
        .where(isMatched("s"))
        .limit(1)
    )
    return rows.length > 0
  })

  return {
    /** Whether there may be any at the revision of the transaction. */
    any: Effect.fn("UnknownCoins.any")(function* (entering: Entering) {
      const { blocks, foundRevision, revision } = entering
      // What a block loses is unknown as after a reorganisation.
      if (lookedIn !== entering || blocks === undefined || blocks.some(LostCoins.areIn)) {
        const present = yield* lastReorganisation
        if (present !== reorganisation) reached = 0
        reorganisation = present
        lookedIn = entering
      }
      if (example !== undefined && (yield* isExample(example))) return true
      example = undefined
      // Where every address is proved, millions of subscriptions need not be looked through.
      let end = reached
      if (end < revision && !(yield* KnownCoins.areUnknown(chain))) end = revision
      if (end < revision) {
        const found = yield* KnownCoins.unknown(chain, { after: end, last: revision })
        example = found.addresses[0]
        if (example === undefined) end = found.reached
      }
      // What the transaction itself has added may be taken back.
      reached = Math.max(reached, Math.min(end, foundRevision))
      // Where there are many more to look through, later blocks do.
      return end < revision
    })
  }
}
