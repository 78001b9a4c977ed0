/**
 * The HD wallets that accounts have synced.
 *
 * Addresses are added as subscriptions are: under the lock of the chain's row, with its revision counted up, so that
 * every block committed from then on is matched against all of them. What was paid to them before is found by
 * {@link WalletCoins}, and until it has been the wallet has no balance to tell.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import { nameOf } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as WalletBranches from "./WalletBranches.ts"

/** What tells a wallet from every other: equal for every text of the same key. */
export interface WalletKey {
  readonly account: number
  readonly chain: Chain
  /** As {@link ExtendedPublicKey.encode} writes it. */
  readonly publicKey: string
  readonly derivation: Derivation.Derivation
  readonly format: Derivation.Format
}

export interface Wallet {
  /** In the coin's smallest unit, of all blocks up to the chain's last committed one. */
  readonly balance: bigint
  /** `scanning`: coins from before the wallet was synced are yet to be found, so the balance is not whole. */
  readonly state: "scanning" | "synced"
  /**
   * From which height on the record is complete: every coin that was unspent at `height` and everything since, or, with
   * `coins` false, only what has happened since. Undefined while it is scanning, and where no block was committed yet.
   */
  readonly complete: { readonly height: number; readonly coins: boolean } | undefined
}

/** Coins from before are still being looked for. */
export class WalletScanning extends Schema.TaggedError<WalletScanning>()("WalletScanning", {}) {}

/** Addresses a call of `deriveAndSync` answers. */
export const batchSize = 100

/** Finds the key of a wallet in what its owner has written; fails with the rule that it breaks. */
export const keyOf = (
  account: number,
  chain: Chain,
  text: string,
  derivation: Derivation.Derivation
): Result.Result<WalletKey, ExtendedPublicKey.InvalidExtendedPublicKey | Derivation.InvalidDerivation> =>
  Result.gen(function* () {
    const key = yield* ExtendedPublicKey.decode(chain, text)
    const format = Derivation.defaultFormat(chain, key)
    yield* Derivation.branch(chain, key, { derivation, format })
    return { account, chain, derivation, format, publicKey: ExtendedPublicKey.encode(chain, key) }
  })

/** How a change of the store is run: alone, or with what has to be stored together with it. */
export type Within<E, R> = <A, E2, R2>(
  change: Effect.Effect<A, E2, R2>,
  results: (changed: A) => number
) => Effect.Effect<A, E | E2, R | R2>

export class Wallets extends Context.Service<
  Wallets,
  {
    /**
     * Derives the next {@link batchSize} receiving addresses of a wallet, from one past the last that is known to have
     * been paid, and watches them with as many for change; makes the wallet at the first time.
     */
    readonly deriveAndSync: <E, R>(
      key: WalletKey,
      gapLimit: number,
      within: Within<E, R>
    ) => Effect.Effect<ReadonlyArray<Derivation.DerivedAddress>, WalletScanning | E | DatabaseError, R>
    /** Undefined where the account has not synced it. */
    readonly get: (key: WalletKey) => Effect.Effect<Wallet | undefined, DatabaseError>
  }
>()("@headwater/indexer/store/wallets/Wallets") {
  static readonly layer = Layer.effect(
    Wallets,
    Effect.suspend(() => make)
  )
}

/** The wallet was paid between the derivation of its addresses and their storing. */
class Outdated extends Schema.TaggedError<Outdated>()("Outdated", {}) {}

const receiving = 0

