/** The branches of extended public keys: what several subscriptions are on is read and derived once. */
import * as Chain from "@headwater/core/chains/Chain"
import type * as Derivation from "@headwater/core/keys/Derivation"
import type { Row } from "../../database/Tables.ts"
import * as WalletBranches from "../../wallets/WalletBranches.ts"

/** A branch whose derived addresses stay at hand. */
export interface DerivedBranch {
  /** Whether the address at an index is at hand. */
  readonly has: (index: number) => boolean
  /** Undefined where it is not at hand, and at an index without an address. */
  readonly at: (index: number) => Derivation.DerivedAddress | undefined
  /** Derives so many addresses. */
  readonly derive: (from: number, count: number) => void
}

export const make = (read: () => Derivation.Branch): DerivedBranch => {
  const known = new Map<number, Derivation.DerivedAddress | undefined>()
  return {
    has: (index) => known.has(index),
    at: (index) => known.get(index),
    derive: (from, count) => {
      for (let index = from; index < from + count; index++) known.set(index, undefined)
      for (const address of WalletBranches.derive(read(), from, from + count - 1)) known.set(address.index, address)
    }
  }
}

type Key = Pick<Row<"extended_key">, "public_key" | "derivation" | "format">

const nameOf = (chain: Chain.Chain, { derivation, format, public_key }: Key) =>
  [Chain.nameOf(chain), derivation, format, public_key].join(" ")

/** Keys whose branches are kept at hand: to read one takes a millisecond. */
const keysKept = 1_000
const keys = new Map<string, ReadonlyArray<Derivation.Branch>>()

const branchesOf = (chain: Chain.Chain, key: Key) => {
  const name = nameOf(chain, key)
  const known = keys.get(name)
  if (known !== undefined) return known
  const read = WalletBranches.of(chain, key)
  if (keys.size >= keysKept) keys.clear()
  keys.set(name, read)
  return read
}

/** Branches of stored keys, the same for all that are on the same one. */
export const ofKeys = (chain: Chain.Chain) => {
  const branches = new Map<string, DerivedBranch>()
  return (key: Key & { readonly branch: number }): DerivedBranch => {
    const name = `${key.branch} ${nameOf(chain, key)}`
    const known = branches.get(name)
    if (known !== undefined) return known
    const branch = make(() => branchesOf(chain, key)[key.branch]!)
    branches.set(name, branch)
    return branch
  }
}
