/**
 * The coins that a wallet had before its addresses were watched: found in a node's set of unspent outputs at one block,
 * brought up to the chain's last committed block, and entered there in one transaction.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import type { Branch } from "@headwater/core/keys/Derivation"
import { type Coin, type CoinsAt, keyOf } from "@headwater/core/utxo/Coin"
import * as Effect from "effect/Effect"
import * as UtxoSet from "../chain/UtxoSet.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import type { Row } from "../database/Tables.ts"
import * as WalletAddresses from "./internal/WalletAddresses.ts"
import * as WalletBranches from "./WalletBranches.ts"

/** Coins that were found at one block and brought up to another, with those that were spent on the way. */
export interface FoundCoins extends CoinsAt {
  /** The block at which the coins were looked through. */
  readonly scanned: number
  readonly spent: ReadonlyArray<Coin & { readonly spentHeight: number }>
}

/** An index of each branch of a wallet. */
type Indices = ReadonlyArray<number>

export interface ScanningWallet {
  readonly id: number
  readonly branches: ReadonlyArray<Branch>
  /** The first index that is not watched. */
  readonly unwatched: Indices
}

/** Addresses that coins were looked for at, by branch, index 0 first. */
export type Targets = ReadonlyArray<ReadonlyArray<{ readonly index: number; readonly bytes: AddressBytes }>>

export interface WalletCoins {
  /** Wallets whose coins are to be found. */
  readonly scanning: Effect.Effect<ReadonlyArray<ScanningWallet>, DatabaseError>
  /** Enters coins; false where the chain is at another block now, or more is watched than was looked for. */
  readonly enter: (
    wallet: ScanningWallet,
    targets: Targets,
    found: FoundCoins,
    gapLimit: number
  ) => Effect.Effect<boolean, DatabaseError>
  /** Takes note that the node cannot find coins: the wallet's record begins where its addresses were first watched. */
  readonly finishWithoutCoins: (wallet: ScanningWallet) => Effect.Effect<void, DatabaseError>
}

/** Takes coins one block further: what the block pays to `wanted` scripts comes in, what the block spends goes. */
export const advance = (before: FoundCoins, block: Block, wanted: ReadonlySet<string>): FoundCoins => {
  const coins = new Map(before.coins.map((coin) => [keyOf(coin.outpoint), coin]))
  const spent = [...before.spent]
  for (const transfer of block.transfers) {
    if (transfer.kind !== "coin" || transfer.to === undefined || !wanted.has(Bytes.key(transfer.to))) continue
    const outpoint = { transactionId: block.transactions[transfer.transaction]!, index: transfer.position }
    coins.set(keyOf(outpoint), { outpoint, script: transfer.to, amount: transfer.amount, height: block.height })
  }
  for (const { outpoint } of block.spends) {
    const key = keyOf(outpoint)
    const coin = coins.get(key)
    if (coin === undefined) continue
    coins.delete(key)
    if (coin.height < block.height) spent.push({ ...coin, spentHeight: block.height })
  }
  return { ...before, height: block.height, hash: block.hash, coins: [...coins.values()], spent }
}

/** The first height at which each script was paid, as far as the coins show, by the key of the script. */
const firstUses = ({ coins, spent }: FoundCoins): ReadonlyMap<string, number> => {
  const first = new Map<string, number>()
  for (const { height, script } of [...coins, ...spent]) {
    const key = Bytes.key(script)
    first.set(key, Math.min(first.get(key) ?? height, height))
  }
  return first
}

/** The chain's row, locked, and the wallet that is entered there. */
interface Place {
  readonly chain: ChainRow.ChainRow
  readonly wallet: number
  readonly found: FoundCoins
  readonly first: ReadonlyMap<string, number>
}

/** Watches a wallet as far as its coins reach, and a gap further. */
const watchFurther = ({ chain, first, found, wallet }: Place, targets: Targets, unwatched: Indices, gapLimit: number) =>
  Effect.forEach(
    targets,
    (addresses, branch) => {
      const used = addresses.findLast(({ bytes }) => first.has(Bytes.key(bytes)))?.index ?? -1
      return WalletAddresses.watch(
        { chain: chain.id, wallet, branch },
        addresses.filter(({ index }) => index >= unwatched[branch]! && index <= used + gapLimit),
        { revision: chain.revision, since: found.height }
      )
    },
    { discard: true }
  )

