/**
 * Everything that the store has of an account, row by row, but for what would let somebody else act as the account: the
 * hashes of its keys and the secrets of its subscriptions.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import { type RawBuilder, sql } from "kysely"
import { Database, type DatabaseError } from "../database/Database.ts"
import { rows } from "../database/Statements.ts"
import * as SubscribedTo from "../subscriptions/SubscribedTo.ts"

/** A row with the kind of thing that it is. */
export type Line = Readonly<Record<string, unknown>> & { readonly kind: string }

const pageSize = 1_000

interface Part {
  readonly kind: string
  /** From a table that is named `t`. */
  readonly select: RawBuilder<unknown>
}

const part = (kind: string, columns: string, from: string): Part => ({
  kind,
  select: sql.raw(`select ${columns}, t.id as row_id from ${from}`)
})

const withChain = (table: string) => `${table} t join chain on chain.id = t.chain`

/** In the order of the answer. */
const parts: ReadonlyArray<Part> = [
  part("domain", "t.name, t.created, t.verified", "domain t"),
  part(
    "subscription",
    "t.reference_id, chain.name as chain, t.event, t.address, t.callback_url, t.confirmations, t.created, t.active, " +
      "t.deactivation_reasons, t.last_sequence",
    withChain("subscription")
  ),
  part(
    "listed address",
    "subscription.reference_id, chain.name as chain, t.address",
    `${withChain("listed_address")} join subscription on subscription.id = t.subscription and t.left_revision is null`
  ),
  part(
    "extended key",
    "subscription.reference_id, chain.name as chain, t.public_key, t.derivation, t.format, t.window_size",
    `(select extended_key.*, extended_key.subscription as id from extended_key) t
      join chain on chain.id = t.chain join subscription on subscription.id = t.subscription`
  ),
  part(
    "wallet",
    "chain.name as chain, t.public_key, t.derivation, t.format, t.active, t.created, t.balance",
    withChain("wallet")
  ),
  part(
    "synced wallet",
    "chain.name as chain, t.public_key, t.derivation, t.active, t.created, t.birth",
    withChain("synced_wallet")
  ),
  part(
    "synced address",
    "chain.name as chain, t.address, t.active, t.created, t.callback_url, t.birth, t.state",
    withChain("synced_address")
  ),
  part(
    "broadcast",
    "t.transaction_id, chain.name as chain, t.outcome, t.error, t.height, t.created, t.changed",
    withChain("broadcast")
  ),
  part(
    "callback",
    "subscription.reference_id, t.sequence, t.idempotency_key, t.event, t.state, t.created, t.delivered, t.body",
    "every_callback t join subscription on subscription.id = t.subscription"
  ),
  part("credits", "t.entry_key, t.at, t.kind as entry_kind, t.amount, t.results, t.detail", "credit_entry t")
]

/** Addresses as text, in place of bytes; without what only the store needs. */
const lineOf = (kind: string, row: Readonly<Record<string, unknown>>): Line => {
  const { address, row_id: _, transaction_id, ...others } = row
  const chain = typeof row.chain === "string" ? Chain.ofName(row.chain) : undefined
  const id =
    transaction_id instanceof Uint8Array && chain !== undefined ? Hash.encode(chain, transaction_id) : undefined
  const rest = { ...others, ...(id === undefined ? {} : { transaction_id: id }) }
  if (!("address" in row)) return { ...rest, kind }
  const about = SubscribedTo.of(chain, { address: address as Uint8Array | null, event: String(row.event) })
  const subscribed = about.transactionId === undefined ? {} : { transaction_id: about.transactionId }
  return { ...rest, kind, address: about.address, ...subscribed }
}

/** Gives each row to `print`, a page of one table at a time; what changes meanwhile may be told as before or after. */
export const run = Effect.fn("AccountExport.run")(function* <E, R>(
  account: number,
  print: (line: Line) => Effect.Effect<void, E, R>
): Effect.fn.Return<void, E | DatabaseError, R | Database> {
  const { read } = yield* Database
  for (const { kind, select } of parts) {
    const owner = ["callback", "listed address", "extended key"].includes(kind)
      ? sql.raw("subscription.account")
      : sql.raw("t.account")
    let after = 0
    while (true) {
      const page = yield* read(
        rows(sql<Readonly<Record<string, unknown>> & { readonly row_id: number }>`
          ${select} where ${owner} = ${account} and t.id > ${after} order by t.id limit ${sql.lit(pageSize)}`)
      )
      for (const row of page) yield* print(lineOf(kind, row))
      if (page.length < pageSize) break
      after = page.at(-1)!.row_id
    }
  }
})
