/** The families of chains, each a value at the top of its folder. */
import { EvmFamily } from "../evm/EvmFamily.ts"
import { TronFamily } from "../tron/TronFamily.ts"
import { UtxoFamily } from "../utxo/UtxoFamily.ts"
import { XrpFamily } from "../xrp/XrpFamily.ts"
import type { Family } from "./Family.ts"

const list = { utxo: UtxoFamily, evm: EvmFamily, tron: TronFamily, xrp: XrpFamily }

export type FamilyName = keyof typeof list

/** The facts that a network of each family states. */
export type FamilyFacts = {
  readonly [Name in FamilyName]: (typeof list)[Name] extends Family<infer Facts> ? Facts : never
}

/** How an address is made of one public key, as responses name it. */
export type Format = (typeof list)[FamilyName]["keyFormats"][number]["name"]

/** The families by their names, in the order in which they are listed. */
export const families: { readonly [Name in FamilyName]: Family<FamilyFacts[Name], Format> } = list

export const familyNames = Object.keys(list) as ReadonlyArray<FamilyName>