const make = Effect.gen(function* () {
  const database = yield* Database
  const { insertMany, query, transaction } = database

  const find = (run: Database["Service"]["query"], { account, chain, derivation, format, publicKey }: WalletKey) =>
    Effect.map(
      run((db) =>
        db
          .selectFrom("wallet")
          .innerJoin("chain", "chain.id", "wallet.chain")
          .selectAll("wallet")
          .select("chain.first_height")
          .where("chain.name", "=", nameOf(chain))
          .where("wallet.account", "=", account)
          .where("wallet.public_key", "=", publicKey)
          .where("wallet.derivation", "=", derivation)
          .where("wallet.format", "=", format)
      ),
      ([row]) => row
    )

  /** The index after the last one of a branch, of those used or of all. */
  const next = (wallet: number, branch: number, used: boolean) =>
    Effect.map(
      query((db) =>
        db
          .selectFrom("wallet_address")
          .select("address_index")
          .where("wallet", "=", wallet)
          .where("branch", "=", branch)
          .$if(used, (select) => select.where("used_height", "is not", null))
          .orderBy("address_index", "desc")
          .limit(1)
      ),
      ([row]) => (row === undefined ? 0 : row.address_index + 1)
    )

  /** Where each branch begins to be unused, and how far each is watched. */
  const reach = Effect.fnUntraced(function* (wallet: number | undefined, branches: number) {
    const found: Array<{ readonly unused: number; readonly unwatched: number }> = []
    for (let branch = 0; branch < branches; branch++) {
      found.push(
        wallet === undefined
          ? { unused: 0, unwatched: 0 }
          : { unused: yield* next(wallet, branch, true), unwatched: yield* next(wallet, branch, false) }
      )
    }
    return found
  })

  const insertWallet = ({ account, derivation, format, publicKey }: WalletKey, chain: number, created: number) =>
    Effect.map(
      query((db) =>
        db
          .insertInto("wallet")
          .values({
            ...{ account, chain, public_key: publicKey, derivation, format, created },
            ...{ balance: "0", state: "scanning", scan_height: null }
          })
          .returning("id")
      ),
      ([row]) => row!.id
    )

  const attempt = Effect.fnUntraced(function* <E, R>(key: WalletKey, gapLimit: number, within: Within<E, R>) {
    const row = yield* find(query, key)
    if (row?.state === "scanning") return yield* new WalletScanning()
    const branches = WalletBranches.of(key.chain, { ...key, public_key: key.publicKey })
    const before = yield* reach(row?.id, branches.length)
    // Derived before the transaction, which holds up the chain's commits.
    const derived = before.map(({ unused, unwatched }, branch) =>
      WalletBranches.derive(
        branches[branch]!,
        Math.min(unwatched, unused),
        // Change as well, since a wallet may have used much of it and have no coin there that shows.
        unused + Math.max(batchSize, gapLimit) - 1
      )
    )
    const first = before[receiving]!.unused
    const answer = derived[receiving]!.filter(({ index }) => index >= first && index < first + batchSize)
    const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)

    const store = transaction(
      Effect.gen(function* () {
        const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
        const present = yield* find(query, key)
        if (present?.state !== row?.state) return yield* new Outdated()
        const now = yield* reach(present?.id, branches.length)
        if (
          now.some(({ unused, unwatched }, i) => unused !== before[i]!.unused || unwatched !== before[i]!.unwatched)
        ) {
          return yield* new Outdated()
        }
        const wallet = present?.id ?? (yield* insertWallet(key, chain.id, created))
        const added = derived.flatMap((addresses, branch) =>
          addresses
            .filter(({ index }) => index >= before[branch]!.unwatched)
            .map(({ bytes, index }) => ({
              ...{ wallet, chain: chain.id, branch, address_index: index, address: bytes, revision: chain.revision },
              ...{ since: chain.height, scanned: 0, used_height: null, requested: null }
            }))
        )
        yield* insertMany("wallet_address", added)
        const requested = yield* query((db) =>
          db
            .updateTable("wallet_address")
            .set({ requested: created })
            .where("wallet", "=", wallet)
            .where("branch", "=", receiving)
            .where("address_index", ">=", first)
            .where("address_index", "<", first + batchSize)
            .where("requested", "is", null)
            .returning("id")
        )
        if (added.length > 0 || requested.length > 0) {
          yield* query((db) => db.updateTable("wallet").set({ state: "scanning" }).where("id", "=", wallet))
        }
        return answer
      })
    )
    return yield* within(store, (addresses) => addresses.length)
  })

  const deriveAndSync: Wallets["Service"]["deriveAndSync"] = Effect.fn("Wallets.deriveAndSync")(
    function* (key, gapLimit, within) {
      while (true) {
        const stored = yield* Effect.result(attempt(key, gapLimit, within))
        if (Result.isSuccess(stored)) return stored.success
        const error = stored.failure
        if (!(error instanceof Outdated)) return yield* Effect.fail(error)
      }
    }
  )

  const get: Wallets["Service"]["get"] = Effect.fn("Wallets.get")(function* (key) {
    const row = yield* find(database.read, key)
    if (row === undefined) return undefined
    const { balance, scan_height, state } = row
    const wallet = { balance: BigInt(balance), state }
    if (state === "scanning") return { ...wallet, complete: undefined }
    if (scan_height !== null) return { ...wallet, complete: { height: scan_height, coins: true } }
    const height = yield* watchedSince(row)
    return { ...wallet, complete: height === undefined ? undefined : { height, coins: false } }
  })

  /** The first block that was matched against every address its account has asked for. */
  const watchedSince = (row: Pick<Row<"wallet">, "id"> & { readonly first_height: number | null }) =>
    Effect.map(
      database.read((db) =>
        db
          .selectFrom("wallet_address")
          .select(({ fn }) => fn.max("since").as("since"))
          .where("wallet", "=", row.id)
          .where("requested", "is not", null)
      ),
      ([found]) => (found?.since == null ? (row.first_height ?? undefined) : found.since + 1)
    )

  return Wallets.of({ deriveAndSync, get })
})
