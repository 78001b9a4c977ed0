/**
 * What several nodes of a chain say of it: the newest block by the preferred one, unless that one stands still or stays
 * behind; or with a quorum, what so many of them say.
 */
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Head } from "../Source.ts"
import type { Shared } from "./Failover.ts"
import * as BelievedBlock from "./internal/BelievedBlock.ts"
import * as PreferredHead from "./internal/PreferredHead.ts"
import type { Questions } from "./internal/Questions.ts"
import * as Quorum from "./internal/Quorum.ts"
import type { NodeError } from "./NodeError.ts"

/** The hash of the block that is read, as a node has named it: a hint of what to ask for together with the block. */
export const NamedHash = Context.Reference<Uint8Array | undefined>("@headwater/indexer/families/node/Heads/NamedHash", {
  defaultValue: () => undefined
})

export interface Options {
  /** How many nodes have to say the same hash before a block is believed; 1 by default, at most as many as there are. */
  readonly quorum?: number
}

/** The part of a `Source` that several nodes answer. */
export interface Heads {
  readonly head: Effect.Effect<Head, NodeError>
  readonly hashAt: (height: number) => Effect.Effect<Uint8Array, NodeError>
  readonly blockAt: (height: number) => Effect.Effect<Block, NodeError>
  readonly byEach: (height: number) => ReadonlyArray<Effect.Effect<Block, NodeError>>
}

export const make = <C>(chain: Chain, nodes: Shared<C>, questions: Questions<C>, options: Options): Heads => {
  const quorum = Math.min(options.quorum ?? 1, nodes.each.length)
  const byEach: Heads["byEach"] = (height) => nodes.each.map((client) => questions.block(client, height))
  if (quorum > 1) {
    const { hashAt, head } = Quorum.make(nodes.each, questions, quorum)
    const believed = BelievedBlock.make(nodes, questions, quorum, () => false)
    const blockAt = (height: number) => Effect.flatMap(hashAt(height), (hash) => believed(height, hash))
    return { head, hashAt, blockAt, byEach }
  }
  const { head, isStill, noteGiven } = PreferredHead.make(chain, nodes, questions)
  const believed = BelievedBlock.make(nodes, questions, quorum, isStill)
  return {
    head,
    hashAt: (height) => nodes.withOne((one) => questions.hashAt(one, height)),
    blockAt: (height) => Effect.tap(believed(height), () => Effect.sync(() => noteGiven(height))),
    byEach
  }
}
