/**
 * Coins that moved where nobody could see: a transaction of a UTXO chain that was not understood may have paid any address,
 * and may have spent any output of the set. From its block on no address's coins are known until a node's coins have been
 * searched; and the set does not have all there are, until a rewind brings the block again.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import { type Coin, keyOf } from "@headwater/core/utxo/Coin"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { ChainRow } from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as WalletCoins from "../wallets/WalletCoins.ts"
import * as Completeness from "./Completeness.ts"
import * as KnownCoins from "./KnownCoins.ts"
import * as UtxoSet from "./UtxoSet.ts"

/** Whether a block has such a transaction. */
export const areIn = ({ notUnderstood = [] }: Pick<Block, "notUnderstood">): boolean =>
  notUnderstood.some(({ lacks }) => lacks.includes("coin"))

/** Takes back, in the block's transaction, what was known of coins. */
export const lose = Effect.fn("LostCoins.lose")(function* (chain: number, { height, parent }: Block) {
  const { defer, insertMany } = yield* Database
  const from = sql<number>`coalesce(coins_lost_from, ${sql.lit(height)})`
  yield* defer((db) =>
    db.updateTable("chain").set({ coins_lost_from: from, coins_lost_to: height }).where("id", "=", chain)
  )
  yield* Completeness.forgetCoins(chain)
  yield* WalletCoins.doubt(chain)
  // What is remembered elsewhere of known coins holds no longer, as after a reorganisation; of which no block left.
  const at = yield* Clock.currentTimeMillis
  yield* insertMany("reorganisation", [{ chain, at, fork_height: height - 1, depth: 0, old_hash: parent }])
})

/** Takes outputs out of the set that a search did not find: spent unseen. Those that it found are `unspent`. */
export const settle = Effect.fnUntraced(function* (
  { coins_lost_from: lost, id }: Pick<ChainRow, "coins_lost_from" | "id">,
  scripts: ReadonlyArray<AddressBytes>,
  unspent: ReadonlyArray<Coin>
) {
  if (lost === null) return
  const found = new Set(unspent.map(({ outpoint }) => keyOf(outpoint)))
  const gone = (yield* UtxoSet.coinsOf(id, scripts)).filter(({ outpoint }) => !found.has(keyOf(outpoint)))
  // At which of the lost blocks is not known; a rewind to below any of them searches these addresses again.
  yield* UtxoSet.spendUnseen(id, gone, lost)
  yield* UtxoSet.unspend(id, unspent, lost)
  yield* WalletCoins.recountOf(
    id,
    gone.map(({ script }) => script)
  )
})

/** Where blocks leave, the first of these among them: the set has again every output, if it had every one before. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer, query } = yield* Database
  const [row] = yield* query((db) =>
    db.selectFrom("chain").select(["all_from", "coins_lost_from"]).where("id", "=", chain)
  )
  if (row === undefined || row.coins_lost_from === null) return
  const none = { coins_lost_from: null, coins_lost_to: null }
  const staysLost = row.coins_lost_from <= fork
  yield* defer((db) =>
    db
      .updateTable("chain")
      .set(staysLost ? { coins_lost_to: fork } : none)
      .where("id", "=", chain)
      .where("coins_lost_to", ">", fork)
  )
  if (staysLost || !KnownCoins.hasAll({ ...row, ...none })) return
  yield* KnownCoins.proveAll(chain)
  yield* WalletCoins.noneBefore(chain)
})
