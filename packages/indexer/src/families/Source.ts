/**
 * Where blocks come from: one per chain, made by the module of its family.
 *
 * Family code ends here. A source reads, checks and decodes; it keeps no position and decides nothing about
 * reorganisations.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import type { Chain } from "@headwater/core/chains/Chain"
import type { TokenMetadata } from "@headwater/core/events/Callback"
import type * as Effect from "effect/Effect"
import type { Capability } from "./Capability.ts"
import type { Resting } from "./node/Failover.ts"
import type { BlockMissing, NodeError } from "./node/NodeError.ts"

/** A node's newest block, and the newest height that it calls final (EVM `finalized`, Tron solidified), if it does. */
export interface Head {
  readonly height: number
  readonly hash: Uint8Array
  /** Hash of the block before, where the node says so with the newest one. */
  readonly parent?: Uint8Array
  readonly final: number | undefined
  /**
   * Hash of the final block, where it was asked for apart from the newest one: behind a load balancer another node may have
   * answered, which is on another branch.
   */
  readonly finalHash?: Uint8Array | undefined
}

export interface Source {
  readonly chain: Chain
  readonly head: Effect.Effect<Head, NodeError>
  /** Hash of the canonical block at a height, as cheaply as the node can say it. */
  readonly hashAt: (height: number) => Effect.Effect<Uint8Array, NodeError>
  /** The whole block at a height, checked and decoded. */
  readonly blockAt: (height: number) => Effect.Effect<Block, NodeError | BlockMissing>
  /** How many blocks, as large as the last ones, a node gives in one request, in families where blocks share requests. */
  readonly blocksOfRequest?: () => number
  /** The block at a height by each of several nodes alone, in order of preference. */
  readonly byEach?: (height: number) => ReadonlyArray<Effect.Effect<Block, NodeError>>
  /** The blocks that the node says it has, first and last of each unbroken run, in families whose nodes say so. */
  readonly ranges?: Effect.Effect<ReadonlyArray<readonly [first: number, last: number]>, NodeError>
  /** Which network the node is on at this moment: asked before blocks are undone, in families where finality does not say. */
  readonly network?: Effect.Effect<Capability, NodeError>
  /** The nodes that are not asked at present, since they lied or stand still. */
  readonly resting?: Effect.Effect<ReadonlyArray<Resting>>
  /** Waits until the node has announced a block since the last such wait: a hint to look, and nothing more. */
  readonly announced?: Effect.Effect<void>
  /**
   * The block that was announced last, unless the nodes have shown it: a hint of what to ask for. Bitcoin's family announces no
   * heights.
   */
  readonly announcedHead?: () => (Pick<Head, "hash"> & Partial<Pick<Head, "height">>) | undefined
  /** Asked for token contracts before blocks that speak of them are committed, in families that have tokens. */
  readonly tokenMetadata?: FetchTokenMetadata
  /** What was found out about the node at start and an operator should know: missing traces, no prevouts … */
  readonly capabilities: Effect.Effect<ReadonlyArray<Capability>, NodeError>
}

/**
 * Asks a node for names, symbols and decimals of token contracts; the answers are in the order of the contracts. `height` is
 * that of a block that the node must have, to know the contracts.
 */
export type FetchTokenMetadata = (
  contracts: ReadonlyArray<AddressBytes>,
  height?: number
) => Effect.Effect<ReadonlyArray<TokenMetadata>, NodeError>
