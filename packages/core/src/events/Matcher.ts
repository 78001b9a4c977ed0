/**
 * Which subscriptions a block concerns, and with what: pure, and its cost grows with the block, not with the number of
 * subscriptions.
 */
import { bytesToHex } from "@noble/hashes/utils.js"
import type { AddressBytes } from "../address/Address.ts"
import type { Block, CoinTransfer, InternalTransfer, TokenTransfer } from "../Block.ts"
import type { Chain } from "../chains/Chain.ts"
import type { Direction, Item, TokenMetadata } from "./Callback.ts"
import * as Callback from "./Callback.ts"
import type { EventType } from "./EventType.ts"
import type { Watched } from "./Watched.ts"

/** What matching needs to know of a subscription. */
export interface Subscription {
  readonly event: EventType
  /** Absent for the block-mined event. */
  readonly address: AddressBytes | undefined
}

/** Something that happened to a subscription's address, or a mined block. */
export interface Occurrence<S extends Subscription> {
  readonly subscription: S
  /** Tells it from every other occurrence for the same subscription in the same block. */
  readonly occurrence: string
  readonly item: Item
}

/** What watched subscriptions a block is matched against. */
export interface Candidates<S extends Subscription> {
  /** Subscriptions by the hex of their address. */
  readonly byAddress: ReadonlyMap<string, ReadonlyArray<S>>
  /** Subscriptions for mined blocks. */
  readonly blockMined: ReadonlyArray<S>
  readonly metadata: (contract: AddressBytes) => TokenMetadata
}

/** The addresses of a block that may be watched, by their hex. */
export const addressesSeen = (block: Block, watched: Watched): ReadonlyMap<string, AddressBytes> => {
  const found = new Map<string, AddressBytes>()
  if (watched.size() === 0) return found
  const see = (address: AddressBytes | undefined) => {
    if (address !== undefined && watched.has(address)) found.set(bytesToHex(address), address)
  }
  for (const transfer of block.transfers) {
    see(transfer.from)
    see(transfer.to)
  }
  return found
}

const coinEvents: ReadonlySet<EventType> = new Set([
  "ADDRESS_COINS_TRANSACTION_CONFIRMED",
  "ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
])
const tokenEvents: ReadonlySet<EventType> = new Set([
  "ADDRESS_TOKENS_TRANSACTION_CONFIRMED",
  "ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
])
const internalEvents: ReadonlySet<EventType> = new Set([
  "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED",
  "ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION"
])

/** The net of one address over the inputs and outputs of one transaction, in the coin's smallest unit. */
export interface NetMovement {
  readonly transaction: number
  readonly address: AddressBytes
  readonly direction: Direction
  readonly amount: bigint
}

/**
 * Nets coin transfers per transaction and address, as UTXO chains count: more to it than from it is incoming, all else
 * outgoing. `concerns` picks the addresses by their hex.
 */
export const net = (
  transfers: Iterable<CoinTransfer>,
  concerns: { readonly has: (address: string) => boolean }
): ReadonlyArray<NetMovement> => {
  const sums = new Map<string, { transaction: number; address: AddressBytes; sum: bigint }>()
  const add = (transaction: number, address: AddressBytes | undefined, amount: bigint) => {
    if (address === undefined) return
    const hex = bytesToHex(address)
    if (!concerns.has(hex)) return
    const key = `${transaction}:${hex}`
    const entry = sums.get(key)
    if (entry === undefined) sums.set(key, { transaction, address, sum: amount })
    else entry.sum += amount
  }
  for (const transfer of transfers) {
    add(transfer.transaction, transfer.from, -transfer.amount)
    add(transfer.transaction, transfer.to, transfer.amount)
  }
  return [...sums.values()]
    .sort((a, b) => a.transaction - b.transaction)
    .map(({ transaction, address, sum }) => ({
      transaction,
      address,
      direction: sum > 0n ? "incoming" : "outgoing",
      amount: sum < 0n ? -sum : sum
    }))
}

/** Every occurrence in a block, in chain order for each subscription. */
export const match = <S extends Subscription>(
  chain: Chain,
  block: Block,
  candidates: Candidates<S>
): ReadonlyArray<Occurrence<S>> => {
  const occurrences: Array<Occurrence<S>> = []
  const { byAddress, blockMined, metadata } = candidates

  const emit = (address: AddressBytes, events: ReadonlySet<EventType>, occurrence: string, item: () => Item) => {
    for (const subscription of byAddress.get(bytesToHex(address)) ?? []) {
      if (events.has(subscription.event)) occurrences.push({ subscription, occurrence, item: item() })
    }
  }
  const bothSides = (
    transfer: { readonly from: AddressBytes | undefined; readonly to: AddressBytes | undefined },
    emitSide: (address: AddressBytes, direction: Direction) => void
  ) => {
    if (transfer.from !== undefined) emitSide(transfer.from, "outgoing")
    if (transfer.to !== undefined) emitSide(transfer.to, "incoming")
  }

  const coin = (transaction: number, position: number, address: AddressBytes, direction: Direction, amount: bigint) => {
    const transactionId = block.transactions[transaction]!
    emit(address, coinEvents, `coin:${bytesToHex(transactionId)}:${position}:${direction}`, () =>
      Callback.coinItem(chain, block, { address, transactionId, direction, amount })
    )
  }
  const token = (transfer: TokenTransfer) =>
    bothSides(transfer, (address, direction) => {
      const transactionId = block.transactions[transfer.transaction]!
      const { amount, contract, tokenId } = transfer
      emit(address, tokenEvents, `token:${transfer.position}:${transfer.batchIndex}:${direction}`, () =>
        Callback.tokenItem(chain, block, {
          ...{ address, transactionId, direction, amount, contract, tokenId },
          standard: chain.tokenStandards?.[transfer.token] ?? "",
          metadata: metadata(contract)
        })
      )
    })
  const internal = (transfer: InternalTransfer) =>
    bothSides(transfer, (address, direction) => {
      const transactionId = block.transactions[transfer.transaction]!
      const { amount, operation } = transfer
      emit(address, internalEvents, `internal:${bytesToHex(transactionId)}:${operation}:${direction}`, () =>
        Callback.internalItem(chain, block, { address, transactionId, direction, amount, operation })
      )
    })

  for (const subscription of blockMined) {
    occurrences.push({ subscription, occurrence: "block", item: Callback.blockItem(chain, block) })
  }
  if (byAddress.size === 0) return occurrences
  if (chain.family === "utxo") {
    const coins = block.transfers.filter((transfer) => transfer.kind === "coin")
    for (const { transaction, address, direction, amount } of net(coins, byAddress)) {
      coin(transaction, 0, address, direction, amount)
    }
    return occurrences
  }
  for (const transfer of block.transfers) {
    switch (transfer.kind) {
      case "coin":
        bothSides(transfer, (address, direction) =>
          coin(transfer.transaction, transfer.position, address, direction, transfer.amount)
        )
        break
      case "token":
        token(transfer)
        break
      case "internal":
        internal(transfer)
        break
    }
  }
  return occurrences
}
