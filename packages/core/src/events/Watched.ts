/**
 * The set of watched addresses, small and fast enough for tens of millions.
 *
 * The set holds 64-bit keyed fingerprints, not addresses: `has` may be wrong about an address that was never added (about
 * once in 2^64 / size), never about an address that was. The caller asks the store about each address found, since the
 * store is exact. Open addressing with linear probing over one typed array leaves the garbage collector nothing to visit.
 * The key is secret, since strangers choose addresses.
 */

export interface Watched {
  readonly add: (address: Uint8Array) => void
  readonly remove: (address: Uint8Array) => void
  readonly has: (address: Uint8Array) => boolean
  readonly size: () => number
}

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
  let slots = 1 << Math.ceil(Math.log2(Math.max(16, capacity * 1.5)))
  let table = new Uint32Array(slots * 2)
  let size = 0
  let high = 0
  let low = 0

  // Two lanes of MurmurHash3's 32-bit mixing with different keys; leaves the fingerprint in `high` and `low`.
  const fingerprint = (bytes: Uint8Array) => {
    let a = key[0]
    let b = key[1]
    const length = bytes.length
    for (let i = 0; i < length; i += 4) {
      const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
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

  const find = (): number => {
    let slot = high & (slots - 1)
    while (true) {
      const at = slot * 2
      if (table[at + 1] === 0) return -1 - slot
      if (table[at] === high && table[at + 1] === low) return slot
      slot = (slot + 1) & (slots - 1)
    }
  }

  const put = (slot: number) => {
    table[slot * 2] = high
    table[slot * 2 + 1] = low
  }

  const grow = () => {
    const old = table
    slots *= 2
    table = new Uint32Array(slots * 2)
    for (let at = 0; at < old.length; at += 2) {
      if (old[at + 1] === 0) continue
      high = old[at]!
      low = old[at + 1]!
      put(-1 - find())
    }
  }

  return {
    add: (address) => {
      fingerprint(address)
      const slot = find()
      if (slot >= 0) return
      put(-1 - slot)
      size++
      if (size > slots * 0.7) grow()
    },
    remove: (address) => {
      fingerprint(address)
      let hole = find()
      if (hole < 0) return
      size--
      // Entries that probing pushed past the hole are shifted back, so that no search stops early.
      for (let next = (hole + 1) & (slots - 1); table[next * 2 + 1] !== 0; next = (next + 1) & (slots - 1)) {
        const home = table[next * 2]! & (slots - 1)
        if (((next - home) & (slots - 1)) >= ((next - hole) & (slots - 1))) {
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
      return find() >= 0
    },
    size: () => size
  }
}
