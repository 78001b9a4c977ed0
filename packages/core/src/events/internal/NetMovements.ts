/** What the transactions of a UTXO chain move for each address, over their inputs and outputs. */
import * as Bytes from "../../Bytes.ts"
import type { AddressBytes } from "../../address/Address.ts"
import type { Transfer } from "../../Block.ts"
import * as Steps from "../../Steps.ts"
import type { Direction } from "../CallbackItem.ts"

/** The net of one address over the inputs and outputs of one transaction, in the coin's smallest unit. */
export interface NetMovement {
  readonly transaction: number
  readonly address: AddressBytes
  readonly direction: Direction
  readonly amount: bigint
}

/** Four bytes out of the middle of an address, where most addresses differ; 0 of a shorter one. */
const middleOf = (address: AddressBytes): number => {
  const at = (address.length >> 1) - 2
  return at < 0 ? 0 : (address[at]! << 24) | (address[at + 1]! << 16) | (address[at + 2]! << 8) | address[at + 3]!
}

/** As {@link middleOf}, of the address's hex. */
const middleOfHex = (hex: string): number => {
  const at = (hex.length >> 2) - 2
  return at < 0 ? 0 : Number.parseInt(hex.slice(at * 2, at * 2 + 8), 16) | 0
}

/** Tells of most addresses that they are not among these, at less cost than by their hex. */
export const mayBeAmong = (addresses: Iterable<string>): ((address: AddressBytes) => boolean) => {
  const middles = new Set<number>()
  for (const hex of addresses) middles.add(middleOfHex(hex))
  return (address) => middles.has(middleOf(address))
}

/** The nets of the transfers, by transaction. `concerns` and `mayConcern` pick the addresses, by their hex and by their bytes. */
export function* netInSteps(
  transfers: ReadonlyArray<Transfer>,
  concerns: { readonly has: (address: string) => boolean },
  mayConcern: (address: AddressBytes) => boolean = () => true
): Generator<void, ReadonlyArray<NetMovement>> {
  const sums = new Map<string, { transaction: number; address: AddressBytes; sum: bigint }>()
  const add = (transaction: number, address: AddressBytes | undefined, amount: bigint) => {
    if (address === undefined || !mayConcern(address)) return
    const hex = Bytes.hex(address)
    if (!concerns.has(hex)) return
    const key = `${transaction}:${hex}`
    const entry = sums.get(key)
    if (entry === undefined) sums.set(key, { transaction, address, sum: amount })
    else entry.sum += amount
  }
  yield* Steps.forEach(transfers, (transfer) => {
    if (transfer.kind !== "coin") return
    add(transfer.transaction, transfer.from, -transfer.amount)
    add(transfer.transaction, transfer.to, transfer.amount)
  })
  return [...sums.values()]
    .sort((a, b) => a.transaction - b.transaction)
    .map(({ transaction, address, sum }) => ({
      transaction,
      address,
      direction: sum > 0n ? "incoming" : "outgoing",
      amount: sum < 0n ? -sum : sum
    }))
}
