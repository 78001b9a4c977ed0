/**
 * The trace of a block: its commit and the delivery of its callbacks, whichever process delivers them and however much
 * later. The id of the trace is the last 32 digits of the block's hash, so that no context has to be stored, and the hash
 * finds the trace.
 */
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"

/** Whether spans are exported; otherwise none is made. */
export const Enabled = Context.Reference<boolean>("@headwater/indexer/sync/BlockTrace/Enabled", {
  defaultValue: () => false
})

/**
 * The parent of spans that belong to the block with this hash, as answers and callbacks write it. It has no span id, so
 * that they are roots of the block's trace.
 */
export const parentOf = (hash: string): Tracer.ExternalSpan =>
  Tracer.externalSpan({ traceId: hash.slice(-32).toLowerCase(), spanId: "" })

export interface BlockTrace {
  /** Puts the fetch of a block into a span, in a trace of its own: the block's hash is not known yet. */
  readonly fetching: <E, R>(height: number, fetch: Effect.Effect<Block, E, R>) => Effect.Effect<Block, E, R>
  /** Puts a commit into a span in the trace of each of its blocks; the span links to that of the block's fetch. */
  readonly committing: <A, E, R>(blocks: ReadonlyArray<Block>, commit: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const none: BlockTrace = { fetching: (_, fetch) => fetch, committing: (_, commit) => commit }

/** The spans of a chain's blocks. */
export const make = Effect.fnUntraced(function* (chain: Chain.Chain): Effect.fn.Return<BlockTrace> {
  if (!(yield* Enabled)) return none
  const fetched = new WeakMap<Block, Tracer.AnySpan>()
  const place = (height: number) => ({ chain: Chain.nameOf(chain), "block.height": height })
  const noted = Effect.fnUntraced(function* (block: Block) {
    const span = yield* Effect.orDie(Effect.currentSpan)
    span.attribute("block.hash", Hash.encode(chain, block.hash))
    fetched.set(block, span)
  })
  return {
    fetching: (height, fetch) =>
      Effect.withSpan(Effect.tap(fetch, noted), "Block.fetch", { root: true, attributes: place(height) }),
    committing: (blocks, commit) =>
      blocks.reduce((commit, block) => {
        const hash = Hash.encode(chain, block.hash)
        const fetch = fetched.get(block)
        return Effect.withSpan(commit, "Block.commit", {
          parent: parentOf(hash),
          attributes: { ...place(block.height), "block.hash": hash },
          links: fetch === undefined ? [] : [{ span: fetch, attributes: {} }]
        })
      }, commit)
  }
})
