/** Finds the transactions of a block that subscriptions wait for by their ids: whatever they moved, and also failed ones. */
import * as Bytes from "../Bytes.ts"
import type { Block } from "../Block.ts"
import * as Steps from "../Steps.ts"
import type { Watched } from "./Watched.ts"

/** The transactions of a block that may be watched, by the hex of their ids. */
export function* seenInSteps(
  { transactions }: Pick<Block, "transactions">,
  watched: Pick<Watched, "has" | "hasLike">
): Generator<void, ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  yield* Steps.forEach(transactions, (id) => {
    // One that could not be read is empty. Where few are watched, most are told apart by their first byte.
    if (id.length > 0 && watched.hasLike(id.length, id[0]!) && watched.has(id)) found.set(Bytes.hex(id), id)
  })
  return found
}

/** What tells an id from most others at little cost: four bytes of its middle. */
const middleOf = (id: Uint8Array): number => (id[14]! << 24) | (id[15]! << 16) | (id[16]! << 8) | id[17]!

/** The subscriptions to a block's transactions, in chain order, from those by the hex of the id. */
export function* ofBlockInSteps<S>(
  { transactions }: Pick<Block, "transactions">,
  byTransaction: ReadonlyMap<string, ReadonlyArray<S>>,
  found: (transactionId: Uint8Array, name: string, subscription: S) => void
): Generator<void, void> {
  const middles = new Set([...byTransaction.keys()].map((hex) => Number.parseInt(hex.slice(28, 36), 16) | 0))
  yield* Steps.forEach(transactions, (id) => {
    if (!middles.has(middleOf(id))) return
    const hex = Bytes.hex(id)
    for (const subscription of byTransaction.get(hex) ?? []) found(id, occurrenceOf(hex), subscription)
  })
}

/** The name of the occurrence that a block has a transaction, by the hex of the id. */
export const occurrenceOf = (hex: string): string => `transaction:${hex}`
