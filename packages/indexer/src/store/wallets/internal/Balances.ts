/** The balances of HD wallets. A balance is at all times the sum of what the UTXO set has of the wallet's addresses. */
import * as Bytes from "@headwater/core/Bytes"
import * as Steps from "@headwater/core/Steps"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import * as TimeSlice from "../../../TimeSlice.ts"
import type { Commit, MovedCoin, OpenChain, ResolvedBlock } from "../../chain/Projection.ts"
import { Database } from "../../database/Database.ts"
import { inChunks } from "../../database/Statements.ts"
import * as AddressOwners from "./AddressOwners.ts"

/** Adds to balances, by wallet. */
export const add = Effect.fnUntraced(function* (deltas: ReadonlyMap<number, bigint>) {
  const { defer, query } = yield* Database
  for (const [wallet, delta] of deltas) {
    if (delta === 0n) continue
    const [row] = yield* query((db) => db.selectFrom("wallet").select("balance").where("id", "=", wallet))
    // The wallet may go with its account meanwhile.
    if (row === undefined) continue
    const balance = (BigInt(row.balance) + delta).toString()
    yield* defer((db) => db.updateTable("wallet").set({ balance }).where("id", "=", wallet))
  }
})

/** Amounts to add to balances. */
class Deltas extends Map<number, bigint> {
  count(wallet: number, amount: bigint) {
    this.set(wallet, (this.get(wallet) ?? 0n) + amount)
  }
}

/** What the blocks of each commit add to balances, which move at the commit's end: nothing reads them before. */
export const deltasOfCommits = () => {
  const known = new WeakMap<Commit, Deltas>()
  return (commit: Commit): Deltas => {
    const before = known.get(commit)
    if (before !== undefined) return before
    const deltas = new Deltas()
    known.set(commit, deltas)
    commit.atEnd(Effect.suspend(() => add(deltas)))
    return deltas
  }
}

/** Counts into `deltas` what the UTXO set gets and gives. `paid` are the owners of addresses that the block pays. */
export const applyCoins = Effect.fn("Balances.applyCoins")(function* (
  { id, watched }: OpenChain,
  { created, taken }: Pick<ResolvedBlock, "created" | "taken">,
  paid: AddressOwners.Owners,
  deltas: Deltas
) {
  const unknown = new Map<string, Uint8Array>()
  yield* TimeSlice.runInTransaction(() =>
    Steps.forEach(taken, ({ script }) => {
      if (!watched.set.has(script)) return
      const key = Bytes.key(script)
      if (!paid.has(key)) unknown.set(key, script)
    })
  )
  const others = yield* AddressOwners.find(id, [...unknown.values()])
  const move = ({ amount, script }: MovedCoin, sign: bigint) => {
    const key = Bytes.key(script)
    for (const { wallet } of paid.get(key) ?? others.get(key) ?? []) deltas.count(wallet, sign * amount)
  }
  yield* TimeSlice.runInTransaction(() => Steps.forEach(created, (coin) => move(coin, 1n)))
  yield* TimeSlice.runInTransaction(() => Steps.forEach(taken, (coin) => move(coin, -1n)))
})

/** Counts the balances of wallets that have any of these addresses anew, after coins have come into the UTXO set. */
export const recount = Effect.fn("Balances.recount")(function* (chain: number, scripts: ReadonlyArray<Uint8Array>) {
  const { defer, query } = yield* Database
  const wallets = yield* inChunks(scripts, (some) =>
    query((db) =>
      db
        .selectFrom("wallet_address")
        .select("wallet")
        .distinct()
        .where("chain", "=", chain)
        .where("address", "in", some)
    )
  )
  for (const wallet of new Set(wallets.map(({ wallet }) => wallet))) {
    const counted = sql<string>`coalesce((
      select cast(sum(cast(o.amount as bigint)) as text)
      from wallet_address a join unspent_output o on o.chain = a.chain and o.script = a.address
      where a.wallet = ${wallet}
    ), '0')`
    yield* defer((db) => db.updateTable("wallet").set({ balance: counted }).where("id", "=", wallet))
  }
})

/**
 * Balances without the blocks above a fork, before the UTXO set leaves them: what the set got in them goes, and what they
 * took comes back.
 */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  const deltas = new Deltas()
  const created = yield* query((db) =>
    db
      .selectFrom("unspent_output as o")
      .innerJoin("wallet_address as a", (on) => on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script"))
      .select(["a.wallet", "o.amount"])
      .where("o.chain", "=", chain)
      .where("o.height", ">", fork)
  )
  for (const { amount, wallet } of created) deltas.count(wallet, -BigInt(amount))
  const taken = yield* query((db) =>
    db
      .selectFrom("spent_output as o")
      .innerJoin("wallet_address as a", (on) => on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script"))
      .select(["a.wallet", "o.amount"])
      .where("o.chain", "=", chain)
      .where("o.spent_height", ">", fork)
      .where("o.height", "<=", fork)
  )
  for (const { amount, wallet } of taken) deltas.count(wallet, BigInt(amount))
  yield* add(deltas)
})
