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
import * as Bytes from "@headwater/core/Bytes"
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
import * as Limits from "../accounts/Limits.ts"
import { WalletConflict } from "../addresses/SyncedAccountWallets.ts"
import * as KnownCoins from "../chain/KnownCoins.ts"
import * as UtxoSet from "../chain/UtxoSet.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Row, Tables } from "../database/Tables.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletReach from "./internal/WalletReach.ts"
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

/** Coins from before the sync are still being searched, so that it is not known which addresses are used. */
export class WalletScanning extends Schema.TaggedError<WalletScanning>()("WalletScanning", {}) {}

/** Addresses that a call of `deriveAndSync` answers. */
export const batchSize = WalletReach.batchSize

/**
 * Finds the key of a wallet in what its owner has written, in a format that the owner asks for or else the key's own; fails
 * with the rule that it breaks.
 */
export const keyOf = (
  account: number,
  chain: Chain,
  text: string,
  derivation: Derivation.Derivation,
  asked?: Derivation.Format
): Result.Result<WalletKey, ExtendedPublicKey.InvalidExtendedPublicKey | Derivation.InvalidDerivation> =>
  Result.gen(function* () {
    const key = yield* ExtendedPublicKey.decode(chain, text)
    const format = asked ?? Derivation.defaultFormat(chain, key)
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

/** The wallet was paid between the derivation of its addresses and their storing. */
class Outdated extends Schema.TaggedError<Outdated>()("Outdated", {}) {}

const receiving = 0

/** Addresses of each branch of a new wallet that are looked through: emptied ones make wide gaps between used ones. */
const lookAhead = 1_000

const knowsAllCoins = (chain: Chain, row: Parameters<typeof KnownCoins.hasAll>[0] | undefined) =>
  chain.ledger === "outputs" && row !== undefined && KnownCoins.hasAll(row)

/** The row of a wallet, also of one that is not active. */
export const anyRowOf =
  ({ account, chain, derivation, format, publicKey }: WalletKey) =>
  (db: Kysely<Tables>) =>
    db
      .selectFrom("wallet")
      .innerJoin("chain", "chain.id", "wallet.chain")
      .selectAll("wallet")
      .where("chain.name", "=", nameOf(chain))
      .where("wallet.account", "=", account)
      .where("wallet.public_key", "=", publicKey)
      .where("wallet.derivation", "=", derivation)
      .where("wallet.format", "=", format)

/** The row of an active wallet. One that is not active is to its account as one that is not synced. */
export const rowOf = (key: WalletKey) => (db: Kysely<Tables>) => anyRowOf(key)(db).where("wallet.active", "=", 1)

/** The wallet as the present transaction sees the store, active or not. */
const present = Effect.fnUntraced(function* (key: WalletKey) {
  const { query } = yield* Database
  const [row] = yield* query(anyRowOf(key))
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

/**
 * For each branch the index after its last used address, also by coins that its unwatched addresses have in a UTXO set
 * that has all there are.
 */
const usedBySet = Effect.fnUntraced(function* (
  chain: number,
  branches: ReadonlyArray<Derivation.Branch>,
  ends: Ends,
  beyond: number
) {
  const used: Array<number> = []
  for (const [number, branch] of branches.entries()) {
    let end = ends[number]!.used
    for (let from = ends[number]!.watched; from < end + beyond; ) {
      const addresses = yield* WalletBranches.deriveInSteps(branch, from, end + beyond - 1)
      const holdings = yield* UtxoSet.holdings(
        chain,
        addresses.map(({ bytes }) => bytes)
      )
      from = end + beyond
      const last = addresses.findLast(({ bytes }) => holdings.has(Bytes.key(bytes)))
      if (last !== undefined) end = last.index + 1
    }
    used.push(end)
  }
  return used
})

const insertWallet = Effect.fnUntraced(function* (
  { account, derivation, format, publicKey }: WalletKey,
  chain: number,
  created: number,
  limits: Limits.Maxima
) {
  const { query } = yield* Database
  yield* Limits.lockAccount(account)
  yield* Limits.check("wallets", yield* Limits.walletsOf(account), limits)
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

/** What is asked of a wallet. */
interface Asked {
  /** The branch whose addresses are asked for, and how many of them. */
  readonly branch: number
  readonly addresses: number
  /** Whether there may be no such wallet yet. */
  readonly isNew: boolean
}

/** The next addresses of a wallet, derived before the transaction that stores them, which holds up the chain's commits. */
interface Derived {
  /** The wallet as it was then. */
  readonly state: Wallet["state"] | undefined
  readonly ends: Ends
  readonly branches: ReadonlyArray<ReadonlyArray<Derivation.DerivedAddress>>
  /** The first index of the addresses that are asked for. */
  readonly first: number
  readonly answer: ReadonlyArray<Derivation.DerivedAddress>
}

/** Fails where the wallet is there or inactive, or nobody can say which of the addresses that are asked for are used. */
const refuse = Effect.fnUntraced(function* (
  { chain }: WalletKey,
  row: Pick<Row<"wallet">, "active" | "id" | "state" | "scan_height"> | undefined,
  first: number,
  { branch, isNew }: Asked
) {
  if (row === undefined) return
  const isActive = row.active === 1
  if (isNew || !isActive) return yield* new WalletConflict({ isActive })
  if (row.state === "synced") return
  const next = { wallet: row.id, branch }
  const isKnown =
    chain.ledger === "outputs" &&
    row.scan_height !== null &&
    (yield* WalletReach.isKnown(next, first, first + batchSize))
  if (!isKnown) return yield* new WalletScanning()
})

const deriveNext = Effect.fnUntraced(function* (key: WalletKey, gapLimit: number, asked: Asked) {
  const given = asked.branch
  const row = yield* present(key)
  const branches = WalletBranches.of(key.chain, { ...key, public_key: key.publicKey })
  const ends = yield* endsOf(row?.id, branches.length)
  yield* refuse(key, row, ends[given]!.used, asked)
  const chain = yield* ChainRow.present(key.chain)
  const ahead = WalletReach.aheadOf(key.chain, gapLimit)
  const used = knowsAllCoins(key.chain, chain)
    ? yield* usedBySet(chain!.id, branches, ends, row === undefined ? Math.max(ahead.most, lookAhead) : ahead.most)
    : ends.map(({ used }) => used)
  const derived = yield* Effect.forEach(branches, (branch, i) => {
    const { watched } = ends[i]!
    const next = used[i]!
    const isGiven = i === given
    // Change as well, since a wallet may have used much of it and have no coin there that shows.
    const further = watched - next < ahead.least ? ahead.most : isGiven ? batchSize : 0
    return WalletBranches.deriveInSteps(branch, isGiven ? Math.min(watched, next) : watched, next + further - 1)
  })
  const first = used[given]!
  const answer = derived[given]!.filter(({ index }) => index >= first && index < first + batchSize)
  return { state: row?.state, ends, branches: derived, first, answer } satisfies Derived
})

/** Notes that the account has asked for unused addresses of a branch; how many it had not asked for. */
const markRequested = Effect.fnUntraced(function* (
  wallet: number,
  { addresses, branch }: Asked,
  first: number,
  at: number
) {
  const { query } = yield* Database
  const rows = yield* query((db) =>
    db
      .updateTable("wallet_address")
      .set({ requested: at })
      .where("wallet", "=", wallet)
      .where("branch", "=", branch)
      .where("address_index", ">=", first)
      .where("address_index", "<", first + addresses)
      .where("requested", "is", null)
      .returning("id")
  )
  return rows.length
})

/** Stores derived addresses, in a transaction; fails where the wallet has changed since they were derived. */
const store = Effect.fnUntraced(function* (
  key: WalletKey,
  { answer, branches, ends, first, state }: Derived,
  gapLimit: number,
  asked: Asked,
  limits: Limits.Maxima
) {
  const { query } = yield* Database
  const chain = yield* ChainRow.lockAndBumpRevisionOf(key.chain)
  const row = yield* present(key)
  if (row?.state !== state) return yield* new Outdated()
  yield* refuse(key, row, first, asked)
  const now = yield* endsOf(row?.id, branches.length)
  const isSame = now.every(({ used, watched }, i) => used === ends[i]!.used && watched === ends[i]!.watched)
  if (!isSame) return yield* new Outdated()
  const created = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const wallet = row?.id ?? (yield* insertWallet(key, chain.id, created, limits))
  const hasCoins = key.chain.ledger === "outputs"
  let added = 0
  for (const [branch, addresses] of branches.entries()) {
    const unwatched = addresses.filter(({ index }) => index >= ends[branch]!.watched)
    yield* WalletAddresses.watch(chain, { wallet, branch }, unwatched, chain.height)
    // The UTXO set may have coins of some of them, as of subscribed addresses.
    if (hasCoins && unwatched.length > 0) yield* WalletReach.grow({ wallet, branch }, ends[branch]!.used, gapLimit)
    added += unwatched.length
  }
  const requested = yield* markRequested(wallet, asked, first, created)
  // On an account chain also those that were only watched may have come into use, by what is no payment.
  const isChanged = added > 0 || (!hasCoins && requested > 0)
  if (isChanged) {
    const changed = knowsAllCoins(key.chain, chain)
      ? ({ state: "synced", scan_height: 0 } as const)
      : ({ state: "scanning" } as const)
    yield* query((db) => db.updateTable("wallet").set(changed).where("id", "=", wallet))
  }
  return answer
})

const make = Effect.gen(function* () {
  const database = yield* Database
  const { read, transaction } = database
  const limits = yield* Limits.Limits

  const add = Effect.fnUntraced(function* <E, R>(
    key: WalletKey,
    gapLimit: number,
    inTransaction: InTransaction<E, R>,
    asked: Asked
  ) {
    while (true) {
      const derived = yield* Effect.provideService(deriveNext(key, gapLimit, asked), Database, database)
      const stored = yield* Effect.result(
        inTransaction(transaction(store(key, derived, gapLimit, asked, limits)), (addresses) => addresses.length)
      )
      if (Result.isSuccess(stored)) return stored.success
      const error = stored.failure
      if (!(error instanceof Outdated)) return yield* Effect.fail(error)
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
      Effect.map((row) => knowsAllCoins(chain, row)),
      Effect.provideService(Database, database)
    )

  return Wallets.of({ deriveAndSync, sync, get, unwatchedOf, hasAllCoins })
})
