/** The bloom filter over the logs of receipts (Yellow Paper 4.3.1), derived from these, and joined for a block. */
import * as Hex from "./Hex.ts"
import type { Hash } from "./Trie.ts"

export const length = 256

const none = `0x${"00".repeat(length)}`

/** Makes the function that derives the bloom of a receipt's logs; what logs of a block repeat is hashed once. */
export const deriving = (keccak: Hash) => {
  const known = new Map<string, ReadonlyArray<number>>()
  const bitsOf = (text: unknown, bytes: number, field: string): ReadonlyArray<number> => {
    const before = typeof text === "string" ? known.get(text) : undefined
    if (before !== undefined) return before
    const hash = keccak(Hex.fixed(text, bytes, field))
    const bits = [0, 2, 4].map((at) => ((hash[at]! << 8) | hash[at + 1]!) & 0x7ff)
    known.set(text as string, bits)
    return bits
  }
  return (logs: ReadonlyArray<unknown>): Uint8Array => {
    const bloom = new Uint8Array(length)
    const add = (bits: ReadonlyArray<number>) => {
      for (const bit of bits) bloom[length - 1 - (bit >> 3)]! |= 1 << (bit & 7)
    }
    for (const item of logs) {
      const { address, topics } = Hex.object(item, "log")
      add(bitsOf(address, 20, "log.address"))
      for (const topic of Hex.array(topics, "log.topics")) add(bitsOf(topic, 32, "log.topic"))
    }
    return bloom
  }
}

/** The bloom that a node gives; undefined where the node gives none. Throws {@link Hex.Malformed}. */
export const given = (value: unknown, field: string): Uint8Array | undefined =>
  value == null ? undefined : value === none ? new Uint8Array(length) : Hex.fixed(value, length, field)

/** Adds the bits of one bloom to another. */
export const join = (into: Uint8Array, bloom: Uint8Array): void => {
  for (let index = 0; index < length; index++) into[index]! |= bloom[index]!
}
