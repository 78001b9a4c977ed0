/** What a node's newest block makes final of ours. */
import * as Bytes from "@headwater/core/Bytes"
import * as Effect from "effect/Effect"
import type { Head } from "../../families/Source.ts"
import type { ChainStore } from "../../store/chain/ChainStore.ts"

interface Placed {
  readonly height: number
  readonly hash: Uint8Array | undefined
}

/**
 * The height that is final by a head where these are our last blocks; undefined where the last of them is not the node's newest
 * one: only with that have both the same blocks. That a node shows our block does not say so: behind a load balancer another
 * node may do that, which is on a branch that the first one has left. Nor is anything final by a block that is not ours.
 */
export const of = Effect.fnUntraced(function* (
  store: Pick<ChainStore, "hashAt">,
  { final, finalHash, hash, height }: Head,
  blocks: ReadonlyArray<Placed>
) {
  const last = blocks.at(-1)
  if (final === undefined || last?.hash === undefined || last.height !== height) return undefined
  if (!Bytes.equal(last.hash, hash)) return undefined
  const settled = Math.min(final, height)
  if (finalHash === undefined) return settled
  const ours = blocks.find(({ height }) => height === settled)?.hash ?? (yield* store.hashAt(settled))
  if (ours === undefined || Bytes.equal(ours, finalHash)) return settled
  return undefined
})
