/**
 * What endpoints show of any block or transaction of a chain with accounts, whether or not it is recorded: asked of the
 * chain's node, and told in one shape by every family that answers the EVM endpoints.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { BlockHeader, InternalTransfer } from "@headwater/core/Block"
import type * as Effect from "effect/Effect"
import type { NodeError } from "../node/NodeError.ts"
import type { OffsetPage } from "../OffsetPage.ts"

/** A block of the chain by its height or hash, or the newest one. */
export type BlockName = { readonly height: number } | { readonly hash: Uint8Array } | "latest"

export interface ExplorerBlock extends BlockHeader {
  /** Of the next block; undefined where this one is the newest. */
  readonly next: Uint8Array | undefined
  /** Between the parent and this block; 0 for the first block. */
  readonly seconds: number
  readonly extraData: Uint8Array
  readonly gasLimit: number
  readonly gasUsed: number
  /** Of eight bytes; 0 where the chain has none. */
  readonly nonce: bigint
  /** In bytes. */
  readonly size: number
  /** 0 where the node keeps none. */
  readonly totalDifficulty: bigint
  readonly transactions: number
  /** What its transactions have used and paid, on chains with such resources. */
  readonly resources?: Resources & {
    /** Fees in the smallest unit, which the chain burns. */
    readonly burned: bigint
  }
}

/** What accounts have from stakes, and pay for where they have too little (Tron). */
export interface Resources {
  /** Points of bandwidth from stakes and the free allowance, without those that were paid for. */
  readonly bandwidth: number
  /** All energy that calls of contracts took. */
  readonly energy: number
}

/** A block of a list of the newest ones, which tells nothing of the next block. */
export type NewestBlock = Omit<ExplorerBlock, "next">

export interface ExplorerTransaction {
  readonly hash: Uint8Array
  readonly block: Pick<BlockHeader, "hash" | "height" | "time">
  /** Index in the block. */
  readonly position: number
  /** Undefined for the few kinds of transactions that name nobody. */
  readonly from: AddressBytes | undefined
  /** Whom the transaction names, else the contract that it creates. */
  readonly to: AddressBytes | undefined
  /** The contract that the transaction creates. */
  readonly created: AddressBytes | undefined
  /** The contract that the transaction calls, as far as the node knows it to be one at present. */
  readonly called: AddressBytes | undefined
  /** In the smallest unit, as the next two. */
  readonly value: bigint
  /** All that the sender pays beside the value: for gas, for blobs, and to the chain below. */
  readonly fee: bigint
  /** What a unit of gas has cost. */
  readonly gasPrice: bigint
  /** On Tron the most that may be burned for energy, in sun. */
  readonly gasLimit: number
  readonly gasUsed: number
  readonly nonce: number
  readonly input: Uint8Array
  readonly succeeded: boolean
  /** On chains with such resources. */
  readonly resources?: Resources
}

/** A transaction of which it is known in which block it is, and where there. */
export interface Mined {
  readonly hash: Uint8Array
  readonly block: Uint8Array
  readonly height: number
  /** Index in the block. */
  readonly position: number
}

/** As the record has it. */
export const minedOf = (placed: {
  readonly transactionId: Uint8Array
  readonly block: { readonly hash: Uint8Array }
  readonly height: number
  readonly index: number
}): Mined => ({
  hash: placed.transactionId,
  block: placed.block.hash,
  height: placed.height,
  position: placed.index
})

/** Answers are undefined where the chain has no such block or transaction. */
export interface Explorer {
  readonly block: (name: BlockName) => Effect.Effect<ExplorerBlock | undefined, NodeError>
  /** So many of the newest blocks, newest first. */
  readonly newest: (count: number) => Effect.Effect<ReadonlyArray<NewestBlock>, NodeError>
  /** Some transactions of a block, by their index, and how many there are. */
  readonly transactionsOf: (
    name: BlockName,
    page: OffsetPage
  ) => Effect.Effect<
    { readonly items: ReadonlyArray<ExplorerTransaction>; readonly total: number } | undefined,
    NodeError
  >
  /** A transaction that is in a block. */
  readonly transaction: (hash: Uint8Array) => Effect.Effect<ExplorerTransaction | undefined, NodeError>
  /** Transactions in blocks, in the order that they are asked for. */
  readonly mined: (wanted: ReadonlyArray<Mined>) => Effect.Effect<ReadonlyArray<ExplorerTransaction>, NodeError>
  /** The moves of coins below the top of a transaction in a block; absent where the nodes show none. */
  readonly internal:
    | ((hash: Uint8Array) => Effect.Effect<
        | {
            readonly time: number
            readonly transfers: ReadonlyArray<InternalTransfer>
          }
        | undefined,
        NodeError
      >)
    | undefined
}
