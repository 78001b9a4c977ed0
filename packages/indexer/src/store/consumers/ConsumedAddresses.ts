/** The addresses of a chain whose events are recorded for consumers: those of the program that embeds the indexer. */
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Bytes from "@headwater/core/Bytes"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Watched from "@headwater/core/events/Watched"
import * as TaggedAccount from "@headwater/core/xrp/TaggedAccount"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

export interface ConsumedAddresses {
  readonly has: (address: Uint8Array) => boolean
  /** Events of blocks that are committed from now on. */
  readonly add: (addresses: ReadonlyArray<AddressBytes>) => void
  readonly remove: (addresses: ReadonlyArray<AddressBytes>) => void
  readonly size: () => number
}

/** Every address of a chain, each once: what one user of an account gets, by its tag, the account gets. */
export const all = ({ ledger }: Chain): ConsumedAddresses => ({
  has: (address) => ledger === "outputs" || TaggedAccount.decode(address) === undefined,
  add: () => {},
  remove: () => {},
  size: () => Infinity
})

/** A set of addresses: fingerprints pass over what a block has of others, and the set itself is exact. */
export const make = (addresses: ReadonlyArray<AddressBytes>): ConsumedAddresses => {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
  const fingerprints = Watched.make([high, low], addresses.length)
  const keys = new Set<string>()
  const consumed: ConsumedAddresses = {
    has: (address) => fingerprints.has(address) && keys.has(Bytes.key(address)),
    add: (addresses) => {
      for (const address of addresses) {
        fingerprints.add(address)
        keys.add(Bytes.key(address))
      }
    },
    remove: (addresses) => {
      for (const address of addresses) {
        fingerprints.remove(address)
        keys.delete(Bytes.key(address))
      }
    },
    size: () => keys.size
  }
  consumed.add(addresses)
  return consumed
}

export interface Consumed {
  readonly addresses: ConsumedAddresses
  /** Blocks below the newest one that are kept at least, whoever has yet to be told of them; all where it is undefined. */
  readonly keepBlocks?: number | undefined
  /** Runs after each commit. */
  readonly onRecorded: Effect.Effect<void>
}

/** Of the chain that is opened; undefined where blocks are not recorded for consumers, as in the daemon. */
export const Current = Context.Reference<Consumed | undefined>("@headwater/indexer/store/consumers/ConsumedAddresses", {
  defaultValue: () => undefined
})
