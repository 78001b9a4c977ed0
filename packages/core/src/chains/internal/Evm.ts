/** Facts that most blockchains with Ethereum's virtual machine share. */
import type { EvmNetwork, EvmRules } from "../../evm/EvmFamily.ts"
import type { Blockchain, Network } from "../Blockchain.ts"

export const defaults = {
  family: "evm",
  decimals: 18,
  tokenStandards: { fungible: "ERC-20", "non-fungible": "ERC-721", multi: "ERC-1155" },
  undoDepth: 128,
  blockSeconds: 12,
  listedPrices: [],
  exampleNode: "http://127.0.0.1:8545"
} as const satisfies Partial<Blockchain>

/** Access lists and a fee market, as Ethereum has had since London. */
export const london = { accessLists: true, feeMarket: true, dataFee: "none" } as const satisfies EvmRules

/** Public networks by their names, and `devnet` for development nodes, whose chain may be any. */
export const networks = (
  rules: Omit<EvmRules, keyof EvmNetwork>,
  known: { readonly mainnet: EvmNetwork } & Readonly<Record<string, EvmNetwork>>
): Readonly<Record<string, Network<"evm">>> => ({
  ...Object.fromEntries(
    Object.entries(known).map(([name, network]): [string, Network<"evm">] => [
      name,
      { networkKind: name === "mainnet" ? "live" : "test", evm: { ...rules, ...network } }
    ])
  ),
  devnet: { networkKind: "development", evm: rules }
})
