/**
 * The root of a ledger's tree of transactions (`transaction_hash`), and the hashes of transactions.
 *
 * Source: rippled's `SHAMap`: a tree of 16 branches by the digits of a transaction's hash, as deep as two hashes differ.
 */
import { createHash } from "node:crypto"

const prefix = (text: string): Buffer => Buffer.concat([Buffer.from(text, "latin1"), Buffer.alloc(1)])
const transactionPrefix = prefix("TXN")
const leafPrefix = prefix("SND")
const innerPrefix = prefix("MIN")

const noBranch = Buffer.alloc(32)

/** The first half of SHA-512. */
const half = (...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const hash = createHash("sha512")
  for (const part of parts) hash.update(part)
  return hash.digest().subarray(0, 32)
}

const withLength = (bytes: Uint8Array): Buffer => {
  const length = bytes.length
  const rest = length - 12_481
  const head =
    length <= 192
      ? [length]
      : length <= 12_480
        ? [193 + ((length - 193) >> 8), (length - 193) & 0xff]
        : [241 + (rest >> 16), (rest >> 8) & 0xff, rest & 0xff]
  return Buffer.concat([Uint8Array.from(head), bytes])
}

/** The hash that names a transaction, from its bytes. */
export const transactionHash = (transaction: Uint8Array): Buffer => half(transactionPrefix, transaction)

export interface Leaf {
  /** Of the transaction. */
  readonly key: Buffer
  readonly hash: Buffer
}

/** A transaction and its metadata as the tree has them. */
export const leafOf = (key: Buffer, transaction: Uint8Array, metadata: Uint8Array): Leaf => ({
  key,
  hash: half(leafPrefix, withLength(transaction), withLength(metadata), key)
})

const nibble = (key: Buffer, depth: number): number =>
  depth % 2 === 0 ? key[depth >> 1]! >> 4 : key[depth >> 1]! & 0x0f

function* nodeOf(leaves: ReadonlyArray<Leaf>, depth: number): Generator<void, Buffer> {
  if (leaves.length === 0) return noBranch
  if (leaves.length === 1 && depth > 0) return leaves[0]!.hash
  const branches = Array.from({ length: 16 }, (): Array<Leaf> => [])
  for (const leaf of leaves) branches[nibble(leaf.key, depth)]!.push(leaf)
  const hashes: Array<Buffer> = []
  for (const branch of branches) hashes.push(yield* nodeOf(branch, depth + 1))
  yield
  return half(innerPrefix, ...hashes)
}

/** The root over leaves of different keys; zeros for none. */
export const rootOf = (leaves: ReadonlyArray<Leaf>): Generator<void, Buffer> => nodeOf(leaves, 0)
