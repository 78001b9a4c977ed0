/** The families that Headwater knows, each a value at the top of its folder. */
import type * as Chain from "@headwater/core/chains/Chain"
import { EvmFamily } from "./evm/EvmFamily.ts"
import type { Family } from "./Family.ts"
import { TronFamily } from "./tron/TronFamily.ts"
import { UtxoFamily } from "./utxo/UtxoFamily.ts"
import { XrpFamily } from "./xrp/XrpFamily.ts"

const families = { evm: EvmFamily, tron: TronFamily, utxo: UtxoFamily, xrp: XrpFamily } satisfies Record<
  Chain.Family,
  Family
>

/**
 * The family of a chain.
 *
 * @example
 * ```ts
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Families from "@headwater/indexer/families/families"
 * import * as Result from "effect/Result"
 *
 * const xrp = Result.getOrThrow(Chain.find("xrp", "mainnet"))
 * Families.of(xrp).urlSchemes // => ["ws", "wss", "http", "https"]
 * ```
 */
export const of = (chain: Chain.Chain): Family => families[chain.family]

type Fields<F = (typeof families)[Chain.Family]["settings"]> = F extends unknown ? (fields: F) => void : never

/** Settings that chains of some family have. */
export type AllFields = Fields extends (fields: infer All) => void ? All : never

/** The settings of a chain's family. All families' are optional: those of others may be taken to be left out. */
export const settingsOf = (chain: Chain.Chain) => families[chain.family].settings as AllFields