type WalletAddress = Pick<Row<"wallet_address">, "id" | "address" | "since" | "scanned" | "used_height">

const addressesOf = Effect.fnUntraced(function* (wallet: number) {
  const { query } = yield* Database
  return yield* query((db) =>
    db
      .selectFrom("wallet_address")
      .select(["id", "address", "since", "scanned", "used_height"])
      .where("wallet", "=", wallet)
  )
})

/** Adds to the UTXO set what no commit has entered for this wallet; the unspent ones among these coins. */
const addCoins = Effect.fnUntraced(function* ({ chain, found }: Place, addresses: ReadonlyArray<WalletAddress>) {
  const byScript = new Map(addresses.map((address) => [Bytes.key(address.address), address]))
  const isNew = ({ height, script }: Coin) => {
    const address = byScript.get(Bytes.key(script))
    return address?.scanned === 0 && height <= (address.since ?? (chain.first_height ?? 0) - 1)
  }
  const unspent = found.coins.filter(isNew)
  yield* UtxoSet.add(chain.id, unspent, found.spent.filter(isNew))
  return unspent
})

/** Notes which addresses have been used, and that coins of all of them were looked for. */
const markUsed = Effect.fnUntraced(function* ({ first, wallet }: Place, addresses: ReadonlyArray<WalletAddress>) {
  const { query } = yield* Database
  for (const { address, id, used_height } of addresses) {
    const height = first.get(Bytes.key(address))
    if (height === undefined || (used_height !== null && used_height <= height)) continue
    yield* query((db) => db.updateTable("wallet_address").set({ used_height: height }).where("id", "=", id))
  }
  yield* query((db) => db.updateTable("wallet_address").set({ scanned: 1 }).where("wallet", "=", wallet))
})

export const make = Effect.fn("WalletCoins.make")(function* (chain: Chain) {
  const database = yield* Database
  const { query, read, transaction } = database

  const scanning = Effect.gen(function* () {
    const rows = yield* read((db) =>
      db
        .selectFrom("wallet")
        .innerJoin("chain", "chain.id", "wallet.chain")
        .select(["wallet.id", "wallet.public_key", "wallet.derivation", "wallet.format"])
        .where("chain.name", "=", nameOf(chain))
        .where("wallet.state", "=", "scanning")
        .orderBy("wallet.id")
    )
    return yield* Effect.forEach(
      rows,
      Effect.fnUntraced(function* (row) {
        const branches = WalletBranches.of(chain, row)
        return {
          id: row.id,
          branches,
          unwatched: yield* WalletAddresses.unwatchedOf(row.id, branches.length)
        } satisfies ScanningWallet
      })
    )
  }).pipe(Effect.provideService(Database, database))

  /** In a transaction: whether there was anything to enter at, or left to enter. */
  const enterHere = Effect.fnUntraced(function* (
    wallet: number,
    targets: Targets,
    found: FoundCoins,
    gapLimit: number
  ) {
    const row = yield* ChainRow.lockAndBumpRevisionOf(chain)
    if (row.hash === null || !Bytes.equal(row.hash, found.hash)) return false
    const [stored] = yield* query((db) => db.selectFrom("wallet").select(["balance", "state"]).where("id", "=", wallet))
    if (stored?.state !== "scanning") return true
    const unwatched = yield* WalletAddresses.unwatchedOf(wallet, targets.length)
    if (unwatched.some((end, branch) => end > targets[branch]!.length)) return false

    const place: Place = { chain: row, wallet, found, first: firstUses(found) }
    yield* watchFurther(place, targets, unwatched, gapLimit)
    const addresses = yield* addressesOf(wallet)
    const coins = yield* addCoins(place, addresses)
    yield* markUsed(place, addresses)
    const balance = coins.reduce((sum, { amount }) => sum + amount, BigInt(stored.balance)).toString()
    yield* query((db) =>
      db.updateTable("wallet").set({ balance, state: "synced", scan_height: found.scanned }).where("id", "=", wallet)
    )
    return true
  })

  return {
    scanning,
    enter: Effect.fn("WalletCoins.enter")((wallet, targets, found, gapLimit) =>
      transaction(enterHere(wallet.id, targets, found, gapLimit))
    ),
    finishWithoutCoins: (wallet) =>
      Effect.asVoid(query((db) => db.updateTable("wallet").set({ state: "synced" }).where("id", "=", wallet.id)))
  } satisfies WalletCoins as WalletCoins
})
