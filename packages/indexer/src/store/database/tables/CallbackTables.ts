/** The rows of callbacks, of what becomes callbacks, and of deliveries. */
import type { Generated } from "kysely"

export interface CallbackTables {
  waiting: WaitingTable
  matched: MatchedTable
  fan_out: FanOutTable
  unresolved_event: UnresolvedEventTable
  callback: CallbackTable
  every_callback: EveryCallbackTable
  past_callback_height: PastCallbackHeightTable
  past_callback_partition: PastCallbackPartitionTable
  past_callback_start: PastCallbackStartTable
  callback_copy: CallbackCopyTable
  undone_block: UndoneBlockTable
  undoing: UndoingTable
  rewound_block: RewoundBlockTable
  recovery: RecoveryTable
  account_feed: AccountFeedTable
  delivery_count: DeliveryCountTable
  delivery_day: DeliveryDayTable
  failing_subscription: FailingSubscriptionTable
}

/** A movement of coins in doubt: an input that may be the address's own spends an output that is not known. */
export interface UnresolvedEventTable {
  chain: number
  height: number
  transaction_id: Uint8Array
  address: Uint8Array
  reason: string
}

/** An occurrence whose wanted confirmation is yet to come. */
export interface WaitingTable {
  id: Generated<number>
  subscription: number
  /** That of its subscription; 0 in rows of earlier releases. */
  account: Generated<number>
  chain: number
  /** Of the block it happened in. */
  height: number
  /** The tip at which the next callback is due. */
  due_height: number
  /** The confirmation that the next callback is for. */
  confirmation: number
  /** The last confirmation wanted. */
  target: number
  each_confirmation: number
  block_hash: Uint8Array
  /** The event's place in the block: part of the idempotency key. */
  occurrence: string
  /** `data.item` of the callback as JSON. */
  item: string
}

/** What a block has for an address, or for subscriptions to blocks, whose callbacks are yet to be written. */
export interface MatchedTable {
  id: Generated<number>
  chain: number
  height: number
  block_hash: Uint8Array
  /** Null for the block itself. */
  address: Uint8Array | null
  /** The chain's revision at the commit: the subscriptions that were active then have a part in it. */
  revision: number
  /** Milliseconds since the Unix epoch. */
  created: number
  /** JSON array of [class of the event, occurrence, `data.item`], in the order of the chain. */
  occurrences: string
}

/** How far the callbacks of a match are written for one account; gone once all are. */
export interface FanOutTable {
  chain: number
  account: number
  matched: number
  /** The last subscription that has callbacks. */
  subscription: number
  /** How many of that subscription's occurrences are done; 0 where all are. */
  occurrence: number
}

/** Callbacks of a subscription that are sent again: those with a number after the one and up to the other. */
export interface RecoveryTable {
  subscription: number
  account: number
  after: number
  last: number
  /** Only callbacks that were entered at this time or later, in milliseconds since the Unix epoch. */
  since: number
  /** How many are sent again so far. */
  callbacks: number
}

/** A subscription whose callbacks are sent to another URL too. */
export interface CallbackCopyTable {
  id: Generated<number>
  subscription: number
  account: number
  callback_url: string
  /** The last number that the URL has accepted, or that is not sent; and the last one that is to be. */
  after: number
  last: number
  /** Only callbacks that were entered at this time or later, in milliseconds since the Unix epoch. */
  since: number
  /** How many the URL has accepted. */
  callbacks: Generated<number>
  /** Failed attempts, one after another. */
  attempts: Generated<number>
  /** Milliseconds since the Unix epoch, as below. */
  due: number
  leased_until: Generated<number>
  begun: number
  /** Counts how often the copy was asked for anew: a lease of before changes nothing of what is asked for now. */
  generation: Generated<number>
  /** 1 where the attempts have run out, or the host was not verified in time. */
  stopped: Generated<number>
  /** Why the last attempt failed. */
  error: Generated<string | null>
}

/** A block that an operator has rewound: if the chain has another at its height, what it told is retracted. */
export interface RewoundBlockTable {
  chain: number
  height: number
  hash: Uint8Array
  /** Seconds since the Unix epoch. */
  time: number
}

/** A block that has left the chain, of which some callbacks or pending confirmations are still to be taken back. */
export interface UndoneBlockTable {
  id: Generated<number>
  chain: number
  height: number
  /** Null where the store had no header of the block, or where nobody is to be told that the block has left. */
  hash: Uint8Array | null
  /** Seconds since the Unix epoch. */
  time: number
  /** The last block that has left with it, which the keys of retractions name. */
  tip: Uint8Array
  /** The chain's revision: the subscriptions that were active then are told that the block has left. */
  revision: number
  /** 1 where an operator has rewound the block: what was sent is not taken back. */
  rewound: number
  /** The block's callbacks and pending confirmations have ids below these: another block may have come at the height. */
  callbacks_before: number
  pending_before: number
  /** Milliseconds since the Unix epoch. */
  at: number
}

