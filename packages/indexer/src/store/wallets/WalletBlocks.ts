/**
 * What blocks do to HD wallets, in the transactions that commit and undo them: addresses come into use and the wallet
 * is watched further, balances move with the output map.
 *
 * A wallet's balance is at all times the sum of those unspent outputs in the map that {@link counts} holds of.
 */

import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type { Watched } from "@headwater/core/events/Watched"
import type { Branch } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as WalletBranches from "./WalletBranches.ts"

type Owner = Pick<
  Row<"wallet_address">,
  "id" | "wallet" | "branch" | "address_index" | "address" | "since" | "scanned" | "used_height"
>

/** An output that came into the map or left it. */
export interface Coin {
  readonly script: Uint8Array
  readonly amount: bigint
  readonly height: number
}

/** Whether an unspent output of an address is part of its wallet's balance. */
const counts = ({ scanned, since }: Pick<Owner, "scanned" | "since">, height: number) =>
  scanned === 1 || since === null || height > since

/** Addresses asked for in one query. */
const lookupSize = 500
/** Wallets whose branches are kept at hand. */
const branchesKept = 1_000

export interface Options {
  readonly chain: Chain
  /** The chain's number in the store. */
  readonly id: number
  /** Unused addresses that are watched behind the last used one of a branch. */
  readonly gapLimit: number
  readonly watched: Watched
}

