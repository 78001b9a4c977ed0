/**
 * The event kinds: one row for each event that a subscription can be for, by the names of interface section 6.1 and
 * their each-confirmation twins. Matching, subscriptions, callbacks, the contract and the documentation read the row.
 */
import type * as Schema from "effect/Schema"
import { type FamilyName, families, familyNames } from "../families/families.ts"
import {
  atConfirmation,
  BlockItem,
  BroadcastFailItem,
  BroadcastItem,
  CoinItem,
  ContractEventItem,
  InternalItem,
  TokenItem,
  TransactionItem,
  UnconfirmedCoinItem
} from "./CallbackItem.ts"

export interface EventKind {
  /**
   * What the event is about: transfers of an address, or what the contract at an address logs; `transaction` is the
   * transaction with an id, and `block` the block itself: these have no address.
   */
  readonly class: "coin" | "token" | "internal" | "log" | "transaction" | "block"
  /** Where the event shows: in a mined block, in a node's mempool before that, or in blocks that leave the chain. */
  readonly seenIn: "block" | "mempool" | "reorganisation"
  /**
   * The field by which a subscription asks for confirmations: `receiveCallbackOn` for one callback at that
   * confirmation, `confirmationsCount` for a callback at each confirmation up to that one.
   */
  readonly confirmations: "none" | "receiveCallbackOn" | "confirmationsCount"
  /** The families whose chains have the event. */
  readonly families: ReadonlyArray<FamilyName>
  /** `data.item` of the event's callbacks. */
  readonly item: Schema.Top & { readonly fields: Schema.Struct.Fields }
  /** Last part of the path of the operation that subscribes to the event. */
  readonly path: string
  /** Whether that operation requires every field, as interface section 4.1 lists for some. */
  readonly everyFieldRequired?: true
  /** The event in words, to follow "subscribe to". */
  readonly words: string
}

const familiesWith = (fact: "hasContracts" | "hasMempool") => familyNames.filter((name) => families[name][fact])
const familiesWithContracts = familiesWith("hasContracts")
const familiesWithMempool = familiesWith("hasMempool")

/**
 * The rows, by the name of the event.
 *
 * @example
 * ```ts
 * import { eventKinds } from "@headwater/core/events/EventKinds"
 *
 * eventKinds.ADDRESS_COINS_TRANSACTION_CONFIRMED.path // => "address-coins-transactions-confirmed"
 * eventKinds.ADDRESS_COINS_TRANSACTION_UNCONFIRMED.families // => ["utxo"]
 * ```
 */
export const eventKinds = {
  ADDRESS_TOKENS_TRANSACTION_CONFIRMED: {
    class: "token",
    seenIn: "block",
    confirmations: "receiveCallbackOn",
    families: familiesWithContracts,
    item: TokenItem,
    path: "address-tokens-transactions-confirmed",
    words: "confirmed token transactions of an address"
  },
  ADDRESS_TOKENS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION: {
    class: "token",
    seenIn: "block",
    confirmations: "confirmationsCount",
    families: familiesWithContracts,
    item: atConfirmation(TokenItem),
    path: "address-tokens-transactions-confirmed-each-confirmation",
    words: "each confirmation of token transactions of an address"
  },
  ADDRESS_COINS_TRANSACTION_UNCONFIRMED: {
    class: "coin",
    seenIn: "mempool",
    confirmations: "none",
    families: familiesWithMempool,
    item: UnconfirmedCoinItem,
    path: "address-coins-transactions-unconfirmed",
    words: "unconfirmed coin transactions of an address"
  },
  ADDRESS_COINS_TRANSACTION_CONFIRMED: {
    class: "coin",
    seenIn: "block",
    confirmations: "receiveCallbackOn",
    families: familyNames,
    item: CoinItem,
    path: "address-coins-transactions-confirmed",
    words: "confirmed coin transactions of an address"
  },
  ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION: {
    class: "coin",
    seenIn: "block",
    confirmations: "confirmationsCount",
    families: familyNames,
    item: atConfirmation(CoinItem),
    path: "address-coins-transactions-confirmed-each-confirmation",
    words: "each confirmation of coin transactions of an address"
  },
  ADDRESS_INTERNAL_TRANSACTION_CONFIRMED: {
    class: "internal",
    seenIn: "block",
    confirmations: "receiveCallbackOn",
    families: familiesWithContracts,
    item: InternalItem,
    path: "address-internal-transactions-confirmed",
    words: "confirmed internal transactions of an address"
  },
  ADDRESS_INTERNAL_TRANSACTION_CONFIRMED_EACH_CONFIRMATION: {
    class: "internal",
    seenIn: "block",
    confirmations: "confirmationsCount",
    families: familiesWithContracts,
    item: atConfirmation(InternalItem),
    path: "address-internal-transactions-confirmed-each-confirmation",
    everyFieldRequired: true,
    words: "each confirmation of internal transactions of an address"
  },
  CONTRACT_EVENT: {
    class: "log",
    seenIn: "block",
    confirmations: "receiveCallbackOn",
    families: familiesWithContracts,
    item: ContractEventItem,
    path: "contract-events",
    words: "events of a contract"
  },
  TRANSACTION_MINED: {
    class: "transaction",
    seenIn: "block",
    confirmations: "none",
    families: familyNames,
    item: TransactionItem,
    path: "transaction-mined",
    words: "the block that has a transaction"
  },
  BLOCK_MINED: {
    class: "block",
    seenIn: "block",
    confirmations: "none",
    families: familyNames,
    item: BlockItem,
    path: "block-mined",
    words: "new blocks"
  },
  BLOCK_REVERTED: {
    class: "block",
    seenIn: "reorganisation",
    confirmations: "none",
    families: familyNames,
    item: BlockItem,
    path: "block-reverted",
    words: "blocks that leave the chain"
  }
} as const satisfies Readonly<Record<string, EventKind>>

/**
 * The events of a transaction that was broadcast. Nobody subscribes to them: they are told to the URL that the broadcast
 * names.
 */
export const broadcastKinds = {
  BROADCAST_TRANSACTION_SUCCESS: {
    families: familyNames,
    item: BroadcastItem,
    words: "transactions that were broadcast, and that a node has taken or a block has"
  },
  BROADCAST_TRANSACTION_FAIL: {
    families: familyNames,
    item: BroadcastFailItem,
    words: "transactions that were broadcast, and that were refused, replaced or dropped"
  }
} as const satisfies Readonly<Record<string, Pick<EventKind, "families" | "item" | "words">>>
