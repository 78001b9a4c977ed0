/** Wallets and single addresses whose past is being looked for, with how far that has come. */
import * as Address from "@headwater/core/address/Address"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import { sql } from "kysely"
import { Database } from "../../database/Database.ts"
import * as Page from "./Page.ts"

export interface Sync {
  readonly chain: string
  readonly account: string
  /** An address, or the extended public key of a wallet. */
  readonly subject: string
  /** For people. */
  readonly state: string
  /** The blocks whose logs are yet to be read; null where no logs are read. */
  readonly next: number | null
  readonly last: number | null
}

/** Wallets of the chains whose nodes know of any address what it holds. */
const searched = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .innerJoin("account", "account.id", "wallet.account")
      .select(["chain.name as chain", "account.name as account", "wallet.public_key", "wallet.scan_height"])
      .where("wallet.state", "=", "scanning")
      .orderBy("wallet.id")
      .limit(Page.size)
  )
  return rows.map(({ account, chain, public_key, scan_height }): Sync => {
    const ledger = Chain.ofName(chain)?.ledger
    const state =
      ledger === "accounts"
        ? "accounts are looked for"
        : scan_height === null
          ? "coins are looked for; no balance yet"
          : "coins of further addresses are looked for; the balance is known"
    return { chain, account, subject: public_key, state, next: null, last: null }
  })
})

const readState = (tokens: number, addresses: number) =>
  tokens > 0
    ? `tokens of ${tokens === 1 ? "1 address" : `${tokens} addresses`} are read`
    : `coins of ${addresses === 1 ? "1 address" : `${addresses} addresses`} are looked for`

/** Wallets whose addresses are read one by one. */
const wallets = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("synced_address as a")
      .innerJoin("synced_wallet as w", "w.id", "a.wallet")
      .innerJoin("chain", "chain.id", "a.chain")
      .innerJoin("account", "account.id", "a.account")
      .select(["w.id", "chain.name as chain", "account.name as account", "w.public_key"])
      .select(({ fn }) => [
        fn.countAll<number>().as("addresses"),
        fn.sum<number>((of) => of.case().when("a.state", "=", "tokens").then(1).else(0).end()).as("tokens"),
        fn.min("a.next_height").as("next"),
        fn.max("a.last_height").as("last")
      ])
      .where("a.active", "=", sql.lit(1))
      .where("a.state", "!=", "synced")
      .groupBy(["w.id", "chain.name", "account.name", "w.public_key"])
      .orderBy("w.id")
      .limit(Page.size)
  )
  return rows.map(({ account, addresses, chain, last, next, public_key, tokens }): Sync => {
    const reads = Number(tokens) > 0
    return {
      ...{ chain, account, subject: public_key, state: readState(Number(tokens), addresses) },
      ...{ next: reads ? next : null, last: reads ? last : null }
    }
  })
})

const addresses = Effect.gen(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("synced_address as a")
      .innerJoin("chain", "chain.id", "a.chain")
      .innerJoin("account", "account.id", "a.account")
      .select([
        "chain.name as chain",
        "account.name as account",
        "a.address",
        "a.state",
        "a.next_height",
        "a.last_height"
      ])
      .where("a.wallet", "=", 0)
      .where("a.active", "=", sql.lit(1))
      .where("a.state", "!=", "synced")
      .orderBy("a.id")
      .limit(Page.size)
  )
  return rows.map(({ account, address, chain, last_height, next_height, state }): Sync => {
    const found = Chain.ofName(chain)
    const text = found === undefined ? undefined : Address.encode(found, address as AddressBytes)
    const reads = state === "tokens"
    return {
      ...{ chain, account, subject: text ?? "", state: readState(reads ? 1 : 0, 1) },
      ...{ next: reads ? next_height : null, last: reads ? last_height : null }
    }
  })
})

/** A page of them, wallets first. */
export const read = Effect.fn("SyncList.read")(function* () {
  const all = [...(yield* searched), ...(yield* wallets), ...(yield* addresses)]
  return all.slice(0, Page.size)
})
