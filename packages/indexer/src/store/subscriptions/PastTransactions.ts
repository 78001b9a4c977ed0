/**
 * Transactions that subscriptions are for, and that were mined before there was the subscription. Blocks above the height of
 * the chain at which a subscription was made are matched against it; for the others the nodes are asked where the transaction
 * is, until they have said so, or that they do not have it.
 *
 * Nothing is told twice: the callback has the key that a commit of the block would have given it.
 */
import type { BlockHeader } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Callback from "@headwater/core/events/Callback"
import * as MinedTransactions from "@headwater/core/events/MinedTransactions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { isOfTransaction } from "../chain/TransactionSubscriptions.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as MissedCallbacks from "./internal/MissedCallbacks.ts"
import * as Subscribers from "./Subscribers.ts"
import * as UndoneBlocks from "./UndoneBlocks.ts"

/** A transaction that is to be looked for. */
export interface Look extends Pick<Row<"transaction_look">, "absences" | "next_look" | "subscription"> {
  readonly transactionId: Uint8Array
  /** The last block that the subscription was not matched against; null where no block was committed yet. */
  readonly from_height: number | null
}

/** In the transaction that makes subscriptions: the transactions that they are for are to be looked for. */
export const begin = Effect.fnUntraced(function* (
  subscriptions: ReadonlyArray<Pick<Row<"subscription">, "event" | "reference_id">>
) {
  const references = subscriptions.filter(isOfTransaction).map(({ reference_id }) => reference_id)
  if (references.length === 0) return
  const { query, texts } = yield* Database
  yield* query(
    rows(sql`
      insert into transaction_look (subscription, chain, next_look)
      select id, chain, 0 from subscription where reference_id in ${texts(references)}`)
  )
})

/** Whether any transaction of a row of `chain` is to be looked for. */
export const isWaiting = sql<boolean>`(
  select min(next_look) from transaction_look l where l.chain = chain.id
) <= chain.height`

/** Some of those to be looked for at this height of the chain, behind the one that was the last before. */
export const toLookFor = Effect.fn("PastTransactions.toLookFor")(function* (
  chain: number,
  height: number,
  limit: number,
  last?: Look
) {
  const { read } = yield* Database
  const behind =
    last === undefined ? sql`1 = 1` : sql`(l.next_look, l.subscription) > (${last.next_look}, ${last.subscription})`
  return yield* read(
    rows(sql<Look>`
      select l.subscription, l.next_look, l.absences, s.address as "transactionId", s.from_height
      from transaction_look l join subscription s on s.id = l.subscription
      where l.chain = ${chain} and l.next_look <= ${height} and ${behind}
      order by l.next_look, l.subscription limit ${limit}`)
  )
})

/**
 * Takes note that nothing could be told of a transaction at this height of the chain; `absences`: how often in a row no node
 * had it. Undefined: nobody looks for it any more, as blocks that come are matched against the subscription.
 */
export const miss = Effect.fn("PastTransactions.miss")(function* (
  { subscription }: Look,
  height: number,
  absences: number | undefined
) {
  const { query, transaction } = yield* Database
  yield* transaction(
    Effect.gen(function* () {
      if (absences === undefined) {
        return void (yield* query((db) => db.deleteFrom("transaction_look").where("subscription", "=", subscription)))
      }
      yield* query((db) =>
        db
          .updateTable("transaction_look")
          .set({ absences, next_look: height + 1 })
          .where("subscription", "=", subscription)
          .where("next_look", "<=", height)
      )
    })
  )
})

/** The header of a block as it was committed; undefined where the chain has another one there, or none was. */
export const headerOf = Effect.fnUntraced(function* (
  chain: number,
  { hash, height }: Pick<BlockHeader, "hash" | "height">
) {
  const { read } = yield* Database
  const [stored] = yield* read((db) =>
    db
      .selectFrom("block")
      .select(["height", "hash", "parent", "time"])
      .where("chain", "=", chain)
      .where("height", "=", height)
  )
  return stored !== undefined && Bytes.equal(stored.hash, hash) ? stored : undefined
})

/** Whether the block is the one that the chain has at its height, and nothing of that height is to be taken back first. */
const isOfChain = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, { hash, height }: BlockHeader) {
  if (chain.height === null || height > chain.height) return false
  const { query } = yield* Database
  const [stored] = yield* query((db) =>
    db.selectFrom("block").select("hash").where("chain", "=", chain.id).where("height", "=", height)
  )
  // Blocks before the first one that was committed are as the node says.
  if (stored !== undefined && !Bytes.equal(stored.hash, hash)) return false
  return !(yield* UndoneBlocks.mayReach(chain.id, height))
})

/**
 * Tells subscriptions of a block that has their transactions, unless its commit has; whether the block is part of the chain:
 * else nothing is done.
 */
export const tell = Effect.fn("PastTransactions.tell")(function* (
  chain: Chain,
  block: BlockHeader,
  { subscription: id, transactionId }: Look
) {
  const { query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      const row = yield* ChainRow.lock((yield* ChainRow.present(chain))!.id)
      if (!(yield* isOfChain(row, block))) return false
      const [subscription] = yield* query((db) =>
        db
          .selectFrom("subscription")
          .select([...Subscribers.columns, "from_height"])
          .where("id", "=", id)
      )
      if (subscription !== undefined && (subscription.from_height ?? block.height) >= block.height) {
        const { from_height: _, ...subscriber } = subscription
        const occurrence = {
          subscription: Subscribers.toSubscriber(subscriber),
          occurrence: MinedTransactions.occurrenceOf(Buffer.from(transactionId).toString("hex")),
          item: Callback.transactionItem(chain, block, transactionId)
        }
        yield* MissedCallbacks.addEarlier(row.id, block, [occurrence], yield* Clock.currentTimeMillis)
      }
      yield* query((db) => db.deleteFrom("transaction_look").where("subscription", "=", id))
      return true
    })
  )
})
