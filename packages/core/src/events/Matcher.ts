/**
 * Finds the subscriptions that a block concerns, and the callback items for them. Matching is pure; the cost grows with
 * the block, not with the number of subscriptions.
 */
import * as Bytes from "../Bytes.ts"
import type { AddressBytes } from "../address/Address.ts"
import type { Block, CoinDetails, CoinTransfer, ContractLog, InternalTransfer, TokenTransfer } from "../Block.ts"
import type { Chain } from "../chains/Chain.ts"
import * as Steps from "../Steps.ts"
import * as Inputs from "../utxo/Inputs.ts"
import { mayUnlock, type Unlocking } from "../utxo/Unlocking.ts"
import * as Callback from "./Callback.ts"
import type {
  BlockItem,
  CoinItem,
  ContractEventItem,
  Direction,
  InternalItem,
  TokenItem,
  TransactionItem
} from "./CallbackItem.ts"
import type { eventKinds } from "./EventKinds.ts"
import { type EventType, eventsOfClass } from "./EventType.ts"
import * as Filter from "./Filter.ts"
import * as MinedTransactions from "./MinedTransactions.ts"
import { mayBeAmong, type NetMovement, netInSteps } from "./internal/NetMovements.ts"
import type { Payer } from "./Payers.ts"
import type { WatchedAddresses } from "./Watched.ts"

export type { NetMovement } from "./internal/NetMovements.ts"

/** A subscription, as far as matching reads it. */
export interface Subscription {
  readonly event: EventType
  /** Absent for events of blocks and of single transactions. */
  readonly address: AddressBytes | undefined
  /** Undefined where everything is meant. */
  readonly filter?: Filter.Filter | undefined
}

/** Items by the class of their event. */
interface ItemsOfClass {
  readonly coin: CoinItem
  readonly token: TokenItem
  readonly internal: InternalItem
  readonly log: ContractEventItem
  readonly transaction: TransactionItem
  readonly block: BlockItem
}

/** `data.item` of an event, without confirmation counts. */
export type ItemOf<E extends EventType> = ItemsOfClass[(typeof eventKinds)[E]["class"]]

/** Something that happened to a subscription's address, a transaction's or a block's own mining. */
export interface Occurrence<S extends Subscription> {
  readonly subscription: S
  /** Distinguishes the occurrence from every other one for the same subscription in the same block. */
  readonly occurrence: string
  readonly item: ItemOf<S["event"]>
}

/**
 * A net that is in doubt: an input that may be the address's own spends an output that is not known, or a part of the
 * transaction was not understood.
 */
export interface Unresolved<S extends Subscription> {
  readonly subscription: S
  readonly address: AddressBytes
  readonly transactionId: Uint8Array
  /** The transaction was not understood in full: an output or an input may be missing from the net. */
  readonly notUnderstood?: true
}

/** The matches that {@link match} found. */
export interface Matched<S extends Subscription> {
  /** In chain order for each subscription. */
  readonly occurrences: ReadonlyArray<Occurrence<S>>
  /** In place of an occurrence. UTXO chains only. */
  readonly unresolved: ReadonlyArray<Unresolved<S>>
}

/** The subscriptions that a block is matched against. */
export interface Candidates<S extends Subscription> {
  /** Subscriptions by the hex of their address. */
  readonly byAddress: ReadonlyMap<string, ReadonlyArray<S>>
  /** Subscriptions for transactions by the hex of their ids, for those of {@link MinedTransactions.seenInSteps}. */
  readonly byTransaction?: ReadonlyMap<string, ReadonlyArray<S>>
  /** Subscriptions for mined blocks. */
  readonly blockMined: ReadonlyArray<S>
  readonly metadata: (contract: AddressBytes) => Callback.TokenMetadata
  /** As `Payers.shown` finds them. */
  readonly payers?: ReadonlyArray<Payer>
  /** Whether every output of an address is known: then no input that shows no output is the address's own. */
  readonly hasCoins?: (address: AddressBytes) => boolean
}

/** The addresses of a block that may be watched, by their hex. */
export const addressesSeen = (
  block: Block,
  watched: WatchedAddresses,
  payers: ReadonlyArray<Payer> = []
): ReadonlyMap<string, AddressBytes> => Steps.atOnce(addressesSeenInSteps(block, watched, payers))

