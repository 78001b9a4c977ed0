/** The inputs of a block of a UTXO chain: a transfer shows the coin that an input takes, where the coin is known. */
import type { Block, CoinTransfer, Spend, Transfer } from "../Block.ts"
import * as Steps from "../Steps.ts"
import type { Coin } from "./Coin.ts"

/** An input with the coin that it takes. */
export interface Input {
  readonly spend: Spend
  readonly coin: Pick<Coin, "script" | "amount">
}

/** More than any block has room for. */
const inputsOfTransaction = 2 ** 24

const placeOf = ({ position, transaction }: Pick<Spend, "position" | "transaction">) =>
  transaction * inputsOfTransaction + position

/** Whether a transfer shows the coin that an input takes. */
export const isShown = (transfer: Transfer): transfer is CoinTransfer =>
  transfer.kind === "coin" && transfer.to === undefined

/** Whether some input of a block has no transfer. */
export const someUnshown = ({ spends, transfers }: Pick<Block, "spends" | "transfers">): boolean => {
  let shown = 0
  for (const transfer of transfers) if (isShown(transfer)) shown++
  return shown < spends.length
}

function* shownIn({ transfers }: Pick<Block, "transfers">): Generator<void, ReadonlySet<number>> {
  const shown = new Set<number>()
  yield* Steps.forEach(transfers, (transfer) => {
    if (isShown(transfer)) shown.add(placeOf(transfer))
  })
  return shown
}

/** The inputs of a block that have no transfer, in their order. */
export function* unshownInSteps(block: Pick<Block, "spends" | "transfers">): Generator<void, ReadonlyArray<Spend>> {
  const shown = yield* shownIn(block)
  const unshown: Array<Spend> = []
  yield* Steps.forEach(block.spends, (spend) => {
    if (!shown.has(placeOf(spend))) unshown.push(spend)
  })
  return unshown
}

/** As {@link unshownInSteps}, at once. */
export const unshown = (block: Pick<Block, "spends" | "transfers">): ReadonlyArray<Spend> =>
  Steps.atOnce(unshownInSteps(block))

/** The block with a transfer for each of these inputs; some of them may have one already, shown by the node. */
export function* showInSteps<B extends Block>(block: B, inputs: ReadonlyArray<Input>): Generator<void, B> {
  if (inputs.length === 0) return block
  const shown = yield* shownIn(block)
  const found: Array<CoinTransfer> = []
  yield* Steps.forEach(inputs, ({ coin: { amount, script }, spend }) => {
    if (shown.has(placeOf(spend))) return
    const { position, transaction } = spend
    found.push({ kind: "coin", transaction, position, from: script, to: undefined, amount })
  })
  if (found.length === 0) return block
  found.sort((a, b) => a.transaction - b.transaction)
  // Both are in the order of transactions.
  const transfers: Array<Transfer> = []
  let next = 0
  yield* Steps.forEach(block.transfers, (transfer) => {
    while (next < found.length && found[next]!.transaction < transfer.transaction) transfers.push(found[next++]!)
    transfers.push(transfer)
  })
  while (next < found.length) transfers.push(found[next++]!)
  return { ...block, transfers }
}

/** As {@link showInSteps}, at once. */
export const show = <B extends Block>(block: B, inputs: ReadonlyArray<Input>): B =>
  Steps.atOnce(showInSteps(block, inputs))
