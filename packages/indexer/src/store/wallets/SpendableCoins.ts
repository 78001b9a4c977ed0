/**
 * The coins of HD wallets as transactions are prepared with them: what a wallet has, mined and unspent, and which of the
 * coins an account has reserved for a while by preparing another transaction.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import { type Coin, keyOf } from "@headwater/core/utxo/Coin"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { sql } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database } from "../database/Database.ts"
import { inChunks } from "../database/Statements.ts"
import * as Reservations from "./internal/Reservations.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import { rowOf, type WalletKey } from "./WalletKey.ts"

/** The place of an address in its wallet. */
export interface Place {
  /** 0 for receiving addresses, 1 for change. */
  readonly branch: number
  readonly index: number
}

export interface WalletCoin extends Coin, Place {
  /** When the reservation of the coin ends, in milliseconds since the Unix epoch; undefined where there is none. */
  readonly reservedUntil: number | undefined
}

export interface WalletFunds {
  /** The oldest first. */
  readonly coins: ReadonlyArray<WalletCoin>
  /**
   * The wallet's first unused address for change, of its receiving addresses where it has no others; undefined while none
   * is watched.
   */
  readonly change: (Place & { readonly script: AddressBytes }) | undefined
}

/** A coin was reserved or spent since it was looked at. */
export class CoinsTaken extends Schema.TaggedError<CoinsTaken>()("CoinsTaken", {}) {}

/** The largest coins are looked at, so many of them: more would not fit into a transaction. */
const maxCoins = 10_000

const byAge = (a: Coin, b: Coin) =>
  a.height - b.height ||
  Buffer.compare(a.outpoint.transactionId, b.outpoint.transactionId) ||
  a.outpoint.index - b.outpoint.index

