/**
 * A block that is entered again: checked against what is stored in its place, its facts written anew, and the callbacks
 * that its subscriptions should have had added where they are missing.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Occurrence } from "@headwater/core/events/Matcher"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { Row } from "../database/Tables.ts"
import * as CallbackState from "../subscriptions/CallbackState.ts"
import * as PendingConfirmations from "../subscriptions/PendingConfirmations.ts"

/** What the node shows is not the block that the store has at this height, or the store has none there. */
export class NotRecorded extends Schema.TaggedError<NotRecorded>()("NotRecorded", { message: Schema.String }) {}

type ChainRow = Pick<Row<"chain">, "id" | "height" | "first_height" | "hash">

/** Writes the header, if the block belongs where it stands; a header that is missing must fit the one above it. */
export const header = Effect.fnUntraced(function* (chain: ChainRow, block: Block) {
  const { insertMany, query } = yield* Database
  const { hash, height, parent, time } = block
  if (chain.height === null || chain.hash === null || height > chain.height || height < chain.first_height!) {
    return yield* new NotRecorded({ message: `Block ${height} is not among those that were ever committed` })
  }
  const rows = yield* query((db) =>
    db
      .selectFrom("block")
      .selectAll()
      .where("chain", "=", chain.id)
      .where("height", "in", [height, height + 1])
  )
  const stored = rows.find((row) => row.height === height)
  const expected =
    stored?.hash ?? (height === chain.height ? chain.hash : rows.find((row) => row.height === height + 1)?.parent)
  if (expected !== undefined && !Bytes.equal(expected, hash)) {
    return yield* new NotRecorded({
      message:
        `The node's block ${height} is not the stored one: while a reorganisation is under way, wait for its end; ` +
        "else rewind the chain to below that block"
    })
  }
  if (stored !== undefined && Bytes.equal(stored.parent, parent) && stored.time === time) return
  yield* insertMany(
    "block",
    [{ chain: chain.id, height, hash, parent, time }],
    "on conflict (chain, height) do update set hash = excluded.hash, parent = excluded.parent, time = excluded.time"
  )
})

/**
 * The block of a UTXO chain with a transfer for every input whose coins are known: shown by the node, made in the block
 * itself, or spent by this block so recently that the map still knows. The map itself is left as it is.
 */
export const withSpent = Effect.fnUntraced(function* (chain: number, block: Block) {
  const { query } = yield* Database
  const shown = new Set<string>()
  const coins = new Map<string, { readonly from: AddressBytes; readonly amount: bigint }>()
  const keyOf = (transactionId: Uint8Array, index: number) => `${Buffer.from(transactionId).toString("latin1")}${index}`
  for (const transfer of block.transfers) {
    if (transfer.kind !== "coin") continue
    const { amount, position, to, transaction } = transfer
    if (to === undefined) shown.add(`${transaction}:${position}`)
    else coins.set(keyOf(block.transactions[transaction]!, position), { from: to, amount })
  }
  const spent = yield* query((db) =>
    db.selectFrom("spent_output").selectAll().where("chain", "=", chain).where("spent_height", "=", block.height)
  )
  for (const { amount, output_index, script, transaction_id } of spent) {
    coins.set(keyOf(transaction_id, output_index), { from: script as AddressBytes, amount: BigInt(amount) })
  }
  const found = block.spends.flatMap(({ outpoint, position, transaction }): ReadonlyArray<CoinTransfer> => {
    const coin = coins.get(keyOf(outpoint.transactionId, outpoint.index))
    return coin === undefined || shown.has(`${transaction}:${position}`)
      ? []
      : [{ kind: "coin", transaction, position, to: undefined, ...coin }]
  })
  if (found.length === 0) return block
  return { ...block, transfers: [...block.transfers, ...found].sort((a, b) => a.transaction - b.transaction) }
})

/**
 * Adds the callbacks and waits that are missing; those that exist, in whatever state, stay as they are. Subscriptions
 * that were made after the block have no part in it. How many callbacks were added.
 */
export const enqueue = Effect.fnUntraced(function* (
  chain: ChainRow,
  block: Block,
  occurrences: ReadonlyArray<Occurrence<PendingConfirmations.Subscriber>>,
  now: number
) {
  const { query, defer } = yield* Database
  const ids = [...new Set(occurrences.map(({ subscription }) => subscription.id))]
  if (ids.length === 0) return 0
  const early = new Set(
    (yield* inChunks(ids, (some) =>
      query((db) =>
        db
          .selectFrom("subscription")
          .select("id")
          .where("id", "in", some)
          .where((where) => where.or([where("from_height", "is", null), where("from_height", "<", block.height)]))
      )
    )).map(({ id }) => id)
  )
  const meant = occurrences.filter(({ subscription }) => early.has(subscription.id))
  const { due, pending } = PendingConfirmations.schedule(chain.id, block, meant, chain.height!, now)

  const missing = new Map(due.map((row) => [row.idempotency_key, row]))
  const there = yield* inChunks([...missing.keys()], (some) =>
    query((db) => db.selectFrom("callback").select("idempotency_key").where("idempotency_key", "in", some))
  )
  for (const row of there) missing.delete(row.idempotency_key)
  yield* CallbackState.enter("added", [...missing.values()])

  const waits = yield* query((db) =>
    db
      .selectFrom("waiting")
      .select(["subscription", "occurrence"])
      .where("chain", "=", chain.id)
      .where("height", "=", block.height)
  )
  const waited = new Set(waits.map(({ occurrence, subscription }) => `${subscription} ${occurrence}`))
  const unknown = pending.filter(({ occurrence, subscription }) => !waited.has(`${subscription} ${occurrence}`))
  yield* PendingConfirmations.add(unknown)
  // Whoever commits the next block has to look for what is due.
  if (unknown.length > 0) {
    yield* defer((db) =>
      db.updateTable("chain").set({ revision: sql<number>`revision + 1` }).where("id", "=", chain.id)
    )
  }
  return missing.size
})
