/** The branches of a stored wallet. */
import type { Chain } from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as KeysKernel from "@headwater/core/keys/KeysKernel"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Row } from "../database/Tables.ts"

export type Keys = Pick<Row<"wallet">, "public_key" | "derivation" | "format">

/** Receiving addresses, then change where the derivation has it: the place in this list is the number of the branch. */
export const of = (chain: Chain, { derivation, format, public_key }: Keys): ReadonlyArray<Derivation.Branch> => {
  // What is stored was made of a key that was read before, so it can be read again.
  const key = Result.getOrThrow(ExtendedPublicKey.decode(chain, public_key))
  return Result.getOrThrow(Derivation.branches(chain, key, { derivation, format }))
}

/** Addresses at the indices `from` … `to`; one that BIP-32 has no key for is left out. */
export const derive = (branch: Derivation.Branch, from: number, to: number): ReadonlyArray<Derivation.DerivedAddress> =>
  Derivation.derive(branch, from, Math.max(0, to - from + 1), KeysKernel.addBaseMultiples)
    .filter(Result.isSuccess)
    .map(({ success }) => success)

/** Addresses derived at a time, since deriving blocks. */
const stepSize = 100

/** As {@link derive}, of many addresses, letting others work in between. */
export const deriveInSteps = Effect.fnUntraced(function* (branch: Derivation.Branch, from: number, to: number) {
  const addresses: Array<Derivation.DerivedAddress> = []
  for (let first = from; first <= to; first += stepSize) {
    addresses.push(...derive(branch, first, Math.min(to, first + stepSize - 1)))
    yield* Effect.yieldNow
  }
  return addresses
})