/** As {@link addressesSeen}. */
export function* addressesSeenInSteps(
  block: Block,
  watched: WatchedAddresses,
  payers: ReadonlyArray<Payer> = []
): Generator<void, ReadonlyMap<string, AddressBytes>> {
  const found = new Map<string, AddressBytes>()
  if (watched.size() === 0) return found
  const see = (address: AddressBytes | undefined) => {
    if (address !== undefined && watched.has(address)) found.set(Bytes.hex(address), address)
  }
  yield* Steps.forEach(block.transfers, (transfer) => {
    see(transfer.from)
    see(transfer.to)
    if (transfer.kind !== "coin") return
    see(transfer.taggedFrom)
    see(transfer.taggedTo)
  })
  yield* Steps.forEach(block.logs ?? [], ({ contract }) => see(contract))
  for (const { address } of payers) see(address)
  return found
}

const coinEvents = eventsOfClass("coin")
const tokenEvents = eventsOfClass("token")
const internalEvents = eventsOfClass("internal")
const logEvents = eventsOfClass("log")

/**
 * Nets coin transfers per transaction and address, as UTXO chains count: the net is incoming where the address gets more
 * than it pays, else outgoing. `concerns` picks the addresses by their hex.
 */
export const net = (
  transfers: ReadonlyArray<CoinTransfer>,
  concerns: { readonly has: (address: string) => boolean }
): ReadonlyArray<NetMovement> => Steps.atOnce(netInSteps(transfers, concerns))

/** The ids, as hex, of transactions of which an input or an output may be missing. */
const idsNotUnderstood = ({ notUnderstood = [] }: Block): ReadonlySet<string> =>
  new Set(notUnderstood.flatMap(({ transactionId }) => (transactionId === undefined ? [] : Bytes.hex(transactionId))))

/** For those of the transactions that have an input without a transfer: whether one such may spend what a script locks. */
function* unresolvedInputs(block: Block, transactions: ReadonlySet<number>) {
  const resolved = new Set<string>()
  yield* Steps.forEach(block.transfers, (transfer) => {
    if (Inputs.isShown(transfer) && transactions.has(transfer.transaction)) {
      resolved.add(`${transfer.transaction}:${transfer.position}`)
    }
  })
  const inputs = new Map<number, Array<Unlocking | undefined>>()
  yield* Steps.forEach(block.spends, ({ position, transaction, unlocking }) => {
    if (!transactions.has(transaction) || resolved.has(`${transaction}:${position}`)) return
    const shown = inputs.get(transaction) ?? []
    shown.push(unlocking?.())
    inputs.set(transaction, shown)
  })
  return new Map([...inputs].map(([transaction, shown]) => [transaction, mayUnlock(shown)]))
}

/**
 * The events of a block at the subscriptions' addresses. A net that is in doubt is no occurrence.
 *
 * @example
 * ```ts
 * import * as Address from "@headwater/core/address/Address"
 * import * as Chain from "@headwater/core/chains/Chain"
 * import * as Matcher from "@headwater/core/events/Matcher"
 * import * as Result from "effect/Result"
 *
 * const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
 * const address = Result.getOrThrow(Address.decode(chain, "0x52908400098527886E0F7030069857D2E4169EE7"))
 * const hash = new Uint8Array(32)
 * const transfer = { kind: "coin", transaction: 0, position: 0, from: undefined, to: address, amount: 10n ** 18n } as const
 * const header = { height: 1, hash, parent: hash, time: 1438269988 }
 * const block = { ...header, transactions: [hash], transfers: [transfer], spends: [] }
 *
 * const subscription = { event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address } as const
 * const { occurrences } = Matcher.match(chain, block, {
 *   byAddress: new Map([["52908400098527886e0f7030069857d2e4169ee7", [subscription]]]),
 *   blockMined: [],
 *   metadata: () => ({ name: "", symbol: "", decimals: undefined })
 * })
 * occurrences[0]?.item.amount // => "1"
 * occurrences[0]?.item.direction // => "incoming"
 * ```
 */
export const match = <S extends Subscription>(chain: Chain, block: Block, candidates: Candidates<S>): Matched<S> =>
  Steps.atOnce(matchInSteps(chain, block, candidates))

