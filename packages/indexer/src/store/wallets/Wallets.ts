/**
 * The HD wallets that accounts have synced.
 *
 * Addresses are added as subscriptions are: under the lock of the chain's row, with its revision counted up, so that
 * every block committed from then on is matched against all of them. Coins that were paid to them before are in the UTXO
 * set where that is whole, else they are looked for at a node; until they were for the first time, the wallet has no
 * balance.
 *
 * More addresses are watched than belong to the wallet by its gap limit, and their coins are looked for as well. So a
 * payment that moves the gap finds the addresses known that come to belong, and the balance goes on being answered while
 * others are added and looked for. Where an address belongs whose coins are not known yet, there is no balance until the
 * next search (`internal/WalletReach.ts`); and no address is given to an account before it is known whether it was used.
 */
import type { Chain } from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Limits from "../accounts/Limits.ts"
import type { WalletConflict } from "../addresses/SyncedAccountWallets.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as NextAddresses from "./internal/NextAddresses.ts"
import { WalletScanning } from "./internal/NextAddresses.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletBranches from "./WalletBranches.ts"
import { present, rowOf, type WalletKey } from "./WalletKey.ts"

export interface Wallet {
  /**
   * In the coin's smallest unit, of all blocks up to the chain's last committed one. Undefined where coins from before
   * the wallet was synced are yet to be found, and on chains whose coins are no outputs.
   */
  readonly balance: bigint | undefined
  /** `scanning`: the coins that watched addresses had before they were watched are yet to be looked for. */
  readonly state: "scanning" | "synced"
  /** Every coin that was unspent at this height is recorded, and everything since; undefined without a balance. */
  readonly completeFrom: number | undefined
}

/** Addresses that a call of `deriveAndSync` answers. */
export const batchSize = NextAddresses.batchSize

/** Runs a change of the store: alone, or in one transaction with what has to be stored together with the change. */
export type InTransaction<E, R> = <A, E2, R2>(
  change: Effect.Effect<A, E2, R2>,
  results: (changed: A) => number
) => Effect.Effect<A, E | E2, R | R2>

export class Wallets extends Context.Service<
  Wallets,
  {
    /**
     * Derives the next {@link batchSize} addresses of a wallet's branch, by default its receiving ones, from one past the last
     * that is known to have been paid, and watches them with as many of the other; makes the wallet at the first time.
     * Fails for a wallet that the account has deactivated.
     */
    readonly deriveAndSync: <E, R>(
      key: WalletKey,
      gapLimit: number,
      inTransaction: InTransaction<E, R>,
      branch?: number
    ) => Effect.Effect<
      ReadonlyArray<Derivation.DerivedAddress>,
      WalletScanning | WalletConflict | Limits.LimitReached | E | DatabaseError,
      R
    >
    /**
     * Makes a wallet as {@link deriveAndSync} does, of which the account asks for no more receiving addresses than belong
     * to the wallet by its gap limit; fails where the account has synced the wallet before.
     */
    readonly sync: <E, R>(
      key: WalletKey,
      gapLimit: number,
      inTransaction: InTransaction<E, R>
    ) => Effect.Effect<void, WalletConflict | Limits.LimitReached | E | DatabaseError, R>
    /** Undefined where the account has not synced it, or has deactivated it. */
    readonly get: (key: WalletKey) => Effect.Effect<Wallet | undefined, DatabaseError>
    /** For each branch, the first index that is not watched; undefined where the account has no active such wallet. */
    readonly unwatchedOf: (key: WalletKey) => Effect.Effect<ReadonlyArray<number> | undefined, DatabaseError>
    /** Whether every coin of a UTXO chain is recorded: then no node is needed to find those of a wallet. */
    readonly hasAllCoins: (chain: Chain) => Effect.Effect<boolean, DatabaseError>
  }
>()("@headwater/indexer/store/wallets/Wallets") {
  static readonly layer = Layer.effect(
    Wallets,
    Effect.suspend(() => make)
  )
}

const receiving = 0

const make = Effect.gen(function* () {
  const database = yield* Database
  const { read, transaction } = database
  const limits = yield* Limits.Limits

  const add = Effect.fnUntraced(function* <E, R>(
    key: WalletKey,
    gapLimit: number,
    inTransaction: InTransaction<E, R>,
    asked: NextAddresses.Asked
  ) {
    while (true) {
      const derived = yield* Effect.provideService(NextAddresses.derive(key, gapLimit, asked), Database, database)
      const stored = yield* Effect.result(
        inTransaction(
          transaction(NextAddresses.store(key, derived, gapLimit, asked, limits)),
          (addresses) => addresses.length
        )
      )
      if (Result.isSuccess(stored)) return stored.success
      const error = stored.failure
      if (!(error instanceof NextAddresses.Outdated)) return yield* Effect.fail(error)
    }
  })

  const deriveAndSync: Wallets["Service"]["deriveAndSync"] = Effect.fn("Wallets.deriveAndSync")(
    (key, gapLimit, inTransaction, branch = receiving) =>
      add(key, gapLimit, inTransaction, { branch, addresses: batchSize, isNew: false })
  )

  const sync: Wallets["Service"]["sync"] = Effect.fn("Wallets.sync")((key, gapLimit, inTransaction) =>
    add(key, gapLimit, inTransaction, { branch: receiving, addresses: gapLimit, isNew: true }).pipe(
      Effect.asVoid,
      // Only of a wallet that is there, which is a conflict before.
      Effect.catchIf(
        (error): error is WalletScanning => error instanceof WalletScanning,
        (error) => Effect.die(error)
      )
    )
  )

  const get: Wallets["Service"]["get"] = Effect.fn("Wallets.get")(
    function* (key) {
      const [row] = yield* read(rowOf(key))
      if (row === undefined) return undefined
      const { balance, scan_height, state } = row
      const isKnown = scan_height !== null
      return { balance: isKnown ? BigInt(balance) : undefined, state, completeFrom: scan_height ?? undefined }
    },
    Effect.provideService(Database, database)
  )

  const unwatchedOf: Wallets["Service"]["unwatchedOf"] = Effect.fn("Wallets.unwatchedOf")(
    function* (key) {
      const row = yield* present(key)
      if (row?.active !== 1) return undefined
      return yield* WalletAddresses.unwatchedOf(row.id, WalletBranches.of(key.chain, row).length)
    },
    Effect.provideService(Database, database)
  )

  const hasAllCoins: Wallets["Service"]["hasAllCoins"] = (chain) =>
    ChainRow.find(chain).pipe(
      Effect.map((row) => NextAddresses.knowsAllCoins(chain, row)),
      Effect.provideService(Database, database)
    )

  return Wallets.of({ deriveAndSync, sync, get, unwatchedOf, hasAllCoins })
})
