/** Sums of the internal transactions that are no longer kept one by one: totals of a wallet count them. */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { InternalTransfer } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import type { CoinTotals } from "./CoinTotals.ts"
import * as Completeness from "./Completeness.ts"
import type { RecordingMode } from "./RecordingMode.ts"

const nothing: CoinTotals = { received: 0n, spent: 0n }

/** The sums, by the key of their address; addresses that have none are absent. */
export const totals = Effect.fn("PrunedInternal.totals")(function* (
  chain: number,
  addresses: ReadonlyArray<AddressBytes>
) {
  const { query } = yield* Database
  const rows = yield* inChunks(addresses, (some) =>
    query((db) => db.selectFrom("pruned_internal").selectAll().where("chain", "=", chain).where("address", "in", some))
  )
  return new Map(
    rows.map(({ address, received, spent }): [string, CoinTotals] => [
      Bytes.key(address),
      { received: BigInt(received), spent: BigInt(spent) }
    ])
  )
})

/** Adds transfers to the sums, in the transaction that forgets the transfers. */
export const add = Effect.fnUntraced(function* (
  chain: number,
  record: RecordingMode,
  transfers: ReadonlyArray<InternalTransfer>
) {
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
  const counted = record === "all" ? all : yield* Completeness.watched(chain, all)
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