export const make = Effect.fnUntraced(function* (chain: Chain) {
  const database = yield* Database
  const { query, read, transaction } = database

  const addressOf = Effect.fnUntraced(function* (wallet: number, branch: number) {
    const end = yield* WalletAddresses.endOf({ wallet, branch }, "used")
    const [next] = yield* query((db) =>
      db
        .selectFrom("wallet_address")
        .select(["address", "address_index"])
        .where("wallet", "=", wallet)
        .where("branch", "=", branch)
        .where("address_index", ">=", end)
        .orderBy("address_index")
        .limit(1)
    )
    return next && { branch, index: next.address_index, script: next.address as AddressBytes }
  })

  /** The coins of a wallet; undefined where the account has not synced the wallet. */
  const of = Effect.fn("SpendableCoins.of")(
    function* (key: WalletKey) {
      const [wallet] = yield* read(rowOf(key))
      if (wallet === undefined) return undefined
      const now = yield* Clock.currentTimeMillis
      const rows = yield* read((db) =>
        db
          .selectFrom("wallet_address as a")
          .innerJoin("unspent_output as o", (on) =>
            on.onRef("o.chain", "=", "a.chain").onRef("o.script", "=", "a.address")
          )
          .leftJoin("reserved_coin as r", (on) =>
            on
              .on("r.account", "=", key.account)
              .onRef("r.chain", "=", "o.chain")
              .onRef("r.source", "=", "o.transaction_id")
              .onRef("r.number", "=", "o.output_index")
              .on(Reservations.holds(sql.ref("r.until"), now))
          )
          .select(["o.transaction_id", "o.output_index", "o.script", "o.amount", "o.height"])
          .select(["a.branch", "a.address_index", "r.until"])
          .where("a.wallet", "=", wallet.id)
          .orderBy(sql`cast(o.amount as bigint)`, "desc")
          .limit(maxCoins)
      )
      const coins = rows.map(
        (row): WalletCoin => ({
          outpoint: { transactionId: row.transaction_id, index: row.output_index },
          ...{ script: row.script as AddressBytes, amount: BigInt(row.amount), height: row.height },
          ...{ branch: row.branch, index: row.address_index, reservedUntil: row.until ?? undefined }
        })
      )
      const change = yield* addressOf(wallet.id, key.derivation === "bip32" ? 0 : 1)
      return { coins: coins.sort(byAge), change } satisfies WalletFunds as WalletFunds
    },
    Effect.provideService(Database, database)
  )

  /** The place of an address among those that are watched for a wallet; undefined where it is none of them. */
  const placeOf = Effect.fn("SpendableCoins.placeOf")(
    function* (key: WalletKey, script: AddressBytes) {
      const [wallet] = yield* read(rowOf(key))
      if (wallet === undefined) return undefined
      const [place] = yield* read((db) =>
        db
          .selectFrom("wallet_address")
          .select(["branch", "address_index as index"])
          .where("chain", "=", wallet.chain)
          .where("address", "=", script)
          .where("wallet", "=", wallet.id)
      )
      return place satisfies Place | undefined
    },
    Effect.provideService(Database, database)
  )

  /** Those of the outputs, of transactions that no block has yet, that pay addresses of the wallet; their height is 0. */
  const among = Effect.fn("SpendableCoins.among")(
    function* (key: WalletKey, outputs: ReadonlyArray<Omit<Coin, "height">>) {
      const [wallet] = yield* read(rowOf(key))
      if (wallet === undefined) return []
      const now = yield* Clock.currentTimeMillis
      const places = yield* inChunks([...new Set(outputs.map(({ script }) => script))], (some) =>
        read((db) =>
          db
            .selectFrom("wallet_address")
            .select(["address", "branch", "address_index as index"])
            .where("chain", "=", wallet.chain)
            .where("address", "in", some)
            .where("wallet", "=", wallet.id)
        )
      )
      const byAddress = new Map(places.map(({ address, ...place }) => [Bytes.key(address), place]))
      const paid = outputs.flatMap((output) => {
        const place = byAddress.get(Bytes.key(output.script))
        return place === undefined ? [] : { ...output, ...place, height: 0 }
      })
      const reserved = yield* inChunks(paid, (some) =>
        read((db) =>
          db
            .selectFrom("reserved_coin")
            .select(["source", "number", "until"])
            .where("account", "=", key.account)
            .where("chain", "=", wallet.chain)
            .where(
              "source",
              "in",
              some.map(({ outpoint }) => outpoint.transactionId)
            )
            .where(Reservations.holds(sql.ref("until"), now))
        )
      )
      const untils = new Map(
        reserved.map(({ number, source, until }) => [keyOf({ transactionId: source, index: number }), until])
      )
      return paid.map((coin): WalletCoin => ({ ...coin, reservedUntil: untils.get(keyOf(coin.outpoint)) }))
    },
    Effect.provideService(Database, database)
  )

  /** Fails where one of the coins is unspent no more. */
  const refuseSpent = Effect.fnUntraced(function* (id: number, coins: ReadonlyArray<Coin>) {
    const ids = coins.map(({ outpoint }) => outpoint.transactionId)
    const rows = yield* inChunks(ids, (some) =>
      query((db) =>
        db
          .selectFrom("unspent_output")
          .select(["transaction_id", "output_index"])
          .where("chain", "=", id)
          .where("transaction_id", "in", some)
      )
    )
    const unspent = new Set(rows.map((row) => keyOf({ transactionId: row.transaction_id, index: row.output_index })))
    if (!coins.every(({ outpoint }) => unspent.has(keyOf(outpoint)))) return yield* new CoinsTaken()
  })

  /**
   * Reserves coins for an account, all of them or none: of two that want the same coin at once, in whatever process, one
   * fails. Reservations that are over count no more, and are removed by and by. `waiting`: coins that no block has yet.
   */
  const reserve = Effect.fn("SpendableCoins.reserve")(
    function* (account: number, coins: ReadonlyArray<Coin>, millis: number, waiting: ReadonlyArray<Coin> = []) {
      const now = yield* Clock.currentTimeMillis
      const until = now + millis
      yield* transaction(
        Effect.gen(function* () {
          const { id } = (yield* ChainRow.present(chain))!
          yield* refuseSpent(id, coins)
          // In one order for all, or two would wait for each other.
          const rows = [...waiting, ...coins].sort(byAge).map(({ outpoint: { index, transactionId } }) => ({
            ...{ account, chain: id, source: transactionId, number: index, until }
          }))
          const reserved = yield* inChunks(rows, (some) =>
            query((db) =>
              db
                .insertInto("reserved_coin")
                .values(some)
                .onConflict((on) =>
                  on
                    .columns(["account", "chain", "source", "number"])
                    .doUpdateSet({ until })
                    .where(Reservations.isOver(sql.ref("reserved_coin.until"), now))
                )
                .returning("number")
            )
          )
          if (reserved.length < rows.length) return yield* new CoinsTaken()
          yield* Reservations.removeOver(now)
        })
      )
      return until
    },
    Effect.provideService(Database, database)
  )

  return { of, placeOf, among, reserve }
})

export type SpendableCoins = Effect.Success<ReturnType<typeof make>>
