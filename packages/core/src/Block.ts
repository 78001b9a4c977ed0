/**
 * A block in the one plain shape that every family shares.
 *
 * Sources decode a node's answers into this shape; matching, recording and confirmation know nothing else of a chain.
 * Hashes are bytes in the order in which the chain's users write them.
 */
import type { AddressBytes } from "./address/Address.ts"
import type { TokenKind } from "./chains/Blockchain.ts"
import type { Unlocking } from "./utxo/Unlocking.ts"

/** Fields of a transaction of the XRP Ledger beside the transfer. */
export interface CoinDetails {
  /** The transaction's type, as the ledger has it: `Payment`, `EscrowFinish`. */
  readonly transactionType: string
  /** Tags that tell apart the users of the account that pays, and of the one that is paid. */
  readonly sourceTag?: number
  readonly destinationTag?: number
}

/** Bytes that stand among others. */
export interface Span {
  readonly bytes: Uint8Array
  readonly at: number
  readonly length: number
}

/**
 * One transfer of the native coin. Its parts may be read when they are asked for, as those of {@link Spend}: a copy names
 * them, since a spread, `JSON.stringify` and `structuredClone` miss such parts.
 */
export interface CoinTransfer {
  readonly kind: "coin"
  /** Index into {@link Block.transactions}. */
  readonly transaction: number
  /**
   * Place in the transaction: input index for a spent output, output index for a created one. On account chains 0 for what
   * the transaction itself moves; what moves beside (deposits, tickets, Polygon's state-sync) has a number of its own.
   */
  readonly position: number
  /** The payer; absent for a created output, a coinbase, a mint. */
  readonly from: AddressBytes | undefined
  /** The recipient; absent for a spent output. */
  readonly to: AddressBytes | undefined
  /** In the coin's smallest unit, never negative. */
  readonly amount: bigint
  /** Where `to` stands in the block's bytes, where that is known: of thousands of outputs few are asked for `to` itself. */
  readonly toSpan?: Span
  /** For callbacks alone, and on the XRP Ledger alone, as the next two. */
  readonly details?: CoinDetails
  /** The payer with its tag, and the recipient with its own, where the transaction names one: see `Address.withTag`. */
  readonly taggedFrom?: AddressBytes
  readonly taggedTo?: AddressBytes
}

/** One transfer of a token. Each id of an ERC-1155 batch is a transfer of its own. */
export interface TokenTransfer {
  readonly kind: "token"
  readonly transaction: number
  /** Log index within the block. */
  readonly position: number
  /** Index within a batch, else 0. */
  readonly batchIndex: number
  readonly token: TokenKind
  readonly contract: AddressBytes
  readonly from: AddressBytes
  readonly to: AddressBytes
  /** In the token's smallest unit; 1 for a non-fungible token. */
  readonly amount: bigint
  readonly tokenId: bigint | undefined
}

/** A value-moving call frame below the top of a transaction. */
export interface InternalTransfer {
  readonly kind: "internal"
  readonly transaction: number
  /** Trace address: `call_0_1`. */
  readonly operation: string
  /** The frame's type in lower case: call, create, create2, selfdestruct. */
  readonly operationType: string
  readonly from: AddressBytes
  readonly to: AddressBytes
  readonly amount: bigint
}

export type Transfer = CoinTransfer | TokenTransfer | InternalTransfer

/**
 * Who has sent a transaction and to whom, whether or not the transaction moved anything or took effect. Of chains whose
 * nodes cannot find the transactions of an address.
 */
export interface TransactionParties {
  readonly kind: "transaction"
  readonly transaction: number
  readonly from: AddressBytes
  /** The contract that it creates where it names nobody; undefined where there is none. */
  readonly to: AddressBytes | undefined
}

/** Something that a contract has logged. Chains with contracts only. */
export interface ContractLog {
  readonly transaction: number
  /** Log index within the block. */
  readonly position: number
  readonly contract: AddressBytes
  /** Up to four, each 0x and 64 hex digits in lower case; the first names the event, unless that is anonymous. */
  readonly topics: ReadonlyArray<string>
  /** 0x and hex digits. */
  readonly data: string
}

