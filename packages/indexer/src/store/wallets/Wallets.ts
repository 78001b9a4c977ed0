/**
 * The HD wallets that accounts have synced.
 *
 * Addresses are added as subscriptions are: under the lock of the chain's row, with its revision counted up, so that
 * every block committed from then on is matched against all of them. Coins that were paid to them before are found by
 * `WalletCoins`; until then the wallet has no balance.
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
import type { Kysely } from "kysely"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Row, Tables } from "../database/Tables.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletBranches from "./WalletBranches.ts"

/** Names one wallet: equal for every text of the same key. */
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

/** Runs a change of the store: alone, or in one transaction with what has to be stored together with the change. */
export type InTransaction<E, R> = <A, E2, R2>(
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
      inTransaction: InTransaction<E, R>
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

const rowOf =
  ({ account, chain, derivation, format, publicKey }: WalletKey) =>
  (db: Kysely<Tables>) =>
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

/** The wallet as the present transaction sees the store. */
const present = Effect.fnUntraced(function* (key: WalletKey) {
  const { query } = yield* Database
  const [row] = yield* query(rowOf(key))
  return row
})

/** Where each branch of a wallet ends: the index after its last used address, and that after its last watched one. */
const endsOf = Effect.fnUntraced(function* (wallet: number | undefined, branches: number) {
  const ends: Array<{ readonly used: number; readonly watched: number }> = []
  for (let branch = 0; branch < branches; branch++) {
    ends.push(
      wallet === undefined
        ? { used: 0, watched: 0 }
        : {
            used: yield* WalletAddresses.endOf({ wallet, branch }, "used"),
            watched: yield* WalletAddresses.endOf({ wallet, branch }, "watched")
          }
    )
  }
  return ends
})

type Ends = Effect.Success<ReturnType<typeof endsOf>>

const insertWallet = Effect.fnUntraced(function* (
  { account, derivation, format, publicKey }: WalletKey,
  chain: number,
  created: number
) {
  const { query } = yield* Database
  const [row] = yield* query((db) =>
    db
      .insertInto("wallet")
      .values({
        ...{ account, chain, public_key: publicKey, derivation, format, created },
        ...{ balance: "0", state: "scanning", scan_height: null }
      })
      .returning("id")
  )
  return row!.id
})

/** The next addresses of a wallet, derived before the transaction that stores them, which holds up the chain's commits. */
interface Derived {
  /** The wallet as it was then. */
  readonly state: Wallet["state"] | undefined
  readonly ends: Ends
  readonly branches: ReadonlyArray<ReadonlyArray<Derivation.DerivedAddress>>
  /** The receiving addresses that the caller gets. */
  readonly answer: ReadonlyArray<Derivation.DerivedAddress>
}

const deriveNext = Effect.fnUntraced(function* (key: WalletKey, gapLimit: number) {
  const row = yield* present(key)
  if (row?.state === "scanning") return yield* new WalletScanning()
  const branches = WalletBranches.of(key.chain, { ...key, public_key: key.publicKey })
  const ends = yield* endsOf(row?.id, branches.length)
  const derived = ends.map(({ used, watched }, branch) =>
    WalletBranches.derive(
      branches[branch]!,
      Math.min(watched, used),
      // Change as well, since a wallet may have used much of it and have no coin there that shows.
      used + Math.max(batchSize, gapLimit) - 1
    )
  )
  const first = ends[receiving]!.used
  const answer = derived[receiving]!.filter(({ index }) => index >= first && index < first + batchSize)
  return { state: row?.state, ends, branches: derived, answer } satisfies Derived
})

/** Notes that the account has asked for the first batch of unused receiving addresses; how many it had not asked for. */
const markRequested = Effect.fnUntraced(function* (wallet: number, first: number, at: number) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db
      .updateTable("wallet_address")
      .set({ requested: at })
      .where("wallet", "=", wallet)
      .where("branch", "=", receiving)
      .where("address_index", ">=", first)
      .where("address_index", "<", first + batchSize)
      .where("requested", "is", null)
      .returning("id")
  )
  return rows.length
})

/** Stores derived addresses, in a transaction; fails where the wallet has changed since they were derived. */
const store = Effect.fnUntraced(function* (key: WalletKey, { answer, branches, ends, state }: Derived) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* present(key)
  if (row?.state !== state) return yield* new Outdated()
  const now = yield* endsOf(row?.id, branches.length)
  const isSame = now.every(({ used, watched }, i) => used === ends[i]!.used && watched === ends[i]!.watched)
  if (!isSame) return yield* new Outdated()
  const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const wallet = row?.id ?? (yield* insertWallet(key, chain.id, created))
  let added = 0
  for (const [branch, addresses] of branches.entries()) {
    const unwatched = addresses.filter(({ index }) => index >= ends[branch]!.watched)
    yield* WalletAddresses.watch({ chain: chain.id, wallet, branch }, unwatched, {
      revision: chain.revision,
      since: chain.height
    })
    added += unwatched.length
  }
  const requested = yield* markRequested(wallet, ends[receiving]!.used, created)
  if (added > 0 || requested > 0) {
    yield* query((db) => db.updateTable("wallet").set({ state: "scanning" }).where("id", "=", wallet))
  }
  return answer
})

/** The first block that was matched against every address its account has asked for. */
const watchedSince = Effect.fnUntraced(function* (row: Pick<Row<"wallet">, "id"> & Pick<Row<"chain">, "first_height">) {
  const { read } = yield* Database
  const [found] = yield* read((db) =>
    db
      .selectFrom("wallet_address")
      .select(({ fn }) => fn.max("since").as("since"))
      .where("wallet", "=", row.id)
      .where("requested", "is not", null)
  )
  return found?.since == null ? (row.first_height ?? undefined) : found.since + 1
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { read, transaction } = database

  const deriveAndSync: Wallets["Service"]["deriveAndSync"] = Effect.fn("Wallets.deriveAndSync")(
    function* (key, gapLimit, inTransaction) {
      while (true) {
        const derived = yield* Effect.provideService(deriveNext(key, gapLimit), Database, database)
        const stored = yield* Effect.result(
          inTransaction(transaction(store(key, derived)), (addresses) => addresses.length)
        )
        if (Result.isSuccess(stored)) return stored.success
        const error = stored.failure
        if (!(error instanceof Outdated)) return yield* Effect.fail(error)
      }
    }
  )

  const get: Wallets["Service"]["get"] = Effect.fn("Wallets.get")(
    function* (key) {
      const [row] = yield* read(rowOf(key))
      if (row === undefined) return undefined
      const { balance, scan_height, state } = row
      const wallet = { balance: BigInt(balance), state }
      if (state === "scanning") return { ...wallet, complete: undefined }
      if (scan_height !== null) return { ...wallet, complete: { height: scan_height, coins: true } }
      const height = yield* watchedSince(row)
      return { ...wallet, complete: height === undefined ? undefined : { height, coins: false } }
    },
    Effect.provideService(Database, database)
  )

  return Wallets.of({ deriveAndSync, get })
})
