/** What the simulation knows of each family of chains: how its nodes answer, how they lie, and what tenants may ask for. */
import type { Movement } from "./Chains.ts"
import * as EvmNode from "./EvmNode.ts"
import type { View } from "./NodeView.ts"
import * as UtxoNode from "./UtxoNode.ts"

/** Lies that `verify = "links"` notices. What a node calls final, and what it says of its newest block, is believed. */
export type Lie = "wrongReceipts" | "wrongParent" | "wrongHeight" | "withoutBlocks"

type Lying = (method: string, result: unknown, view: View, params: ReadonlyArray<unknown>) => unknown

export interface Family {
  /** As in paths. */
  readonly chain: string
  readonly decimals: Readonly<Record<Movement["kind"], number>>
  /** What moves on the chain beside the coin. */
  readonly kinds: ReadonlySet<Movement["kind"]>
  readonly addressAt: (place: number) => string
  readonly answer: (view: View, method: string, params: ReadonlyArray<unknown>) => unknown
  readonly lies: Readonly<Record<Lie, Lying>>
}

const wrong = (result: unknown, change: object) =>
  typeof result === "object" && result !== null ? { ...result, ...change } : result

const evm: Family = {
  chain: "ethereum/devnet",
  decimals: { coin: 18, internal: 18, token: 6 },
  kinds: new Set(["coin", "internal", "token"]),
  addressAt: EvmNode.addressAt,
  answer: EvmNode.answer,
  lies: {
    wrongReceipts: (method, result) =>
      method === "eth_getBlockReceipts" && Array.isArray(result)
        ? result.map((receipt) => ({ ...receipt, blockHash: `0x${"ee".repeat(32)}` }))
        : result,
    wrongParent: (method, result) =>
      method === "eth_getBlockByNumber" ? wrong(result, { parentHash: `0x${"dd".repeat(32)}` }) : result,
    wrongHeight: (method, result, { branch }, [block]) =>
      method === "eth_getBlockByNumber" && /^0x/.test(String(block))
        ? wrong(result, { number: `0x${Math.max(branch.length - 2, 0).toString(16)}` })
        : result,
    withoutBlocks: (method, result) => (/Block|Receipt/.test(method) ? null : result)
  }
}

const utxo: Family = {
  chain: "litecoin/regtest",
  decimals: { coin: 8, internal: 8, token: 8 },
  kinds: new Set(["coin"]),
  addressAt: UtxoNode.addressAt,
  answer: UtxoNode.answer,
  lies: {
    // There are none.
    wrongReceipts: (_, result) => result,
    wrongParent: (method, result) =>
      method === "getblock" ? wrong(result, { previousblockhash: "dd".repeat(32) }) : result,
    wrongHeight: (method, result, { branch }) =>
      method === "getblock" ? wrong(result, { height: Math.max(branch.length - 2, 0) }) : result,
    withoutBlocks: (method, result) => (method === "getblockhash" ? null : result)
  }
}

export const all = { evm, utxo } as const
