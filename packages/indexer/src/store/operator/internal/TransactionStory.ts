/**
 * What the store has of a transaction by its id. No index has the ids of all transactions: outputs and broadcasts are found
 * by them, callbacks among those of the transaction's block where the block is known, else among the newest ones.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Amount from "@headwater/core/Amount"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import { rows } from "../../database/Statements.ts"
import * as CallbackSummary from "./CallbackSummary.ts"
import * as HashText from "./HashText.ts"
import { inOrder, moment } from "./Moment.ts"
import * as Page from "./Page.ts"
import * as Parts from "./Parts.ts"
import * as Scope from "./Scope.ts"

/** Callbacks among which those of a transaction are looked for. */
const lookLimit = 20_000

const outputsOf = Effect.fnUntraced(function* (chain: Chain.Chain, id: number, transaction: Uint8Array) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("unspent_output")
      .select(["output_index", "script", "amount", "height"])
      .where("chain", "=", id)
      .where("transaction_id", "=", transaction)
      .orderBy("output_index")
      .limit(Page.size)
  )
  return found.map(({ amount, height, output_index, script }) => ({
    ...{ number: output_index, height, amount: Amount.format(BigInt(amount), chain.decimals), spent: false },
    address: Address.encode(chain, script as AddressBytes) ?? null
  }))
})

const broadcastsOf = Effect.fnUntraced(function* (chain: number, transaction: Uint8Array, scope: Scope.Scope) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("broadcast")
      .innerJoin("account", "account.id", "broadcast.account")
      .select(["account.name as account", "outcome", "error", "height", "broadcast.created"])
      .where("chain", "=", chain)
      .where("transaction_id", "=", transaction)
      .$if(scope !== undefined, (select) => select.where("broadcast.account", "=", scope!))
      .limit(Page.size)
  )
})

/** What was not understood of the transaction, of a block that is known. */
const doubtsOf = Effect.fnUntraced(function* (chain: number, transaction: Uint8Array, height: number | undefined) {
  const { read } = yield* Database
  if (height === undefined) return []
  const reasonsOf = (table: "not_understood" | "unresolved_event") =>
    read((db) =>
      db
        .selectFrom(table)
        .select("reason")
        .where("chain", "=", chain)
        .where("height", "=", height)
        .where("transaction_id", "=", transaction)
        .limit(Page.size)
    )
  const unread = yield* reasonsOf("not_understood")
  const unresolved = yield* reasonsOf("unresolved_event")
  return [
    ...unread.map(({ reason }) => `Not understood in full: ${reason}`),
    ...unresolved.map(({ reason }) => `An amount is in doubt: ${reason}`)
  ]
})

/** The newest callbacks of an account: by the feed's indexes those without a position, which are the newest, then those with one. */
const newestOf = (account: number) => {
  const own = sql`select id, body from every_callback where account = ${account}`
  return sql`
    select * from (${own} and feed_position is null order by id desc limit ${lookLimit}) unplaced
    union all
    select * from (${own} and feed_position is not null order by feed_position desc limit ${lookLimit}) placed`
}

/** Callbacks that name the transaction, among the first of some. */
const callbacksOf = Effect.fnUntraced(function* (among: RawBuilder<unknown>, text: string) {
  const { read } = yield* Database
  const found = yield* read(
    rows(
      sql<CallbackSummary.SummaryRow>`${CallbackSummary.select(sql`
        select id from (${among} limit ${lookLimit}) looked
        where body like ${`%"transactionId":"${text}"%`} limit ${Page.size}`)} order by c.id`
    )
  )
  return found.map(CallbackSummary.of)
})

/** The story of a transaction; undefined where there is no such chain, or the text is no id. */
export const read = Effect.fnUntraced(function* (
  chainName: string,
  text: string,
  scope: Scope.Scope,
  parts = Parts.all
) {
  const chain = Chain.ofName(chainName)
  const transaction = HashText.decode(text)
  const row = chain === undefined ? undefined : yield* ChainRow.find(chain)
  if (chain === undefined || transaction === undefined || row === undefined) return undefined
  const id = Hash.encode(chain, transaction)
  // Outputs are recorded for whoever has them; an account is told of its own callbacks and broadcasts.
  const outputs = scope === undefined ? yield* outputsOf(chain, row.id, transaction) : []
  const broadcasts = parts.broadcasts ? yield* broadcastsOf(row.id, transaction, scope) : []
  const height = outputs[0]?.height ?? broadcasts.find((one) => one.height !== null)?.height ?? undefined
  const own = Scope.and(scope, "account")
  const callbacks =
    height === undefined
      ? yield* callbacksOf(
          scope === undefined
            ? sql`select id, body from every_callback where chain = ${row.id} and height is not null order by height desc`
            : newestOf(scope),
          id
        )
      : yield* callbacksOf(
          sql`select id, body from every_callback where chain = ${row.id} and height = ${height} ${own}`,
          id
        )
  const block = height ?? callbacks.find((one) => one.height !== null)?.height ?? undefined
  const doubts = scope === undefined ? yield* doubtsOf(row.id, transaction, block) : []
  const found = outputs.length + broadcasts.length + callbacks.length > 0
  return {
    ...{ chain: chainName, id, found, height: block ?? null, source: found ? "store" : null },
    outputs: outputs.map(({ height: _, ...output }) => output),
    broadcasts: broadcasts.map((one) => ({ ...one, created: Number(one.created) })),
    ...{ doubts, callbacks, complete: height !== undefined && callbacks.length < Page.size },
    moments: inOrder([
      ...broadcasts.map(({ account, created, error, outcome }) =>
        moment("event", Number(created), `Broadcast for ${account}: ${outcome}`, error)
      ),
      ...callbacks.flatMap(({ account, created, delivered, event }) => [
        moment("event", created, `${event} for ${account}`),
        ...(delivered === null ? [] : [moment("good", delivered, `${event} received`, account)])
      ])
    ]),
    notKept: [
      "Transfers are recorded by address, not by transaction: the story of an address has more",
      ...(chain.ledger === "outputs" && scope === undefined ? ["Outputs are shown as long as they are unspent"] : []),
      ...(height === undefined
        ? [`The block is not known from the id: callbacks were looked for among the newest ${lookLimit}`]
        : [])
    ]
  }
})
