/** The facts that a UTXO network states. */

/** Version bytes, prefixes and formats of address text on one network. */
export interface UtxoAddressFormat {
  readonly pubKeyHash: ReadonlyArray<number>
  readonly scriptHash: ReadonlyArray<number>
  /** An older P2SH version that is still read, never written (Litecoin's `3…`). */
  readonly legacyScriptHash?: ReadonlyArray<number>
  /** Human-readable part of BIP-173 and BIP-350 addresses. */
  readonly segwit?: string
  /** Witness versions that are no address: Litecoin's MWEB header (8) and peg-in (9). */
  readonly witnessWithoutAddress?: ReadonlyArray<number>
  /** Human-readable part of TEX addresses (ZIP-320): a key hash in bech32m, read, never written. */
  readonly tex?: string
  /** Prefix of CashAddr, which is then the canonical form. */
  readonly cashAddr?: string
}

/** Rules by which a UTXO chain and its nodes differ from Bitcoin's; an absent rule is as on Bitcoin. */
export interface UtxoRules {
  /** Layout of header and transactions: Zcash has an Equihash solution and shielded parts of its own. */
  readonly wireFormat?: "zcash"
  /** The hash by which blocks are named, where that is not double SHA-256 of the header. */
  readonly headerHash?: "x11"
  /** Merged-mining proofs stand behind headers whose version says so (AuxPoW). */
  readonly auxPow?: boolean
  /** A MimbleWimble extension block stands behind the transactions (LIP-2). */
  readonly mweb?: boolean
  /** Transactions of a type with a payload, and none with a witness (DIP-2). */
  readonly specialTransactions?: boolean
  /** A token may stand in front of a locking script (CHIP-2022-02). */
  readonly cashTokens?: boolean
  /** The fee rate by which nodes call an output dust, in the smallest unit for 1,000 bytes; Bitcoin Core's is 3,000. */
  readonly dustRate?: bigint
  /** An amount below which every output is dust, in place of the rate. */
  readonly dustAmount?: bigint
  /** Below this rate for 1,000 bytes nodes relay what miners leave out by default (`-blockmintxfee`), where the two differ. */
  readonly minedRate?: bigint
  /** The version of transactions that all nodes relay, where that is not 2. */
  readonly transactionVersion?: number
  /** Blocks after which a miner's reward can be spent, where that is not 100. */
  readonly coinbaseMaturity?: number
  /** Blocks after which what comes out of MWEB can be spent (Litecoin Core's `PEGOUT_MATURITY`). */
  readonly pegOutMaturity?: number
  /** Signatures hash as BIP-143 has it, with a mark of the chain in their type (UAHF). */
  readonly forkId?: boolean
  /**
   * Which nodes let a waiting transaction be replaced by one that pays more (BIP-125): none, or those alone that are told to
   * (Litecoin Core's `-mempoolreplacement`).
   */
  readonly replacement?: "never" | "optional"
  /** The node says which blocks are final (`getbestchainlock`, DIP-8). */
  readonly chainLocks?: boolean
}

/** A UTXO network: its addresses, the rules of the chain, and the facts by which a node's network is recognised. */
export interface UtxoNetwork extends UtxoRules {
  readonly address: UtxoAddressFormat
  /** Hashes of the first block; several where one name stands for several networks. */
  readonly genesis: ReadonlyArray<string>
  /** The first block of a chain that forked from another one with the same genesis, and is not in that other chain. */
  readonly fork?: { readonly from: string; readonly height: number; readonly hash: string }
}
