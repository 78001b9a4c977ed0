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
import * as BlockRow from "../database/BlockRow.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import * as DueAccounts from "../database/DueAccounts.ts"
import { rows } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as MissedCallbacks from "./internal/MissedCallbacks.ts"
import * as Subscribers from "./Subscribers.ts"
import * as UndoneBlocks from "./UndoneBlocks.ts"

/** A transaction that is to be looked for. */
export interface Look
  extends Pick<Row<"transaction_look">, "absences" | "account" | "doubts" | "next_look" | "subscription"> {
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
      insert into transaction_look (subscription, chain, account, next_look)
      select id, chain, account, 0 from subscription where reference_id in ${texts(references)}`)
  )
})

/** Whether any transaction of a row of `chain` is to be looked for. */
export const isWaiting = sql<boolean>`(
  select min(next_look) from transaction_look l where l.chain = chain.id
) <= chain.height`

/** What is to be looked for at this height of the chain, account by account. */
export const queue = (chain: number, height: number): DueAccounts.Queue<Look> =>
  DueAccounts.queue(
    {
      ...{ table: "transaction_look", number: "subscription" },
      select: `
        select own.subscription, own.account, own.next_look, own.absences, own.doubts, s.address as "transactionId", s.from_height
        from transaction_look own join subscription s on s.id = own.subscription`,
      placeOf: ({ account, next_look, subscription }) => ({ account, next: next_look, id: subscription })
    },
    { chain, height }
  )

/** A transaction of which nothing could be told at a height of the chain. */
export interface Missed {
  readonly look: Look
  readonly height: number
  /** Undefined: nobody looks for it any more, as blocks that come are matched against the subscription. */
  readonly counts: Pick<Look, "absences" | "doubts"> | undefined
}

/** Takes note of transactions of which nothing could be told. */
export const miss = Effect.fn("PastTransactions.miss")(function* (missed: ReadonlyArray<Missed>) {
  if (missed.length === 0) return
  const { numbers, query, transaction } = yield* Database
  const alike = Map.groupBy(missed, ({ counts, height }) => `${counts?.absences} ${counts?.doubts} ${height}`)
  yield* transaction(
    Effect.forEach(
      [...alike.values()],
      Effect.fnUntraced(function* (some) {
        const { counts, height } = some[0]!
        const ids = some.map(({ look }) => look.subscription)
        // Who has looked at a later height knows better.
        const those = sql`subscription in ${numbers(ids)} and next_look <= ${height}`
        yield* query(
          counts === undefined
            ? rows(sql`delete from transaction_look where ${those}`)
            : rows(sql`
                update transaction_look
                set absences = ${counts.absences}, doubts = ${counts.doubts}, next_look = ${height + 1} where ${those}`)
        )
      })
    )
  )
})

/** The header of a block as it was committed; undefined where the chain has another one there, or none was. */
export const headerOf = Effect.fnUntraced(function* (
  chain: number,
  { hash, height }: Pick<BlockHeader, "hash" | "height">
) {
  const stored = yield* BlockRow.find(chain, height)
  return stored !== undefined && Bytes.equal(stored.hash, hash) ? stored : undefined
})

/** Whether the block is the one that the chain has at its height, and nothing of that height is to be taken back first. */
const isOfChain = Effect.fnUntraced(function* (chain: ChainRow.ChainRow, { hash, height }: BlockHeader) {
  if (chain.height === null || height > chain.height) return false
  const stored = yield* BlockRow.present(chain.id, height)
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
  looks: ReadonlyArray<Look>
) {
  const { numbers, query, transaction } = yield* Database
  const ids = looks.map(({ subscription }) => subscription)
  return yield* transaction(
    Effect.gen(function* () {
      const row = yield* ChainRow.lock((yield* ChainRow.present(chain))!.id)
      if (!(yield* isOfChain(row, block))) return false
      const found = yield* query((db) =>
        db
          .selectFrom("subscription")
          .select([...Subscribers.columns, "from_height"])
          .where("id", "in", ids)
          .orderBy("id")
      )
      const occurrences = found
        .filter(({ from_height }) => (from_height ?? block.height) >= block.height)
        .map(({ from_height: _, ...subscriber }) => {
          const transactionId = subscriber.address!
          return {
            subscription: Subscribers.toSubscriber(subscriber),
            occurrence: MinedTransactions.occurrenceOf(Buffer.from(transactionId).toString("hex")),
            item: Callback.transactionItem(chain, block, transactionId)
          }
        })
      yield* MissedCallbacks.addEarlier(row.id, block, occurrences, yield* Clock.currentTimeMillis)
      yield* query(rows(sql`delete from transaction_look where subscription in ${numbers(ids)}`))
      return true
    })
  )
})
