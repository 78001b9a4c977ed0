/** What is signed of a transaction: the hash of each input, and what else a signer has to know. */
import * as ZcashSighash from "@headwater/core/utxo/ZcashSighash"
import type { UtxoNetwork } from "@headwater/core/utxo/UtxoNetwork"
import type { UtxoConnection } from "@headwater/indexer/families/utxo/UtxoConnection"
import * as TimeSlice from "@headwater/indexer/TimeSlice"
import * as Effect from "effect/Effect"
import type { Unsigned } from "./UnsignedTransaction.ts"

export interface SigningHashes {
  readonly sighashes: ReadonlyArray<Uint8Array>
  readonly psbt: string | undefined
  /** What a signer of Zcash has to know beside the rest. */
  readonly zcash:
    | { readonly consensusBranchId: number; readonly expiryHeight: number; readonly versionGroupId: number }
    | undefined
}

/** Blocks after which a transaction of Zcash that was not mined never will be: 50 minutes, as ZIP-218 has it since NU7. */
const expiryDelta = 120

/** Locktimes from here on are times (`LOCKTIME_THRESHOLD`). */
const firstTime = 500_000_000

/** Behind the lock, or nobody could ever mine it: no end (ZIP-203) where the lock is a time, whose height nobody knows. */
const expiryOf = (height: number, locktime: number) =>
  locktime >= firstTime ? 0 : Math.max(height, locktime + 1) + expiryDelta

const ofZcash = (
  { height, id }: { readonly height: number; readonly id: number },
  { inputs, locktime, outputs, sequence }: Unsigned
): Effect.Effect<SigningHashes> => {
  const expiryHeight = expiryOf(height, locktime)
  const sighashes = TimeSlice.run(() =>
    ZcashSighash.digests({
      ...{ branchId: id, locktime, expiryHeight, outputs },
      inputs: inputs.map((input) => ({ ...input, sequence }))
    })
  )
  return Effect.map(sighashes, (sighashes) => ({
    sighashes,
    psbt: undefined,
    zcash: { consensusBranchId: id, expiryHeight, versionGroupId: ZcashSighash.versionGroupId }
  }))
}

const ofBitcoin = Effect.fnUntraced(function* (network: UtxoNetwork, unsigned: Unsigned) {
  // Loaded where it is needed: no other operation does.
  const { psbtOf, sighashes } = yield* Effect.promise(() => import("./UnsignedTransaction.ts"))
  return yield* TimeSlice.run(function* () {
    const hashes = yield* sighashes(network, unsigned)
    return {
      sighashes: hashes,
      psbt: yield* psbtOf(network, unsigned),
      zcash: undefined
    } satisfies SigningHashes as SigningHashes
  })
})

/** By the rules of the network; of Zcash by those of the next block, as the node says them. */
export const of = Effect.fnUntraced(function* (
  network: UtxoNetwork,
  { preparation }: UtxoConnection,
  unsigned: Unsigned
) {
  if (network.wireFormat !== "zcash") return yield* ofBitcoin(network, unsigned)
  return yield* ofZcash(yield* preparation.nextBranch, unsigned)
})