export const make = Effect.fnUntraced(function* ({ chain, gapLimit, id, watched }: Options) {
  const { insertMany, query, defer } = yield* Database
  const branches = new Map<number, ReadonlyArray<Branch>>()

  const branchesOf = Effect.fnUntraced(function* (wallet: number) {
    const known = branches.get(wallet)
    if (known !== undefined) return known
    const [row] = yield* query((db) =>
      db.selectFrom("wallet").select(["public_key", "derivation", "format"]).where("id", "=", wallet)
    )
    const found = WalletBranches.of(chain, row!)
    if (branches.size >= branchesKept) branches.clear()
    branches.set(wallet, found)
    return found
  })

  /** Who owns addresses, by the key of the address. */
  const ownersOf = Effect.fnUntraced(function* (addresses: ReadonlyArray<Uint8Array>) {
    const found: Array<Owner> = []
    for (let i = 0; i < addresses.length; i += lookupSize) {
      found.push(
        ...(yield* query((db) =>
          db
            .selectFrom("wallet_address")
            .select(["id", "wallet", "branch", "address_index", "address", "since", "scanned", "used_height"])
            .where("chain", "=", id)
            .where("address", "in", addresses.slice(i, i + lookupSize))
        ))
      )
    }
    return Map.groupBy(found, ({ address }) => Bytes.key(address))
  })

  /** Watches a branch as far as the gap reaches behind its address at `used`; whether that is further than before. */
  const extend = Effect.fnUntraced(function* (wallet: number, branch: number, used: number, height: number) {
    const [last] = yield* query((db) =>
      db
        .selectFrom("wallet_address")
        .select("address_index")
        .where("wallet", "=", wallet)
        .where("branch", "=", branch)
        .orderBy("address_index", "desc")
        .limit(1)
    )
    const from = last!.address_index + 1
    const to = used + gapLimit
    if (to < from) return false
    const derived = WalletBranches.derive((yield* branchesOf(wallet))[branch]!, from, to)
    const [revised] = yield* query((db) =>
      db.updateTable("chain").set({ revision: sql<number>`revision + 1` }).where("id", "=", id).returning("revision")
    )
    yield* insertMany(
      "wallet_address",
      derived.map(({ bytes, index }) => ({
        ...{ wallet, chain: id, branch, address_index: index, address: bytes, revision: revised!.revision },
        ...{ since: height - 1, scanned: 0, used_height: null, requested: null }
      }))
    )
    for (const { bytes } of derived) watched.add(bytes)
    return true
  })

  /**
   * Notes which addresses a block uses for the first time, and watches further where that shortens a gap, until no
   * address that was added is paid in the same block. The owners of all addresses that it pays.
   */
  const use = Effect.fn("WalletBlocks.use")(function* (block: Block) {
    const owners = new Map<string, ReadonlyArray<Owner>>()
    while (true) {
      const paid = new Map<string, Uint8Array>()
      for (const transfer of block.transfers) {
        if (transfer.kind !== "coin" || transfer.to === undefined || !watched.has(transfer.to)) continue
        const key = Bytes.key(transfer.to)
        if (!owners.has(key)) paid.set(key, transfer.to)
      }
      const found = yield* ownersOf([...paid.values()])
      for (const key of paid.keys()) owners.set(key, found.get(key) ?? [])
      const used = [...found.values()].flat().filter(({ used_height }) => used_height === null)
      for (let i = 0; i < used.length; i += lookupSize) {
        const ids = used.slice(i, i + lookupSize).map(({ id }) => id)
        yield* defer((db) => db.updateTable("wallet_address").set({ used_height: block.height }).where("id", "in", ids))
      }
      const furthest = new Map<string, Owner>()
      for (const owner of used) {
        const key = `${owner.wallet} ${owner.branch}`
        const before = furthest.get(key)
        if (before === undefined || before.address_index < owner.address_index) furthest.set(key, owner)
      }
      let extended = false
      for (const { address_index, branch, wallet } of furthest.values()) {
        if (yield* extend(wallet, branch, address_index, block.height)) extended = true
      }
      if (!extended) return owners
    }
  })

  const add = (deltas: ReadonlyMap<number, bigint>) =>
    Effect.forEach(
      deltas,
      Effect.fnUntraced(function* ([wallet, delta]) {
        if (delta === 0n) return
        const [row] = yield* query((db) => db.selectFrom("wallet").select("balance").where("id", "=", wallet))
        const balance = (BigInt(row!.balance) + delta).toString()
        yield* defer((db) => db.updateTable("wallet").set({ balance }).where("id", "=", wallet))
      }),
      { discard: true }
    )

  /** Moves balances with the map. `owners` are known already. */
  const move = Effect.fn("WalletBlocks.move")(function* (
    owners: ReadonlyMap<string, ReadonlyArray<Owner>>,
    created: ReadonlyArray<Coin>,
    taken: ReadonlyArray<Coin>
  ) {
    const unknown = new Map<string, Uint8Array>()
    for (const { script } of taken) {
      const key = Bytes.key(script)
      if (!owners.has(key) && watched.has(script)) unknown.set(key, script)
    }
    const others = yield* ownersOf([...unknown.values()])
    const deltas = new Map<number, bigint>()
    const count = ({ amount, height, script }: Coin, sign: bigint) => {
      const key = Bytes.key(script)
      for (const owner of owners.get(key) ?? others.get(key) ?? []) {
        if (counts(owner, height)) deltas.set(owner.wallet, (deltas.get(owner.wallet) ?? 0n) + sign * amount)
      }
    }
    for (const coin of created) count(coin, 1n)
    for (const coin of taken) count(coin, -1n)
    yield* add(deltas)
  })

  /**
   * Takes back every block above `fork`, before the output map does. A wallet whose coins were looked through in a block
   * that is undone begins anew, since coins that were spent before that block are not known.
   */
  const undo = Effect.fn("WalletBlocks.undo")(function* (fork: number, firstHeight: number | null) {
    const deltas = new Map<number, bigint>()
    const sum = (rows: ReadonlyArray<{ readonly wallet: number; readonly amount: string }>, sign: bigint) => {
      for (const { amount, wallet } of rows) deltas.set(wallet, (deltas.get(wallet) ?? 0n) + sign * BigInt(amount))
    }
    const counted = sql<boolean>`(a.scanned = 1 or a.since is null or o.height > a.since)
      and (w.scan_height is null or w.scan_height <= ${fork})`
    sum(
      yield* query((db) =>
        db
          .selectFrom("unspent_output as o")
          .innerJoin("wallet_address as a", (on) =>
            on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script")
          )
          .innerJoin("wallet as w", "w.id", "a.wallet")
          .select(["a.wallet", "o.amount"])
          .where("o.chain", "=", id)
          .where("o.height", ">", fork)
          .where(counted)
      ),
      -1n
    )
    sum(
      yield* query((db) =>
        db
          .selectFrom("spent_output as o")
          .innerJoin("wallet_address as a", (on) =>
            on.onRef("a.chain", "=", "o.chain").onRef("a.address", "=", "o.script")
          )
          .innerJoin("wallet as w", "w.id", "a.wallet")
          .select(["a.wallet", "o.amount"])
          .where("o.chain", "=", id)
          .where("o.spent_height", ">", fork)
          .where("o.height", "<=", fork)
          .where(counted)
      ),
      1n
    )
    yield* add(deltas)

    const anew = yield* query((db) =>
      db
        .updateTable("wallet")
        .set({ state: "scanning", balance: "0", scan_height: null })
        .where("chain", "=", id)
        .where("scan_height", ">", fork)
        .returning("id")
    )
    for (const { id: wallet } of anew) {
      yield* defer((db) =>
        db.updateTable("wallet_address").set({ scanned: 0, since: fork }).where("wallet", "=", wallet)
      )
    }
    yield* defer((db) =>
      db.updateTable("wallet_address").set({ since: fork }).where("chain", "=", id).where("since", ">", fork)
    )
    if (firstHeight !== null && firstHeight - 1 > fork) {
      yield* defer((db) =>
        db.updateTable("wallet_address").set({ since: fork }).where("chain", "=", id).where("since", "is", null)
      )
    }
    yield* defer((db) =>
      db
        .updateTable("wallet_address")
        .set({ used_height: null })
        .where("chain", "=", id)
        .where("used_height", ">", fork)
    )
  })

  return { use, move, undo }
})