/** How far what a block told is taken back for one account; gone once all is. */
export interface UndoingTable {
  chain: number
  account: number
  undone: number
  /** The last subscription that was told that the block has left; null where all were, or none is to be. */
  subscription: number | null
  /** Callbacks with this id and above are taken back. */
  callback: number
}

/** What the states mean, and how one follows another, is the table of `store/subscriptions/CallbackState`. */
export type CallbackState = "due" | "held" | "delivered" | "orphaned" | "expired" | "retracted"

/** The outbox: one row a callback, kept after delivery as the subscription's feed. */
export interface CallbackTable {
  id: Generated<number>
  subscription: number
  /** That of its subscription: callbacks are taken host by host, so that no host's backlog hides another's. */
  host: string
  /** That of its subscription: of a host's callbacks the accounts have turns. 0 where a callback was made before 0.2. */
  account: Generated<number>
  chain: number
  /** Of the block the event is in; null for an unconfirmed one. */
  height: number | null
  idempotency_key: string
  event: string
  /** The bytes that are signed and sent. */
  body: string
  state: CallbackState
  /** Milliseconds since the Unix epoch. */
  due: number
  leased_until: Generated<number>
  /** Finished attempts since it was made, released or sent again by hand; 0 means that its first is to come. */
  attempts: Generated<number>
  /** JSON array of its last attempts, of all times. */
  attempt_log: Generated<string>
  /** The callback's number within the subscription; null until its first lease, or until a feed shows the callback. */
  sequence: number | null
  /** Milliseconds since the Unix epoch. */
  created: number
  /** When it was last accepted, in milliseconds since the Unix epoch. */
  delivered: Generated<number | null>
  /** Of a retraction: the id of the callback that it takes back. */
  original: Generated<number | null>
  /** Its number in the feed of its account, given when that first shows the callback. */
  feed_position: Generated<number | null>
}

/**
 * Callbacks and past callbacks: on PostgreSQL those whose delivery ended long ago are in partitions of their own. Who changes
 * a past callback recalls it first (`store/subscriptions/internal/PastCallbacks`).
 */
export interface EveryCallbackTable extends CallbackTable {
  /** The day since the Unix epoch on which the callback became past; 0 where it is not past. */
  past_day: number
}

/** The highest block of which past callbacks tell, on PostgreSQL. */
export interface PastCallbackHeightTable {
  chain: number
  height: number
}

/** The last of the callbacks that never become past, since they were there before the partitions; one row, on PostgreSQL. */
export interface PastCallbackStartTable {
  id: number
}

/** A partition of past callbacks, on PostgreSQL. */
export interface PastCallbackPartitionTable {
  /** The first day on which its callbacks became past, and the day behind the last one. */
  from_day: number
  to_day: number
}

/** The feed of an account, from the first time on that somebody reads it. */
export interface AccountFeedTable {
  account: number
  /** The last position that was given, or that a callback would have which was forgotten before anybody read it. */
  last_position: number
}

/** Attempts to deliver callbacks of an account to a host, by what came of them and how long they took. */
export interface DeliveryCountTable {
  account: number
  host: string
  /** When the period began in which the attempts ended, in milliseconds since the Unix epoch. */
  period: number
  /** `refused`: an answer other than 2xx; `unanswered`: none. */
  outcome: "accepted" | "refused" | "unanswered"
  /** They took no longer than this: one of few values. */
  millis: number
  attempts: number
}

/** The attempts of a day that have left `delivery_count`, of all hosts of an account. */
export interface DeliveryDayTable {
  account: number
  /** When the day began, in milliseconds since the Unix epoch. */
  day: number
  /** As in `delivery_count`, as are the following. */
  outcome: "accepted" | "refused" | "unanswered"
  millis: number
  attempts: number
}

/** A subscription whose last attempt failed. */
export interface FailingSubscriptionTable {
  subscription: number
  account: number
  host: string
  /** When the first attempt failed after the last that was accepted, and the last one; in milliseconds since the Unix epoch. */
  since: number
  last: number
  /** Of the last attempt: the status of the answer, null where there was none, and why it failed. */
  status: number | null
  error: string
  /** Until when the host is left alone, in milliseconds since the Unix epoch; 0 where it is not. */
  paused_until: number
  /** When the account was told, after half of the retries, in milliseconds since the Unix epoch; null where it was not. */
  noticed: Generated<number | null>
}
