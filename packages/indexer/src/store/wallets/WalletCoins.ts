/**
 * The coins that a wallet had before its addresses were watched: found in a node's set of unspent outputs at one block,
 * brought up to the chain's last committed block, and entered there in one transaction.
 */

import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Spend } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import { nameOf } from "@headwater/core/chains/Chain"
import type { Branch } from "@headwater/core/keys/Derivation"
import * as Effect from "effect/Effect"
import type { Coin, CoinsAt } from "../../families/SideSources.ts"
import * as ChainRow from "../database/ChainRow.ts"
import { Database, type DatabaseError } from "../database/Database.ts"
import * as WalletBranches from "./WalletBranches.ts"

/** As {@link CoinsAt}, with the coins that were spent on the way to the block. */
export interface Replayed extends CoinsAt {
  /** The block at which the coins were looked through. */
  readonly scanned: number
  readonly spent: ReadonlyArray<Coin & { readonly spentHeight: number }>
}

export interface ScanningWallet {
  readonly id: number
  readonly branches: ReadonlyArray<Branch>
  /** For each branch, the first index that is not watched. */
  readonly unwatched: ReadonlyArray<number>
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
    found: Replayed,
    gapLimit: number
  ) => Effect.Effect<boolean, DatabaseError>
  /** Takes note that the node cannot find coins: the wallet's record begins where its addresses were first watched. */
  readonly giveUp: (wallet: ScanningWallet) => Effect.Effect<void, DatabaseError>
}

const keyOf = ({ index, transactionId }: Spend["outpoint"]) => `${Bytes.key(transactionId)}${index}`

/** Takes coins one block further: what it pays to `wanted` scripts comes in, what it spends goes. */
export const replay = (before: Replayed, block: Block, wanted: ReadonlySet<string>): Replayed => {
  const coins = new Map(before.coins.map((coin) => [keyOf(coin.outpoint), coin]))
  const spent = [...before.spent]
  for (const transfer of block.transfers) {
    if (transfer.kind !== "coin" || transfer.to === undefined || !wanted.has(Bytes.key(transfer.to))) continue
    const outpoint = { transactionId: block.transactions[transfer.transaction]!, index: transfer.position }
    coins.set(keyOf(outpoint), { outpoint, script: transfer.to, amount: transfer.amount, height: block.height })
  }
  for (const { outpoint } of block.spends) {
    const coin = coins.get(keyOf(outpoint))
    if (coin === undefined) continue
    coins.delete(keyOf(outpoint))
    if (coin.height < block.height) spent.push({ ...coin, spentHeight: block.height })
  }
  return { ...before, height: block.height, hash: block.hash, coins: [...coins.values()], spent }
}