/** As {@link match}, for blocks that may be large. */
export function* matchInSteps<S extends Subscription>(
  chain: Chain,
  block: Block,
  candidates: Candidates<S>
): Generator<void, Matched<S>> {
  const occurrences: Array<Occurrence<S>> = []
  const unresolved: Array<Unresolved<S>> = []
  const { byAddress, blockMined, byTransaction, hasCoins, metadata, payers = [] } = candidates
  const mayBeCandidate = mayBeAmong(byAddress.keys())

  // The class of the subscription's event is that of the item.
  const add = (subscription: S, occurrence: string, item: ItemsOfClass[keyof ItemsOfClass]) =>
    occurrences.push({ subscription, occurrence, item: item as ItemOf<S["event"]> })
  const emit = (
    address: AddressBytes,
    events: ReadonlySet<EventType>,
    occurrence: string,
    item: () => ItemsOfClass[keyof ItemsOfClass]
  ) => {
    for (const subscription of byAddress.get(Bytes.hex(address)) ?? []) {
      if (!events.has(subscription.event)) continue
      const told = Filter.told(chain, subscription.filter, item())
      if (told !== undefined) add(subscription, occurrence, told)
    }
  }
  const bothSides = (
    transfer: { readonly from: AddressBytes | undefined; readonly to: AddressBytes | undefined },
    emitSide: (address: AddressBytes, direction: Direction) => void
  ) => {
    if (transfer.from !== undefined && mayBeCandidate(transfer.from)) emitSide(transfer.from, "outgoing")
    if (transfer.to !== undefined && mayBeCandidate(transfer.to)) emitSide(transfer.to, "incoming")
  }

  const coin = (movement: NetMovement & { readonly position: number; readonly details?: CoinDetails | undefined }) => {
    const { address, amount, details, direction, position, transaction } = movement
    const transactionId = block.transactions[transaction]!
    emit(address, coinEvents, `coin:${Bytes.hex(transactionId)}:${position}:${direction}`, () =>
      Callback.coinItem(chain, block, { address, transactionId, direction, amount, details })
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
      emit(address, internalEvents, `internal:${Bytes.hex(transactionId)}:${operation}:${direction}`, () =>
        Callback.internalItem(chain, block, { address, transactionId, direction, amount, operation })
      )
    })

  const log = (contractLog: ContractLog) => {
    if (!mayBeCandidate(contractLog.contract)) return
    emit(contractLog.contract, logEvents, `log:${contractLog.position}`, () => {
      const { contract, data, position, topics, transaction } = contractLog
      const transactionId = block.transactions[transaction]!
      return Callback.contractEventItem(chain, block, { contract, data, position, topics, transactionId })
    })
  }

  for (const subscription of blockMined) add(subscription, "block", Callback.blockItem(chain, block))
  if (byTransaction !== undefined && byTransaction.size > 0) {
    yield* MinedTransactions.ofBlockInSteps(block, byTransaction, (id, name, subscription) =>
      add(subscription, name, Callback.transactionItem(chain, block, id))
    )
  }
  if (byAddress.size === 0) return { occurrences, unresolved }
  if (chain.ledger === "outputs") {
    const movements = yield* netInSteps(block.transfers, byAddress, mayBeCandidate)
    const mayBeSpent = yield* unresolvedInputs(block, new Set(movements.map(({ transaction }) => transaction)))
    const keyOf = ({ address, transaction }: Payer) => `${transaction}:${Bytes.hex(address)}`
    const notUnderstood = idsNotUnderstood(block)
    const inDoubt = ({ address, transaction }: Payer) => {
      const transactionId = block.transactions[transaction]!
      const cause = notUnderstood.has(Bytes.hex(transactionId)) ? { notUnderstood: true as const } : {}
      for (const subscription of byAddress.get(Bytes.hex(address)) ?? []) {
        if (coinEvents.has(subscription.event)) unresolved.push({ subscription, address, transactionId, ...cause })
      }
    }
    yield* Steps.forEach(movements, (movement) => {
      const { address, transaction } = movement
      if (notUnderstood.has(Bytes.hex(block.transactions[transaction]!))) inDoubt(movement)
      else if (mayBeSpent.get(transaction)?.(address) !== true || hasCoins?.(address) === true) {
        coin({ ...movement, position: 0 })
      } else inDoubt(movement)
    })
    const moved = new Set(payers.length === 0 ? [] : movements.map(keyOf))
    for (const payer of payers) {
      if (!moved.has(keyOf(payer)) && hasCoins?.(payer.address) !== true) inDoubt(payer)
    }
    return { occurrences, unresolved }
  }
  yield* Steps.forEach(block.transfers, (transfer) => {
    switch (transfer.kind) {
      case "coin": {
        const { amount, details, position, taggedFrom, taggedTo, transaction } = transfer
        const side = (address: AddressBytes, direction: Direction) =>
          coin({ address, amount, details, direction, position, transaction })
        bothSides(transfer, side)
        bothSides({ from: taggedFrom, to: taggedTo }, side)
        break
      }
      case "token":
        token(transfer)
        break
      case "internal":
        internal(transfer)
        break
    }
  })
  yield* Steps.forEach(block.logs ?? [], log)
  return { occurrences, unresolved }
}
