/**
 * What blocks change in HD wallets: addresses come into use and the wallet is watched further, balances move with the
 * UTXO set.
 */
import * as Effect from "effect/Effect"
import * as LostCoins from "../chain/LostCoins.ts"
import type { Make } from "../chain/Projection.ts"
import type { Owners } from "./internal/AddressOwners.ts"
import * as AddressUse from "./internal/AddressUse.ts"
import * as Balances from "./internal/Balances.ts"
import * as WalletCoins from "./WalletCoins.ts"

export const make: Make = (chain) => {
  const { hasWallets } = chain.watched
  const use = AddressUse.make(chain)
  /** Owners of the addresses that a block pays, from its stage `resolve` to its stage `record`. */
  let paid: Owners = new Map()
  const deltasOf = Balances.deltasOfCommits()

  return Effect.succeed({
    apply: {
      resolve: Effect.fnUntraced(function* (block, commit) {
        if (hasWallets()) paid = yield* use.markUsed(block, commit)
        return block
      }),
      record: Effect.fnUntraced(function* (block, commit) {
        if (!hasWallets()) return
        yield* Balances.applyCoins(chain, block, paid, deltasOf(commit))
        if (block.height === 0 && chain.chain.ledger === "outputs" && !LostCoins.areIn(block))
          yield* WalletCoins.noneBefore(chain.id)
      })
    },
    undo: Effect.fnUntraced(function* (undone) {
      yield* use.undo(undone)
      yield* Balances.undo(chain.id, undone.fork)
      yield* WalletCoins.undo(chain.id, undone)
    }),
    skip: () => WalletCoins.forget(chain.id),
    reprocess: {
      // Coins were counted when the block was committed, or are searched.
      record: (block) => (hasWallets() && chain.chain.ledger === "accounts" ? use.markUsedBefore(block) : Effect.void)
    }
  })
}
