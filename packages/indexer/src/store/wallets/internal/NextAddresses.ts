/**
 * The next addresses of a wallet: derived before the transaction that stores them, which holds up the chain's commits, and
 * derived anew where the wallet has changed meanwhile.
 */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as UnixTime from "../../../UnixTime.ts"
import * as Limits from "../../accounts/Limits.ts"
import { WalletConflict } from "../../addresses/SyncedAccountWallets.ts"
import * as Completeness from "../../chain/Completeness.ts"
import * as KnownCoins from "../../chain/KnownCoins.ts"
import * as UtxoSet from "../../chain/UtxoSet.ts"
import * as ChainRow from "../../database/ChainRow.ts"
import { Database } from "../../database/Database.ts"
import type { Row } from "../../database/Tables.ts"
import * as WalletBranches from "../WalletBranches.ts"
import { present, type WalletKey } from "../WalletKey.ts"
import * as KnownUse from "./KnownUse.ts"
import * as WalletAddresses from "./WalletAddresses.ts"
import * as WalletReach from "./WalletReach.ts"

/** Coins from before the sync are still being searched, so that it is not known which addresses are used. */
export class WalletScanning extends Schema.TaggedError<WalletScanning>()("WalletScanning", {}) {}

/** The wallet or one of the new addresses was paid between the derivation of the addresses and their storing. */
export class Outdated extends Schema.TaggedError<Outdated>()("Outdated", {}) {}

/** Addresses that are given at a time. */
export const batchSize = WalletReach.batchSize

/** Addresses of each branch of a new wallet that are looked through: emptied ones make wide gaps between used ones. */
const lookAhead = 1_000

/** Whether every coin of a UTXO chain is recorded. */
export const knowsAllCoins = (chain: Chain, row: Parameters<typeof KnownCoins.hasAll>[0] | undefined) =>
  chain.ledger === "outputs" && row !== undefined && KnownCoins.hasAll(row)

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

/** For each branch the index after its last used address, also where that is one that the wallet does not have yet. */
const knownUses = Effect.fnUntraced(function* (
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
      const scripts = addresses.map(({ bytes }) => bytes)
      const holdings = yield* UtxoSet.holdings(chain, scripts)
      const watched = yield* Completeness.watched(chain, scripts)
      const known = yield* KnownUse.of(chain, scripts, { holdings, watched })
      from = end + beyond
      const last = addresses.findLast(({ bytes }) => known.has(Bytes.key(bytes)))
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
export interface Asked {
  /** The branch whose addresses are asked for, and how many of them. */
  readonly branch: number
  readonly addresses: number
  /** Whether there may be no such wallet yet. */
  readonly isNew: boolean
}

/** The next addresses of a wallet, derived before the transaction that stores them, which holds up the chain's commits. */
interface Derived {
  /** The wallet as it was then. */
  readonly state: Row<"wallet">["state"] | undefined
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

export const derive = Effect.fnUntraced(function* (key: WalletKey, gapLimit: number, asked: Asked) {
  const given = asked.branch
  const row = yield* present(key)
  const branches = WalletBranches.of(key.chain, { ...key, public_key: key.publicKey })
  const ends = yield* endsOf(row?.id, branches.length)
  yield* refuse(key, row, ends[given]!.used, asked)
  const chain = yield* ChainRow.present(key.chain)
  const ahead = WalletReach.aheadOf(key.chain, gapLimit)
  const hasAll = knowsAllCoins(key.chain, chain)
  const isNew = row === undefined
  // Without all coins, a wallet that is there gives out what was searched alone: nothing behind an address that it does not have yet.
  const most = isNew || hasAll ? ahead.most : batchSize
  const beyond = isNew && hasAll ? Math.max(most, lookAhead) : most
  const used = chain === undefined ? ends.map(({ used }) => used) : yield* knownUses(chain.id, branches, ends, beyond)
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
export const store = Effect.fnUntraced(function* (
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
  const created = yield* UnixTime.seconds
  const wallet = row?.id ?? (yield* insertWallet(key, chain.id, created, limits))
  const hasCoins = key.chain.ledger === "outputs"
  let added = 0
  for (const [branch, addresses] of branches.entries()) {
    const unwatched = addresses.filter(({ index }) => index >= ends[branch]!.watched)
    const known = yield* WalletAddresses.watch(chain, { wallet, branch }, unwatched, chain.height)
    // By a block since they were derived, where somebody else watches them.
    const isUsed = branch === asked.branch && answer.some(({ bytes }) => known.has(Bytes.key(bytes)))
    if (isUsed) return yield* new Outdated()
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
