/**
 * The balances of HD wallets. A balance is at all times the sum of those unspent outputs in the UTXO set that
 * {@link isCounted} holds of.
 */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import type { MovedCoin, OpenChain, ResolvedBlock } from "../../chain/Projection.ts"
import { Database } from "../../database/Database.ts"
import * as AddressOwners from "./AddressOwners.ts"

/** Whether an unspent output of an address is part of its wallet's balance. */
const isCounted = ({ scanned, since }: AddressOwners.Owner, height: number) =>
  scanned === 1 || since === null || height > since

/** What is added to balances, by wallet. */
class Deltas {
  readonly #sums = new Map<number, bigint>()

  add(wallet: number, amount: bigint) {
    this.#sums.set(wallet, (this.#sums.get(wallet) ?? 0n) + amount)
  }

  get apply() {
    return Effect.forEach(
      this.#sums,
      Effect.fnUntraced(function* ([wallet, delta]) {
        if (delta === 0n) return
        const { defer, query } = yield* Database
        const [row] = yield* query((db) => db.selectFrom("wallet").select("balance").where("id", "=", wallet))
        const balance = (BigInt(row!.balance) + delta).toString()
        yield* defer((db) => db.updateTable("wallet").set({ balance }).where("id", "=", wallet))
      }),
      { discard: true }
    )
  }
}

/** Moves balances with the UTXO set. `paid` are the owners of addresses that the block pays. */
export const applyCoins = Effect.fn("Balances.applyCoins")(function* (
  { id, watched }: OpenChain,
  { created, taken }: Pick<ResolvedBlock, "created" | "taken">,
  paid: AddressOwners.Owners
) {
  const unknown = new Map<string, Uint8Array>()
  for (const { script } of taken) {
    const key = Bytes.key(script)
    if (!paid.has(key) && watched.set.has(script)) unknown.set(key, script)
  }
  const others = yield* AddressOwners.find(id, [...unknown.values()])
  const deltas = new Deltas()
  const count = ({ amount, height, script }: MovedCoin, sign: bigint) => {
    const key = Bytes.key(script)
    for (const owner of paid.get(key) ?? others.get(key) ?? []) {
      if (isCounted(owner, height)) deltas.add(owner.wallet, sign * amount)
    }
  }
  for (const coin of created) count(coin, 1n)
  for (const coin of taken) count(coin, -1n)
  yield* deltas.apply
})

/** Balances without the blocks above a fork: what the UTXO set got in them goes, and what they took comes back. */
const undoCoins = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { query } = yield* Database
  // A wallet whose balance begins anew is left out.
  const counted = sql<boolean>`(a.scanned = 1 or a.since is null or o.height > a.since)
    and (w.scan_height is null or w.scan_height <= ${fork})`
  const deltas = new Deltas()
  const created = yield* query((db) =>
    db
      .selectFrom("unspent_output as o")
      .innerJoin("wallet_address as a", (on) => on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script"))
      .innerJoin("wallet as w", "w.id", "a.wallet")
      .select(["a.wallet", "o.amount"])
      .where("o.chain", "=", chain)
      .where("o.height", ">", fork)
      .where(counted)
  )
  for (const { amount, wallet } of created) deltas.add(wallet, -BigInt(amount))
  const taken = yield* query((db) =>
    db
      .selectFrom("spent_output as o")
      .innerJoin("wallet_address as a", (on) => on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script"))
      .innerJoin("wallet as w", "w.id", "a.wallet")
      .select(["a.wallet", "o.amount"])
      .where("o.chain", "=", chain)
      .where("o.spent_height", ">", fork)
      .where("o.height", "<=", fork)
      .where(counted)
  )
  for (const { amount, wallet } of taken) deltas.add(wallet, BigInt(amount))
  yield* deltas.apply
})

/**
 * Wallets whose coins were looked through in a block that is undone begin anew: coins that were spent before that block
 * are not known.
 */
const beginAnew = Effect.fnUntraced(function* (chain: number, fork: number) {
  const { defer, query } = yield* Database
  const wallets = yield* query((db) =>
    db
      .updateTable("wallet")
      .set({ state: "scanning", balance: "0", scan_height: null })
      .where("chain", "=", chain)
      .where("scan_height", ">", fork)
      .returning("id")
  )
  for (const { id } of wallets) {
    yield* defer((db) => db.updateTable("wallet_address").set({ scanned: 0, since: fork }).where("wallet", "=", id))
  }
})

/** Takes back every block above `fork`, before the UTXO set and the addresses do. */
export const undo = Effect.fnUntraced(function* (chain: number, fork: number) {
  yield* undoCoins(chain, fork)
  yield* beginAnew(chain, fork)
})
