/**
 * Names, symbols and decimals of token contracts, for blocks that are about to enter the store. A node is asked before
 * the commit, which keeps the answers, so that no transaction waits for a node.
 */
import type { Block } from "@headwater/core/Block"
import * as Effect from "effect/Effect"
import type { Source } from "../families/Source.ts"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import type { LearnedToken, TokensUnknown } from "../store/chain/Tokens.ts"

/** How often the node is asked again because an address of the blocks has come to be watched meanwhile. */
const retries = 3

/** The node's names of contracts that the store does not know; undefined where the node cannot be asked. */
const learn = Effect.fnUntraced(function* (source: Source, store: ChainStore, blocks: ReadonlyArray<Block>) {
  const unknown = yield* store.unknownTokens(blocks)
  if (source.tokenMetadata === undefined) return undefined
  const contracts = unknown.map(({ contract }) => contract)
  const height = unknown.reduce((last, { height }) => Math.max(last, height), 0)
  const answers = unknown.length === 0 ? [] : yield* source.tokenMetadata(contracts, height)
  return unknown.map((mention, i): LearnedToken => ({ ...mention, metadata: answers[i]! }))
})

/** Enters blocks with the node's names of their contracts; again where the blocks turn out to need more contracts. */
export const withTokens = <A, E>(
  source: Source,
  store: ChainStore,
  blocks: ReadonlyArray<Block>,
  enter: (learned: ReadonlyArray<LearnedToken> | undefined) => Effect.Effect<A, E | TokensUnknown>
) =>
  Effect.flatMap(learn(source, store, blocks), enter).pipe(
    Effect.retry({
      times: retries,
      while: (error) => (error as { readonly _tag?: unknown })._tag === "TokensUnknown"
    })
  )