export const make = Effect.fn("WalletCoins.make")(function* (chain: Chain) {
  const database = yield* Database
  const { insertMany, query, transaction } = database
  const name = nameOf(chain)

  const scanning = Effect.gen(function* () {
    const rows = yield* database.read((db) =>
      db
        .selectFrom("wallet")
        .innerJoin("chain", "chain.id", "wallet.chain")
        .select(["wallet.id", "wallet.public_key", "wallet.derivation", "wallet.format"])
        .where("chain.name", "=", name)
        .where("wallet.state", "=", "scanning")
        .orderBy("wallet.id")
    )
    return yield* Effect.forEach(rows, (row) =>
      Effect.gen(function* () {
        const branches = WalletBranches.of(chain, row)
        const unwatched = yield* unwatchedOf(row.id, branches.length)
        return { id: row.id, branches, unwatched } satisfies ScanningWallet
      })
    )
  })

  const unwatchedOf = Effect.fnUntraced(function* (wallet: number, branches: number) {
    const rows = yield* query((db) =>
      db
        .selectFrom("wallet_address")
        .select("branch")
        .select(({ fn }) => fn.max("address_index").as("last"))
        .where("wallet", "=", wallet)
        .groupBy("branch")
    )
    return Array.from({ length: branches }, (_, branch) => (rows.find((row) => row.branch === branch)?.last ?? -1) + 1)
  })

  const enter: WalletCoins["enter"] = Effect.fn("WalletCoins.enter")((wallet, targets, found, gapLimit) =>
    transaction(
      Effect.gen(function* () {
        const { first_height, hash, id, revision } = yield* ChainRow.lockAndBumpRevisionOf(chain)
        if (hash === null || !Bytes.equal(hash, found.hash)) return false
        const [row] = yield* query((db) =>
          db.selectFrom("wallet").select(["balance", "state"]).where("id", "=", wallet.id)
        )
        if (row?.state !== "scanning") return true
        const unwatched = yield* unwatchedOf(wallet.id, targets.length)
        if (unwatched.some((end, branch) => end > targets[branch]!.length)) return false

        // What was found may lie beyond what is watched: the wallet reaches as far, and a gap further.
        const first = new Map<string, number>()
        for (const { height, script } of [...found.coins, ...found.spent]) {
          const key = Bytes.key(script)
          first.set(key, Math.min(first.get(key) ?? height, height))
        }
        const added = targets.flatMap((addresses, branch) => {
          const used = addresses.findLast(({ bytes }) => first.has(Bytes.key(bytes)))?.index ?? -1
          return addresses
            .filter(({ index }) => index >= unwatched[branch]! && index <= used + gapLimit)
            .map(({ bytes, index }) => ({
              ...{ wallet: wallet.id, chain: id, branch, address_index: index, address: bytes, revision },
              ...{ since: found.height, scanned: 0, used_height: null, requested: null }
            }))
        })
        yield* insertMany("wallet_address", added)

        const owners = yield* query((db) =>
          db
            .selectFrom("wallet_address")
            .select(["id", "address", "since", "scanned", "used_height"])
            .where("wallet", "=", wallet.id)
        )
        const byAddress = new Map(owners.map((owner) => [Bytes.key(owner.address), owner]))
        /** Coins that no commit has entered for this wallet. */
        const isNew = ({ height, script }: Coin) => {
          const owner = byAddress.get(Bytes.key(script))
          return owner?.scanned === 0 && height <= (owner.since ?? (first_height ?? 0) - 1)
        }
        const coins = found.coins.filter(isNew)
        const toRow = ({ amount, height, outpoint, script }: Coin) => ({
          ...{ chain: id, transaction_id: outpoint.transactionId, output_index: outpoint.index },
          ...{ script, amount: amount.toString(), height }
        })
        // The map has them already where it keeps everything, or somebody else watches the address.
        yield* insertMany("unspent_output", coins.map(toRow), "on conflict do nothing")
        yield* insertMany(
          "spent_output",
          found.spent.filter(isNew).map((coin) => ({ ...toRow(coin), spent_height: coin.spentHeight })),
          "on conflict do nothing"
        )
        for (const owner of owners) {
          const height = first.get(Bytes.key(owner.address))
          if (height === undefined || (owner.used_height !== null && owner.used_height <= height)) continue
          yield* query((db) => db.updateTable("wallet_address").set({ used_height: height }).where("id", "=", owner.id))
        }
        yield* query((db) => db.updateTable("wallet_address").set({ scanned: 1 }).where("wallet", "=", wallet.id))
        const balance = coins.reduce((sum, { amount }) => sum + amount, BigInt(row.balance)).toString()
        yield* query((db) =>
          db
            .updateTable("wallet")
            .set({ balance, state: "synced", scan_height: found.scanned })
            .where("id", "=", wallet.id)
        )
        return true
      })
    )
  )

  const giveUp: WalletCoins["giveUp"] = (wallet) =>
    Effect.asVoid(query((db) => db.updateTable("wallet").set({ state: "synced" }).where("id", "=", wallet.id)))

  return { scanning, enter, giveUp } satisfies WalletCoins
})
