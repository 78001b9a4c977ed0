/**
 * A coin that a waiting transaction pays a wallet, for one that is to be mined together with it: what the child pays beside
 * its own fee, so that both, and all that they wait for, come to its rate (child pays for parent).
 */
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
import type { UtxoNetwork } from "@headwater/core/utxo/UtxoNetwork"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import type { SpendableCoins, WalletCoin } from "@headwater/indexer/store/wallets/SpendableCoins"
import type { WalletKey } from "@headwater/indexer/store/wallets/WalletKey"
import * as Effect from "effect/Effect"
import { conflictingField, Unimplemented } from "../../contract/Errors.ts"

/** A coin that is spent in any case, and what the fee is above that of the transaction itself. */
export interface WaitingParent {
  readonly coin: WalletCoin
  readonly extraFee: bigint
  /** As `extraFee`, by the rate below which miners leave a transaction out, where nodes relay it for less. */
  readonly minedFee: bigint
  /** Virtual bytes of all that the transaction waits for. */
  readonly size: number
  /** What nodes ask of a transaction that spends the coin, where they ask more than of others. */
  readonly child: { readonly version: number; readonly maxSize: number } | undefined
}

export const attribute = "parentTransactionId"

/** Transactions that wait for one another; nodes relay no longer chain (`-limitancestorcount`). */
const maxChain = 25

/** Virtual bytes of those, the last one's among them (`-limitancestorsize`). */
export const maxSize = 101_000

/** What nodes relay that spends from a waiting transaction of version 3 (BIP-431): of that version too, small, and alone. */
const restrictedChild = { version: 3, maxSize: 1_000 }
const restrictedMark = Uint8Array.of(restrictedChild.version, 0, 0, 0)

/** Whether nodes restrict what spends from a waiting transaction. Dash gives the version another meaning (DIP-2). */
const isRestricted = ({ specialTransactions }: UtxoNetwork, transaction: Uint8Array = new Uint8Array()): boolean =>
  specialTransactions !== true && Bytes.equal(transaction.subarray(0, restrictedMark.length), restrictedMark)

/**
 * The largest coin of the wallet that the transaction pays and that is free. `rate`: what the package is to pay for 1,000
 * virtual bytes; undefined where the whole fee is given.
 */
export const of = Effect.fn("WaitingParent.of")(function* (
  chain: Chain,
  { preparation, sideSources }: UtxoConnection,
  wallets: SpendableCoins,
  key: WalletKey,
  { rate, transactionId }: { readonly rate: bigint | undefined; readonly transactionId: string }
) {
  const refused = (message: string) => conflictingField(attribute, message)
  const ancestors = yield* preparation.ancestorsOf(transactionId)
  const [parent] = (yield* sideSources.mempool?.transactions([transactionId]) ?? Effect.succeed([])).slice(0, 1)
  if (ancestors === "absent" || parent === undefined) {
    return yield* refused("the transaction must wait in the node's mempool; coins of mined ones are spent without it")
  }
  if (ancestors === "unsaid") {
    return yield* new Unimplemented({
      message: `The node of ${chain.blockchain} does not say what the transactions pay that a waiting one spends from`
    })
  }
  if (ancestors.count >= maxChain) {
    return yield* refused(`nodes relay no more than ${maxChain} transactions that wait for one another`)
  }
  const outputs = parent.transfers.flatMap(({ amount, position, to }) =>
    to === undefined ? [] : [{ outpoint: { transactionId: parent.id, index: position }, script: to, amount }]
  )
  const coins = yield* wallets.among(key, outputs)
  const states = yield* preparation.statesOf(coins)
  const unspent = coins.filter((_, i) => states[i] === "spendable")
  if (unspent.length === 0) return yield* refused("the transaction must have an unspent output that pays the wallet")
  const free = unspent.filter(({ reservedUntil }) => reservedUntil === undefined)
  if (free.length === 0) {
    return yield* refused("its outputs that pay the wallet are reserved by transactions that were prepared before")
  }
  const coin = free.reduce((most, each) => (each.amount > most.amount ? each : most))
  const [maker] = yield* preparation.makersOf([coin])
  const child = isRestricted(chain.utxo!, maker) ? restrictedChild : undefined
  if (child !== undefined && (ancestors.count > 1 || ancestors.hasChild)) {
    return yield* refused(
      `nodes relay no more than two transactions of version ${child.version} that wait for one another, and there are two`
    )
  }
  // Those that it spends from may pay enough by themselves: they are mined before, and it is left with what it pays itself.
  const missingAt = (rate: bigint) =>
    [ancestors, ancestors.own].reduce((most, { fee, size }) => {
      const missing = TransactionCosts.feeAt(rate, size) - fee
      return missing > most ? missing : most
    }, 0n)
  return {
    ...{ coin, size: ancestors.size, child },
    ...{ extraFee: missingAt(rate ?? 0n), minedFee: missingAt(chain.utxo!.minedRate ?? 0n) }
  } satisfies WaitingParent as WaitingParent
})
