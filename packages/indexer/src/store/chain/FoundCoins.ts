/**
 * The coins that addresses had before they were watched: found in a node's set of unspent outputs at one block, and
 * brought up to the chain's last committed block, where they are entered.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Bytes from "@headwater/core/Bytes"
import { type Coin, type CoinsAt, keyOf } from "@headwater/core/utxo/Coin"

/** Coins that were found at one block and brought up to another, with those that were spent on the way. */
export interface FoundCoins extends CoinsAt {
  /** The block at which the coins were looked through. */
  readonly searched: number
  readonly spent: ReadonlyArray<Coin & { readonly spentHeight: number }>
  /** The scripts that were paid above the search, with the first height, whatever has become of it, by their key. */
  readonly paid: ReadonlyMap<string, Pick<Coin, "script" | "height">>
}

/** Coins as a node has shown them. */
export const at = (coins: CoinsAt): FoundCoins => ({ ...coins, searched: coins.height, spent: [], paid: new Map() })

/** Takes coins one block further: what the block pays to `wanted` scripts comes in, what the block spends goes. */
export const advance = (before: FoundCoins, block: Block, wanted: ReadonlySet<string>): FoundCoins => {
  const coins = new Map(before.coins.map((coin) => [keyOf(coin.outpoint), coin]))
  const spent = [...before.spent]
  const paid = new Map(before.paid)
  for (const transfer of block.transfers) {
    if (transfer.kind !== "coin" || transfer.to === undefined || !wanted.has(Bytes.key(transfer.to))) continue
    const outpoint = { transactionId: block.transactions[transfer.transaction]!, index: transfer.position }
    coins.set(keyOf(outpoint), { outpoint, script: transfer.to, amount: transfer.amount, height: block.height })
    const key = Bytes.key(transfer.to)
    if (!paid.has(key)) paid.set(key, { script: transfer.to, height: block.height })
  }
  for (const { outpoint } of block.spends) {
    const key = keyOf(outpoint)
    const coin = coins.get(key)
    if (coin === undefined) continue
    coins.delete(key)
    if (coin.height < block.height) spent.push({ ...coin, spentHeight: block.height })
  }
  return { ...before, height: block.height, hash: block.hash, coins: [...coins.values()], spent, paid }
}

/** The first height at which each script was paid, as far as the coins show, by the key of the script. */
export const firstUses = ({ coins, paid, spent }: FoundCoins): ReadonlyMap<string, number> => {
  const first = new Map<string, number>()
  for (const { height, script } of [...paid.values(), ...coins, ...spent]) {
    const key = Bytes.key(script)
    first.set(key, Math.min(first.get(key) ?? height, height))
  }
  return first
}

/** The scripts of all these coins and payments, each once. */
export const scriptsOf = ({ coins, paid, spent }: FoundCoins): ReadonlyArray<AddressBytes> => [
  ...new Map([...coins, ...spent, ...paid.values()].map(({ script }) => [Bytes.key(script), script])).values()
]
