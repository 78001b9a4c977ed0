/**
 * Internal transactions are kept for 14 days (interface section 4.6). Older ones go in small steps between which the
 * chain is written to as ever; of what they moved, the sums stay, since totals of a wallet count them.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { InternalTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { Database } from "../database/Database.ts"
import type { ChainReader } from "./ChainReader.ts"
import type { Record } from "./ChainStore.ts"
import * as TransferLog from "./transfers/TransferLog.ts"

/** 14 days. */
export const keptSeconds = 1_209_600

/** What went to and from an address, in the coin's smallest unit. */
export interface Totals {
  readonly received: bigint
  readonly spent: bigint
}

const nothing: Totals = { received: 0n, spent: 0n }

/** Addresses asked for in one query. */
const lookupSize = 500

/** The sums of what is no longer kept, by the key of their address; those that have none are absent. */
export const totals = Effect.fn("InternalRetention.totals")(function* (
  chain: number,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { query } = yield* Database
  const found = new Map<string, Totals>()
  for (let from = 0; from < addresses.length; from += lookupSize) {
    const rows = yield* query((db) =>
      db
        .selectFrom("pruned_internal")
        .selectAll()
        .where("chain", "=", chain)
        .where("address", "in", addresses.slice(from, from + lookupSize))
    )
    for (const { address, received, spent } of rows) {
      found.set(Bytes.key(address), { received: BigInt(received), spent: BigInt(spent) })
    }
  }
  return found
})

/** Those of the addresses that somebody watches. */
const watched = Effect.fnUntraced(function* (chain: number, addresses: ReadonlyArray<AddressBytes>) {
  const { query } = yield* Database
  const found: Array<AddressBytes> = []
  for (let from = 0; from < addresses.length; from += lookupSize) {
    const rows = yield* query((db) =>
      db
        .selectFrom("subscription")
        .select("address")
        .distinct()
        .where("chain", "=", chain)
        .where("active", "=", 1)
        .where("address", "in", addresses.slice(from, from + lookupSize))
    )
    found.push(...rows.map(({ address }) => address as AddressBytes))
  }
  return found
})

/** Adds transfers to the sums, in the transaction that forgets them. */
const add = Effect.fnUntraced(function* (chain: number, record: Record, transfers: ReadonlyArray<InternalTransfer>) {
  const { insertMany } = yield* Database
  const moved = new Map<string, { readonly address: AddressBytes; received: bigint; spent: bigint }>()
  const of = (address: AddressBytes) => {
    const key = Bytes.key(address)
    const sums = moved.get(key) ?? { address, received: 0n, spent: 0n }
    moved.set(key, sums)
    return sums
  }
  for (const { amount, from, to } of transfers) {
    of(from).spent += amount
    of(to).received += amount
  }
  const all = [...moved.values()].map(({ address }) => address)
  const counted = record === "all" ? all : yield* watched(chain, all)
  const before = yield* totals(chain, counted)
  yield* insertMany(
    "pruned_internal",
    counted.map((address) => {
      const { received, spent } = moved.get(Bytes.key(address))!
      const old = before.get(Bytes.key(address)) ?? nothing
      return { chain, address, received: String(old.received + received), spent: String(old.spent + spent) }
    }),
    "on conflict (chain, address) do update set received = excluded.received, spent = excluded.spent"
  )
})

export interface Options {
  readonly record: Record
  /** Blocks that a reorganisation may undo: they are never forgotten, however old they say they are. */
  readonly undoDepth: number
}

/** The height below which internal transactions are, or are about to be, forgotten; 0 where none are. */
export const horizon = Effect.fn("InternalRetention.horizon")(function* (
  recorded: ChainReader,
  options: Pick<Options, "undoDepth">
) {
  const tip = yield* recorded.tip
  if (tip === undefined) return 0
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  return Math.max(0, Math.min(yield* recorded.heightSince(now - keptSeconds), tip.height - options.undoDepth))
})

/** Forgets what is too old by now. */
export const prune = Effect.fn("InternalRetention.prune")(function* (recorded: ChainReader, options: Options) {
  const { read } = yield* Database
  const below = yield* horizon(recorded, options)
  if (below === 0) return
  const [chain] = yield* read((db) => db.selectFrom("chain").select("id").where("name", "=", recorded.name))
  yield* TransferLog.prune(chain!.id, "internal", below, (transfers) => add(chain!.id, options.record, transfers))
})

/** Prunes once a minute as long as the scope is open. What fails is tried again. */
export const run = (recorded: ChainReader, options: Options) =>
  prune(recorded, options).pipe(
    Effect.catchTag("DatabaseError", (error) =>
      Effect.logWarning(`Forgetting old internal transactions failed: ${error.message}`)
    ),
    Effect.repeat(Schedule.spaced("1 minute")),
    Effect.forkScoped
  )
