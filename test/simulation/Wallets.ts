/**
 * The wallet whose extended public key tenants may subscribe to: on chains that have it, its addresses have places behind
 * those of all others. Whoever pays it has no need of its keys, and it pays nobody.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Derivation from "@headwater/core/keys/Derivation"
import * as ExtendedPublicKey from "@headwater/core/keys/ExtendedPublicKey"
import * as Result from "effect/Result"

/** Of nobody: BIP-32's test vector 1, in the form of mainnets. */
const text =
  "xpub68Gmy5EdvgibQVfPdqkBBCHxA5htiqg55crXYuXoQRKfDBFA1WEjWgP6LHhwBZeNK1VTsfTFUHCdrfp1bgwQ9xv5ski8PX9rL2dZXvgGDnw"

/** The first place of the wallet. */
export const firstPlace = 8
/** Addresses of each branch that anybody pays. */
export const perBranch = 6

const branches = ["receive", "change"] as const

export const places = branches.length * perBranch

/** Which address of the wallet has a place; undefined for an address of nobody's wallet. */
export const find = (place: number) =>
  place < firstPlace
    ? undefined
    : { branch: Math.floor((place - firstPlace) / perBranch), index: (place - firstPlace) % perBranch }

const chains = new Set(["ethereum/devnet", "litecoin/regtest"])

/** Whether a chain has the wallet. */
export const isOn = (chain: string) => chains.has(chain)

const key = Result.getOrThrow(ExtendedPublicKey.decode(Chain.ofName("bitcoin/mainnet")!, text))

/** The extended public key as a chain writes it. */
export const publicKeyOn = (chain: string) => ExtendedPublicKey.encode(Chain.ofName(chain)!, key)

const derived = new Map<string, ReadonlyArray<Derivation.DerivedAddress>>()

const derive = (name: string) => {
  const chain = Chain.ofName(name)!
  const key = Result.getOrThrow(ExtendedPublicKey.decode(chain, publicKeyOn(name)))
  return branches.flatMap((type) =>
    Derivation.derive(Result.getOrThrow(Derivation.branch(chain, key, { type })), 0, perBranch).map(Result.getOrThrow)
  )
}

/** The address at a place of the wallet. */
export const addressAt = (chain: string, place: number): Derivation.DerivedAddress => {
  const known = derived.get(chain) ?? derive(chain)
  derived.set(chain, known)
  return known[place - firstPlace]!
}
