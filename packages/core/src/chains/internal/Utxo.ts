/** Facts that most blockchains of the Bitcoin family share. */
import type { UtxoNetwork, UtxoRules } from "../../utxo/UtxoNetwork.ts"
import type { Blockchain, Network } from "../Blockchain.ts"

export const defaults = {
  family: "utxo",
  decimals: 8,
  undoDepth: 100,
  blockSeconds: 600
} as const satisfies Partial<Blockchain>

/** The columns of the UTXO table in interface section 8, and the operation beside it that the chain's factor counts for. */
export const listedPrices = ["utxo-last-block", "utxo-derive", "utxo-assets", "utxo-prepare"] as const

const kinds = { mainnet: "live", testnet: "test", regtest: "development" } as const

/** The three networks that every chain of the family has. */
export const networks = (
  rules: UtxoRules,
  facts: Readonly<Record<keyof typeof kinds, Omit<UtxoNetwork, keyof UtxoRules>>>
): Readonly<Record<keyof typeof kinds, Network<"utxo">>> => {
  const network = (name: keyof typeof kinds) => ({ networkKind: kinds[name], utxo: { ...rules, ...facts[name] } })
  return { mainnet: network("mainnet"), testnet: network("testnet"), regtest: network("regtest") }
}
