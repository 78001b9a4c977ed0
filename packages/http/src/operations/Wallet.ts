/** Finds the used addresses of an HD wallet: those of each branch, until a gap of unused ones. */
import type * as Address from "@headwater/core/address/Address"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { InvalidXpub } from "../contract/Errors.ts"
import type { WalletRequest } from "./Operations.ts"

/** An address of a wallet, with what the node has of it. */
export interface WalletAddress {
  readonly address: Address.AddressBytes
  readonly balance: bigint
  readonly isUsed: boolean
}

export type Look<E> = (addresses: ReadonlyArray<Address.AddressBytes>) => Effect.Effect<ReadonlyArray<WalletAddress>, E>

/** The branches of a wallet; fails where the text is no extended public key of the chain. */
export const branches = (
  chain: Chain,
  { derivation, extendedPublicKey }: Pick<WalletRequest, "derivation" | "extendedPublicKey">
): Effect.Effect<ReadonlyArray<Derivation.Branch>, InvalidXpub> =>
  Effect.mapError(
    Effect.fromResult(
      Result.gen(function* () {
        const key = yield* ExtendedPublicKey.decode(chain, extendedPublicKey)
        const receive = yield* Derivation.branch(chain, key, { derivation, type: "receive" })
        return derivation === "bip32"
          ? [receive]
          : [receive, yield* Derivation.branch(chain, key, { derivation, type: "change" })]
      })
    ),
    ({ message }) => new InvalidXpub({ message })
  )

/** Addresses of a branch up to its gap, the used and the unused ones. */
export const scan = Effect.fn("Wallet.scan")(function* <E>(branch: Derivation.Branch, gapLimit: number, look: Look<E>) {
  const found: Array<WalletAddress> = []
  let unused = 0
  for (let from = 0; unused < gapLimit; ) {
    // As many as end the gap, if none of them is used.
    const count = gapLimit - unused
    const addresses = Derivation.derive(branch, from, count)
      .filter(Result.isSuccess)
      .map(({ success }) => success.bytes)
    from += count
    if (addresses.length === 0) break
    for (const looked of yield* look(addresses)) {
      found.push(looked)
      unused = looked.isUsed ? 0 : unused + 1
    }
  }
  return found
})