/** An input, which names the output that it spends. UTXO chains only. */
export interface Spend {
  readonly transaction: number
  /** Input index. */
  readonly position: number
  readonly outpoint: { readonly transactionId: Uint8Array; readonly index: number }
  /**
   * Where `outpoint` stands in the block's bytes, where that is known: the reverse of the id, and four bytes of the index, the
   * lowest first. Of thousands of inputs few are asked for `outpoint` itself.
   */
  readonly outpointSpan?: Span
  /**
   * What the input shows, where its node does not show the spent output; undefined where the node shows neither. A
   * function, because reading takes time and few inputs are ever asked.
   */
  readonly unlocking?: () => Unlocking | undefined
}

export interface BlockHeader {
  readonly height: number
  readonly hash: Uint8Array
  readonly parent: Uint8Array
  /** Seconds since the Unix epoch. */
  readonly time: number
}

/** A part of a block that the node could not give. */
export interface MissingPart {
  /** Internal transfers, which only a trace shows. */
  readonly part: "internal"
  /** The node's reason: at most 200 characters, none of them a control character. */
  readonly reason: string
}

/** A part of a block that the node's word alone vouches for. */
export interface UnprovenPart {
  /** The part, by one of the few names that its family has for parts: `senders`, `internal transactions`. */
  readonly part: string
  /**
   * `uncommitted`: nothing in the chain commits to the part, for good; `unknown`: the part, or the form in which the node
   * gives the part, is one that this version of Headwater cannot prove.
   */
  readonly cause: "uncommitted" | "unknown"
  /** At most 200 characters, none of them a control character. */
  readonly reason: string
}

/**
 * A transaction of which something could not be understood. What is certain of the transaction is in the block all the
 * same, and nothing of the rest is guessed.
 */
export interface NotUnderstood {
  /** Undefined where the id could not be read, or where the answer does not tell which transaction lacks. */
  readonly transactionId: Uint8Array | undefined
  /** Each field that could not be read, and its rule: at most 300 characters, none of them a control character. */
  readonly reason: string
  /** How many transfers were taken from the transaction. */
  readonly transfers: number
  /** The kinds of transfers, inputs counting as coins, of which some may be missing: empty where nothing is. */
  readonly lacks: ReadonlyArray<Transfer["kind"]>
  /** The transaction as the node gave it, JSON or hexadecimal digits: at most 4,096 characters; empty for many in a block. */
  readonly raw: string
}

export interface Block extends BlockHeader {
  /** Transaction ids in block order; empty for one whose id could not be read, of which nothing is in the block. */
  readonly transactions: ReadonlyArray<Uint8Array>
  /** In block order; a failed transaction has none. */
  readonly transfers: ReadonlyArray<Transfer>
  /** In block order, of every transaction that is understood; absent on chains whose nodes find transactions, or need not. */
  readonly parties?: ReadonlyArray<TransactionParties>
  /** In block order, of transactions that took effect; absent on chains without contracts. */
  readonly logs?: ReadonlyArray<ContractLog>
  /** Every input of a UTXO block that is not a coinbase, also those whose output is already in `transfers`. */
  readonly spends: ReadonlyArray<Spend>
  /** Parts that the node could not give; `transfers` holds nothing of them. Absent in a whole block. */
  readonly missing?: ReadonlyArray<MissingPart>
  /** Parts that nothing proves, at the level at which the chain is verified. Absent where all is proven. */
  readonly unproven?: ReadonlyArray<UnprovenPart>
  /** Transactions that were not understood in full. Absent where all were. */
  readonly notUnderstood?: ReadonlyArray<NotUnderstood>
  /** Internal transfers were not asked for, by the settings or since no node has any; `transfers` holds none. */
  readonly untraced?: true
}
