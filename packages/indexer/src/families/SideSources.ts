/**
 * What a node shows of its chain beside blocks: transactions that wait for a block, unspent outputs, accounts. Family
 * code ends here as it does at a `Source`; the sync runs a task for each of them that a connected node has.
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer, Spend } from "@headwater/core/Block"
import type * as Derivation from "@headwater/core/keys/Derivation"
import type { CoinsAt } from "@headwater/core/utxo/Coin"
import type * as Effect from "effect/Effect"
import type { Broadcasting } from "./Broadcasting.ts"
import type { NodeError } from "./node/NodeError.ts"
import type { Source } from "./Source.ts"

export interface SideSources {
  /** Takes signed transactions to the nodes. */
  readonly broadcasting?: Broadcasting
  readonly mempool?: Mempool
  /** Shows what inputs spend that neither the node's blocks nor the store can tell. */
  readonly minedOutputs?: MinedOutputs
  /** Finds the coins that addresses had before they were watched. */
  readonly coinSearch?: CoinSearch
  /** Finds the accounts that wallets had before they were synced. */
  readonly accounts?: AccountSource
  /** Says which addresses were never used, on chains whose answers rest on the record from the first transaction on. */
  readonly unusedAt?: UnusedAt
  /** Finds the past of single addresses. */
  readonly past?: PastSource
  /**
   * The whole block at a height, asked for where the block was committed without a part: any of the chain's nodes may give
   * that part. Says what is still missing as `Source.blockAt` does.
   */
  readonly wholeBlockAt?: (height: number) => Effect.Effect<Block, NodeError>
}

/** The transactions that wait at a node. */
export interface Mempool {
  /** Ids, as hex, of the transactions that wait now. */
  readonly ids: Effect.Effect<ReadonlyArray<string>, NodeError>
  /** The transactions with these ids, in this order; those that have left meanwhile, mined or not, are left out. */
  readonly transactions: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<MempoolTransaction>, NodeError>
  /** Hash of the node's newest block. */
  readonly tip: Effect.Effect<Uint8Array, NodeError>
  /** When the node first saw a transaction, in seconds since the Unix epoch; undefined where it does not say. */
  readonly timeOf: (id: string) => Effect.Effect<number | undefined, NodeError>
  /**
   * Mined outputs that no mined transaction has spent, in the order of the outpoints; undefined for an outpoint without
   * one. Undefined as a whole where the node cannot be asked (no `gettxout`).
   */
  readonly outputs: (
    outpoints: ReadonlyArray<Spend["outpoint"]>
  ) => Effect.Effect<ReadonlyArray<Output | undefined> | undefined, NodeError>
  /** Waits until the node has announced a transaction since the last such wait: a hint to look. */
  readonly announced?: Effect.Effect<void>
}

/** A transaction that waits; without transfers and inputs where it was not understood in full. */
export interface MempoolTransaction {
  readonly id: Uint8Array
  /** Outputs, and inputs whose node said what they spend. Their `transaction` is 0. */
  readonly transfers: ReadonlyArray<CoinTransfer>
  /** Every input in plain sight. */
  readonly spends: ReadonlyArray<Spend>
}

/** An output that an input may spend. */
export interface Output {
  readonly script: AddressBytes
  /** In the coin's smallest unit. */
  readonly amount: bigint
}

/**
 * Outputs of mined transactions, spent or not, in the order of the outpoints; undefined for an outpoint whose transaction
 * no node finds (no index of transactions).
 */
export type MinedOutputs = (
  outpoints: ReadonlyArray<Spend["outpoint"]>
) => Effect.Effect<ReadonlyArray<Output | undefined>, NodeError>

/** Finds the coins of addresses. */
export interface CoinSearch {
  /** Whether the node has a way to find coins, asked at little cost. */
  readonly isAvailable: Effect.Effect<boolean, NodeError>
  /**
   * The coins of addresses and of whole branches, all in one search, which may take minutes; undefined where the node has
   * no way. Fails where the node's chain moves on during the search and its answer does not say of which block it is:
   * worth another try.
   */
  readonly find: (
    addresses: ReadonlyArray<AddressBytes>,
    ranges?: ReadonlyArray<BranchRange>
  ) => Effect.Effect<CoinsAt | undefined, NodeError>
  /** How far a search under way is, in percent; undefined where the node does not say. */
  readonly progress: Effect.Effect<number | undefined, NodeError>
}

/** The addresses of a branch from index 0 on: nodes that read descriptors with a range are asked for that. */
export interface BranchRange {
  readonly branch: Derivation.Branch
  /** Indices, also those that BIP-32 has no key for. */
  readonly count: number
  readonly addresses: ReadonlyArray<AddressBytes>
}

/**
 * Which of the addresses had neither nonce, balance nor code after a block, in their order; so that no coin had ever
 * moved to or from them. An address that came into use later may count as used. Fails with `NodeRejected` where the
 * node has no state of that block.
 */
export type UnusedAt = (
  addresses: ReadonlyArray<AddressBytes>,
  block: { readonly height: number; readonly hash: Uint8Array }
) => Effect.Effect<ReadonlyArray<boolean>, NodeError>

/** An account after a block. */
export interface AccountState {
  readonly nonce: number
  /** In the coin's smallest unit. */
  readonly balance: bigint
  readonly hasCode: boolean
}

/** Which blocks of a range have logs of addresses. */
interface TokenBlocks {
  /** In their order. */
  readonly heights: ReadonlyArray<number>
  /** Hash of the range's last block, as the node that answered has it: another branch has other logs. */
  readonly hash: Uint8Array
}

/** What a node shows of blocks long past, without the blocks. */
export interface PastSource {
  /**
   * The blocks from `from` to `to` with logs of token transfers that name one of the addresses as a topic. Fails with
   * `NodeRejected` where that is too much for one answer, and with `BlockMissing` where the node has no block at `to`.
   */
  readonly tokenBlocks: (
    addresses: ReadonlyArray<AddressBytes>,
    from: number,
    to: number
  ) => Effect.Effect<TokenBlocks, NodeError>
  /** Accounts of one address after the blocks at these heights. Fails with `NodeRejected` where the node has no such state. */
  readonly accountsAt: (
    address: AddressBytes,
    heights: ReadonlyArray<number>
  ) => Effect.Effect<ReadonlyArray<AccountState>, NodeError>
}

/** A source that knows whether there is an account at any address. */
export interface AccountSource extends Source {
  /** In the order of the addresses: whether there is an account, or was one in any block that the node has. */
  readonly wereUsed: (addresses: ReadonlyArray<AddressBytes>) => Effect.Effect<ReadonlyArray<boolean>, NodeError>
}
