/**
 * A coin that a waiting transaction pays a wallet, for one that is to be mined together with it: what the child pays beside
 * its own fee, so that both, and all that they wait for, come to its rate (child pays for parent).
 */
import type { Chain } from "@headwater/core/chains/Chain"
import * as TransactionCosts from "@headwater/core/utxo/TransactionCosts"
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
}

export const attribute = "parentTransactionId"

/** Transactions that wait for one another; nodes relay no longer chain (`-limitancestorcount`). */
const maxChain = 25

/** Virtual bytes of those, the last one's among them (`-limitancestorsize`). */
export const maxSize = 101_000

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
  // Those that it spends from may pay enough by themselves: they are mined before, and it is left with what it pays itself.
  const missingAt = (rate: bigint) =>
    [ancestors, ancestors.own].reduce((most, { fee, size }) => {
      const missing = TransactionCosts.feeAt(rate, size) - fee
      return missing > most ? missing : most
    }, 0n)
  return {
    ...{ coin, size: ancestors.size },
    ...{ extraFee: missingAt(rate ?? 0n), minedFee: missingAt(chain.utxo!.minedRate ?? 0n) }
  } satisfies WaitingParent as WaitingParent
})
