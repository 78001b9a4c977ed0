/**
 * Transactions of Dash of a special type (DIP-2): the upper half of the version's four bytes is the type, and since version 3 a
 * payload stands behind everything else.
 */
import type { Chain } from "@headwater/core/chains/Chain"

/** The first version that may be of a special type. */
const first = 3

/** The version as nodes show it, from the four bytes that a transaction begins with. */
export const versionOf = (chain: Chain, version: number): number =>
  chain.utxo!.specialTransactions ? (version << 16) >> 16 : version

/** Whether a payload stands behind everything else. */
export const hasPayload = (chain: Chain, version: number): boolean =>
  chain.utxo!.specialTransactions === true && versionOf(chain, version) >= first && version >>> 16 !== 0
