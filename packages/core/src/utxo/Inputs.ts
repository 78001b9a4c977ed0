/** The inputs of a block of a UTXO chain: a transfer shows the coin that an input takes, where the coin is known. */
import type { Block, CoinTransfer, Spend } from "../Block.ts"
import type { Coin } from "./Coin.ts"

/** An input with the coin that it takes. */
export interface Input {
  readonly spend: Spend
  readonly coin: Pick<Coin, "script" | "amount">
}

const placeOf = ({ position, transaction }: Pick<Spend, "position" | "transaction">) => `${transaction}:${position}`

const shownIn = ({ transfers }: Pick<Block, "transfers">): ReadonlySet<string> => {
  const shown = new Set<string>()
  for (const transfer of transfers) {
    if (transfer.kind === "coin" && transfer.to === undefined) shown.add(placeOf(transfer))
  }
  return shown
}

/** The inputs of a block that have no transfer, in their order. */
export const unshown = (block: Pick<Block, "spends" | "transfers">): ReadonlyArray<Spend> => {
  const shown = shownIn(block)
  return block.spends.filter((spend) => !shown.has(placeOf(spend)))
}

/** The block with a transfer for each of these inputs; some of them may have one already, shown by the node. */
export const show = <B extends Block>(block: B, inputs: ReadonlyArray<Input>): B => {
  if (inputs.length === 0) return block
  const shown = shownIn(block)
  const found = inputs.flatMap(({ coin: { amount, script }, spend }): ReadonlyArray<CoinTransfer> => {
    if (shown.has(placeOf(spend))) return []
    const { position, transaction } = spend
    return [{ kind: "coin", transaction, position, from: script, to: undefined, amount }]
  })
  if (found.length === 0) return block
  return { ...block, transfers: [...block.transfers, ...found].sort((a, b) => a.transaction - b.transaction) }
}
