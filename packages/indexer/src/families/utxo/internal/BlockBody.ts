/** What a block's transactions move: the part of a block that the strategies of reading blocks fill in. */
import type { CoinTransfer, Spend } from "@headwater/core/Block"

export interface BlockBody {
  /** Ids in block order, bytes as they are written. */
  readonly transactions: Array<Uint8Array>
  readonly transfers: Array<CoinTransfer>
  readonly spends: Array<Spend>
}

export const empty = (): BlockBody => ({ transactions: [], transfers: [], spends: [] })

const opReturn = 0x6a
/** MAX_SCRIPT_SIZE of every Bitcoin-derived node. */
const maxScriptSize = 10_000

/**
 * Whether an output can ever be spent: the rule by which the nodes themselves leave outputs out of their UTXO set
 * (`CScript::IsUnspendable`). What cannot be spent is no transfer; everything else is one, also an output of zero, of
 * an empty script, or one that has no address (pay-to-public-key, bare multisig, MWEB peg-in and HogEx address).
 */
export const isSpendable = (script: Uint8Array): boolean => script[0] !== opReturn && script.length <= maxScriptSize
