/**
 * The proof by a node's account that an address was never used: a node that has neither nonce, balance nor code of an
 * address at a block proves that no coin ever moved before, so that the history is recorded from the beginning. Tokens come
 * without any of the three, and a contract that ended in the transaction that created it leaves none of them.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import * as BlockRow from "../database/BlockRow.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks, rows } from "../database/Statements.ts"
import * as Completeness from "./Completeness.ts"

/**
 * Addresses of a chain that no node was asked for yet, behind one of them. By both columns of the index that has no others:
 * SQLite would take the primary key for the chain alone, and look at every address.
 */
const unaskedAfter = (chain: RawBuilder<number>, after: Uint8Array) => sql<boolean>`
  (c.chain, c.address) > (${chain}, ${after}) and c.chain <= ${chain}
  and c.coins is null and c.history is not null and ${Completeness.isWatched}`

/** Whether there are any on a row of `chain`. */
export const isWaiting = sql<boolean>`(
  select 1 from completeness c where ${unaskedAfter(sql`chain.id`, new Uint8Array())} order by c.chain, c.address limit 1
) is not null`

/** Watched addresses of an account chain that no node was asked for yet, with the first block of their record. */
export const unasked = Effect.fn("AccountUse.unasked")(function* (
  chain: Chain.Chain,
  limit: number,
  after: Uint8Array = new Uint8Array()
) {
  const { read } = yield* Database
  const row = yield* ChainRow.find(chain)
  if (row === undefined) return []
  return yield* read(
    rows(sql<{ readonly address: AddressBytes; readonly history: number }>`
      select c.address, c.history from completeness c where ${unaskedAfter(sql`${row.id}`, after)}
      order by c.chain, c.address limit ${limit}`)
  )
})

/**
 * Enters what a node has said of addresses after its block at `height`, unless that block has left the chain; those
 * that came to be watched anew since are asked for again. `unused`: the node had neither nonce, balance nor code, so that
 * no coin had moved up to the block; the coins of all others are known as far back as their history.
 */
export const enter = Effect.fn("AccountUse.enter")(function* (
  chain: Chain.Chain,
  { hash, height }: { readonly height: number; readonly hash: Uint8Array },
  answers: ReadonlyArray<{ readonly address: AddressBytes; readonly unused: boolean }>
) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      const { id } = yield* ChainRow.lock(yield* ChainRow.make(chain))
      const block = yield* BlockRow.present(id, height)
      if (block === undefined || !Bytes.equal(block.hash, hash)) return
      const next = height + 1
      for (const unused of [true, false]) {
        const some = answers.filter((answer) => answer.unused === unused).map(({ address }) => address)
        yield* inChunks(some, (addresses) =>
          query((db) =>
            db
              .updateTable("completeness")
              .set((column) => (unused ? { coins: next, history: 0 } : { coins: column.ref("history") }))
              .where("chain", "=", id)
              .where("address", "in", addresses)
              .where("coins", "is", null)
              .where("history", "<=", next)
              .returning("address")
          )
        )
      }
    })
  )
})
