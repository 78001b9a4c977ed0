/** The four kinds of ledger. Tron shares the EVM endpoints but has its own node API and address text. */
export type Family = "utxo" | "evm" | "tron" | "xrp"
