/** Facts that most blockchains of the Bitcoin family share. */
import type { AddressFormat, Blockchain, Network, UtxoNetwork, UtxoRules } from "../Blockchain.ts"

export const defaults = {
  family: "utxo",
  decimals: 8,
  undoDepth: 100,
  blockSeconds: 600
} as const satisfies Partial<Blockchain>

/** The columns of the UTXO table in interface section 8. */
export const listedPrices = ["utxo-last-block", "utxo-derive", "utxo-assets"] as const

interface Facts extends Omit<UtxoNetwork, keyof UtxoRules> {
  readonly address: Omit<Extract<AddressFormat, { kind: "utxo" }>, "kind">
}

const kinds = { mainnet: "live", testnet: "test", regtest: "development" } as const

/** The three networks that every chain of the family has. */
export const networks = (
  rules: UtxoRules,
  facts: Readonly<Record<keyof typeof kinds, Facts>>
): Readonly<Record<keyof typeof kinds, Network>> => {
  const network = (name: keyof typeof kinds): Network => {
    const { address, ...own } = facts[name]
    return {
      networkKind: kinds[name],
      addressFormat: { kind: "utxo", ...address },
      utxo: { ...rules, ...own }
    }
  }
  return { mainnet: network("mainnet"), testnet: network("testnet"), regtest: network("regtest") }
}
