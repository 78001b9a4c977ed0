/**
 * The set of watched addresses, small and fast enough for tens of millions.
 *
 * The set holds 64-bit keyed fingerprints, not addresses: `has` may be wrong about an address that was never added (about
 * once in 2^64 / size), never about an address that was. The caller asks the store about each address found, since the
 * store is exact. Open addressing with linear probing over typed arrays leaves the garbage collector next to nothing to visit.
 * The key is secret, since strangers choose addresses.
 */
import type { Span, Transfer } from "../Block.ts"

export interface Watched {
  readonly add: (address: Uint8Array) => void
  readonly remove: (address: Uint8Array) => void
  readonly has: (address: Uint8Array) => boolean
  /** As `has`, of an address that stands among other bytes. */
  readonly hasAt: (span: Span) => boolean
  /** Whether any address of this length that begins with this byte was ever added: false is certain. */
  readonly hasLike: (length: number, first: number) => boolean
  readonly size: () => number
}

/** Each of these grows by itself, since one table of millions would take long: a power of two. */
const tableCount = 256
const tableBits = Math.log2(tableCount)

/**
 * An empty set. `key`: two secret random 32-bit numbers; `capacity`: addresses that are expected.
 *
 * @example
 * ```ts
 * import * as Watched from "@headwater/core/events/Watched"
 *
 * const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2))
 * const watched = Watched.make([high, low])
 * watched.add(Uint8Array.of(1, 2, 3))
 * watched.has(Uint8Array.of(1, 2, 3)) // => true
 * watched.size() // => 1
 * ```
 */
export const make = (key: readonly [number, number], capacity = 1024): Watched => {
  const slotsAtFirst = 1 << Math.ceil(Math.log2(Math.max(4, (capacity / tableCount) * 1.5)))
  const tables: Array<Uint32Array> = Array.from({ length: tableCount }, () => new Uint32Array(slotsAtFirst * 2))
  const sizes = new Uint32Array(tableCount)
  /** By the last eight bits of a length, and by a first byte: 1 where an address has been added that is like that. */
  const forms = new Uint8Array(2 ** 16)
  const formOf = (length: number, first: number) => ((length & 0xff) << 8) | first
  let size = 0
  let high = 0
  let low = 0

  // Two lanes of MurmurHash3's 32-bit mixing with different keys; leaves the fingerprint in `high` and `low`.
  const fingerprint = (bytes: Uint8Array, from = 0, length = bytes.length) => {
    let a = key[0]
    let b = key[1]
    const end = from + length
    for (let i = from; i < end; i += 4) {
      // Behind the end of an array stands nothing, which counts as zeros; behind a span, something that does not count.
      const left = end - i
      const word =
        bytes[i]! |
        (left > 1 ? bytes[i + 1]! << 8 : 0) |
        (left > 2 ? bytes[i + 2]! << 16 : 0) |
        (left > 3 ? bytes[i + 3]! << 24 : 0)
      const k = Math.imul(word, 0xcc9e2d51)
      const mixed = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
      a ^= mixed
      a = (Math.imul((a << 13) | (a >>> 19), 5) + 0xe6546b64) | 0
      b = Math.imul(b ^ mixed ^ a, 0x85ebca6b)
      b ^= b >>> 15
    }
    a ^= length
    a = Math.imul(a ^ (a >>> 16), 0x85ebca6b)
    a = Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
    b = Math.imul(b ^ length ^ (b >>> 16), 0xc2b2ae35)
    b = Math.imul(b ^ (b >>> 13), 0x85ebca6b)
    high = (a ^ (a >>> 16)) >>> 0
    // An all-zero pair marks an empty slot.
    low = (b ^ (b >>> 16)) >>> 0 || 1
  }

  /** The number of the table that the fingerprint belongs to: by other bits than those that find its slot there. */
  const tableOf = () => high >>> (32 - tableBits)

  /** The slot of the fingerprint in its table; where it is missing, one's complement of the slot that it would take. */
  const find = (table: Uint32Array): number => {
    const mask = table.length / 2 - 1
    let slot = high & mask
    while (true) {
      const at = slot * 2
      if (table[at + 1] === 0) return -1 - slot
      if (table[at] === high && table[at + 1] === low) return slot
      slot = (slot + 1) & mask
    }
  }

  const put = (table: Uint32Array, slot: number) => {
    table[slot * 2] = high
    table[slot * 2 + 1] = low
  }

  const grown = (old: Uint32Array): Uint32Array => {
    const table = new Uint32Array(old.length * 2)
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] === 0) continue
      high = old[at]!
      low = old[at + 1]!
      put(table, -1 - find(table))
    }
    return table
  }

  return {
    add: (address) => {
      forms[formOf(address.length, address[0] ?? 0)] = 1
      fingerprint(address)
      const number = tableOf()
      const table = tables[number]!
      const slot = find(table)
      if (slot >= 0) return
      put(table, -1 - slot)
      size++
      sizes[number]!++
      if (sizes[number]! > (table.length / 2) * 0.7) tables[number] = grown(table)
    },
    remove: (address) => {
      fingerprint(address)
      const number = tableOf()
      const table = tables[number]!
      let hole = find(table)
      if (hole < 0) return
      size--
      sizes[number]!--
      const mask = table.length / 2 - 1
      // Entries that probing pushed past the hole are shifted back, so that no search stops early.
      for (let next = (hole + 1) & mask; table[next * 2 + 1] !== 0; next = (next + 1) & mask) {
        const home = table[next * 2]! & mask
        if (((next - home) & mask) >= ((next - hole) & mask)) {
          table[hole * 2] = table[next * 2]!
          table[hole * 2 + 1] = table[next * 2 + 1]!
          hole = next
        }
      }
      table[hole * 2] = 0
      table[hole * 2 + 1] = 0
    },
    has: (address) => {
      fingerprint(address)
      return find(tables[tableOf()]!) >= 0
    },
    hasAt: ({ at, bytes, length }) => {
      if (size === 0) return false
      fingerprint(bytes, at, length)
      return find(tables[tableOf()]!) >= 0
    },
    hasLike: (length, first) => forms[formOf(length, first)] === 1,
    size: () => size
  }
}

/** Whether a transfer pays an address that may be in the set: the address itself is made where it is asked for alone. */
export const isPaid = ({ has, hasAt }: Pick<Watched, "has" | "hasAt">, transfer: Transfer): boolean => {
  if (transfer.kind === "coin" && transfer.toSpan !== undefined) return hasAt(transfer.toSpan)
  const { to } = transfer
  return to !== undefined && has(to)
}

/** The addresses that a block is looked through for. */
export type WatchedAddresses = Pick<Watched, "has" | "size"> & Partial<Pick<Watched, "hasLike">>
