/** The rows of the store. Hashes and addresses are bytes, amounts decimal text; flags are 0 or 1 on both dialects. */
import type { EventType } from "@headwater/core/events/EventType"
import type { Format } from "@headwater/core/keys/ExtendedPublicKey"
import type { Generated, Selectable } from "kysely"

export interface Tables {
  chain: ChainTable
  block: BlockTable
  reorganisation: ReorganisationTable
  consumed_block: ConsumedBlockTable
  consumer: ConsumerTable
  replay: ReplayTable
  missing_parts: MissingPartsTable
  skipped_blocks: SkippedBlocksTable
  not_understood: NotUnderstoodTable
  completeness: CompletenessTable
  unresolved_event: UnresolvedEventTable
  synced_address: SyncedAddressTable
  synced_wallet: SyncedWalletTable
  account: AccountTable
  api_key: ApiKeyTable
  subscription: SubscriptionTable
  waiting: WaitingTable
  matched: MatchedTable
  fan_out: FanOutTable
  rewound_block: RewoundBlockTable
  broadcast: BroadcastTable
  callback_copy: CallbackCopyTable
  undone_block: UndoneBlockTable
  undoing: UndoingTable
  recovery: RecoveryTable
  removed_subscription: RemovedSubscriptionTable
  address_list: AddressListTable
  listed_address: ListedAddressTable
  extended_key: ExtendedKeyTable
  extended_key_branch: ExtendedKeyBranchTable
  past_payment: PastPaymentTable
  transaction_look: TransactionLookTable
  missed_blocks: MissedBlocksTable
  subscribed_address: SubscribedAddressView
  ever_subscribed_address: SubscribedAddressView
  bulk_request: BulkRequestTable
  bulk_result: BulkResultTable
  callback: CallbackTable
  every_callback: EveryCallbackTable
  past_callback_height: PastCallbackHeightTable
  past_callback_partition: PastCallbackPartitionTable
  past_callback_start: PastCallbackStartTable
  account_feed: AccountFeedTable
  delivery_count: DeliveryCountTable
  delivery_day: DeliveryDayTable
  failing_subscription: FailingSubscriptionTable
  domain: DomainTable
  unspent_output: UnspentOutputTable
  spent_output: SpentOutputTable
  reserved_coin: ReservedCoinTable
  wallet: WalletTable
  wallet_address: WalletAddressTable
  transfer_chunk: TransferChunkTable
  staged_postings: StagedPostingsTable
  posting_run: PostingRunTable
  posting_page: PostingPageTable
  packed_transfers: TransferChunkTable
  packed_internal: TransferChunkTable
  packed_internal_default: TransferChunkTable
  internal_partition: InternalPartitionTable
  sorted_postings: PostingPageTable
  token: TokenTable
  pruned_internal: PrunedInternalTable
  coin_total: CoinTotalTable
  credit_balance: CreditBalanceTable
  credit_entry: CreditEntryTable
  credit_day: CreditDayTable
  subscription_count: SubscriptionCountTable
  rate_bucket: RateBucketTable
  verification_hour: VerificationHourTable
  asset: AssetTable
  asset_logo: AssetLogoTable
  asset_provider: AssetProviderTable
  asset_quote: AssetQuoteTable
  asset_rate: AssetRateTable
  market_task: MarketTaskTable
  store_format: StoreFormatTable
  store_epoch: StoreEpochTable
  secret_key: SecretKeyTable
  background_migration: BackgroundMigrationTable
  audit_entry: AuditEntryTable
  daemon: DaemonTable
  placement: PlacementTable
}

/** A followed chain and its cursor: the last committed block. */
export interface ChainTable {
  id: Generated<number>
  /** `blockchain/network`. */
  name: string
  height: number | null
  hash: Uint8Array | null
  /** The newest height that a node has called final. */
  final_height: number | null
  /** The first height that was committed. */
  first_height: number | null
  /** Counts changes of the chain's subscriptions; taken under the row's lock, so it orders them with the commits. */
  revision: Generated<number>
  /** Transfers, outputs and tokens of every address are recorded from this block on; null where only watched ones are. */
  all_from: number | null
  /** The internal transactions of every block are recorded from this one on, or are missing parts; null where not. */
  internal_from: number | null
  /** Internal transactions of blocks below this one have been forgotten: `pruned_internal` has their sums. */
  internal_forgotten_below: Generated<number>
  /** Outputs that were spent from this block on are remembered; null: all that were ever recorded. */
  spent_from: number | null
  /** Of outputs: the first and the last block with a transaction that may have moved coins unseen; null where none has. */
  coins_lost_from: number | null
  coins_lost_to: number | null
  /** The parties of recorded transactions are recorded from this block on. */
  parties_from: Generated<number>
  /** Who began to follow the chain last; see `Fence.ts`. */
  epoch: Generated<number>
  /** Counts changes of blocks that were recorded before; taken under the row's lock. */
  coin_changes: Generated<number>
}

/** A daemon that shares the store. Times are those of the store's own clock, in milliseconds since the Unix epoch. */
export interface DaemonTable {
  id: Generated<number>
  name: string
  version: string
  /** Joined by commas. */
  roles: string
  /** Names of the chains that it may follow, joined by commas. */
  chains: string
  started: number
  /** When the daemon last said that it runs. */
  heartbeat: number
}

/** Which daemon follows a chain. */
export interface PlacementTable {
  /** `blockchain/network`. */
  chain: string
  /** The daemon that follows the chain, or is about to; null where none can. */
  daemon: number | null
  /** Since when, as {@link DaemonTable} has times. */
  since: number | null
  /** The daemon that the chain goes to, once the present one has ended its work on it; null where the chain stays. */
  successor: number | null
  /** The name of the daemon that an operator wants to follow the chain. */
  pinned: string | null
}

export interface BlockTable {
  chain: number
  height: number
  hash: Uint8Array
  parent: Uint8Array
  /** Seconds since the Unix epoch. */
  time: number
}

/** A reorganisation that was carried out. */
export interface ReorganisationTable {
  id: Generated<number>
  chain: number
  /** Milliseconds since the Unix epoch. */
  at: number
  /** The last block that both branches share. */
  fork_height: number
  /** Blocks undone. */
  depth: number
  old_hash: Uint8Array
}

/** A replay that is under way, or was interrupted. */
export interface ReplayTable {
  chain: number
  from_height: number
  to_height: number
  /** Every block below it has been replayed. */
  next_height: number
  callbacks: number
}

/** A part that no node could give of committed blocks in a row. Ranges of a chain do not touch. */
export interface MissingPartsTable {
  chain: number
  part: "internal"
  /** The first and the last height. */
  from_height: number
  to_height: number
  /** That of the last block that was committed without the part, in the node's words. */
  reason: string
}

/** Blocks that an operator has given up. */
export interface SkippedBlocksTable {
  chain: number
  /** The first and the last height. */
  from_height: number
  to_height: number
  /** Milliseconds since the Unix epoch. */
  at: number
}

/** A transaction that was not understood in full, as `NotUnderstood` in core's Block. */
export interface NotUnderstoodTable {
  chain: number
  height: number
  /** Numbers those of a block. */
  position: number
  transaction_id: Uint8Array | null
  reason: string
  transfers: number
  raw: string
  /** Whether transfers of the kind may be missing: 0 or 1. */
  lacks_coin: number
  lacks_token: number
  lacks_internal: number
}

/**
 * The first block from which on the record of a watched address is complete, for each of its three parts; 0 is from the
 * beginning, null is unknown. Says nothing of an address that is not watched any more.
 */
export interface CompletenessTable {
  chain: number
  address: Uint8Array
  /**
   * What the address held before this block, on UTXO chains its unspent outputs, and every change since. On account
   * chains the block after the one at which a node was asked for the account.
   */
  coins: number | null
  /** The token transfers of this block and every later one. */
  tokens: number | null
  /** The coin and internal transfers of this block and every later one. */
  history: number | null
  /** The transactions that name the address, in this block and every later one; on UTXO chains where `coins` are known. */
  transactions: number | null
}

/** An address that an account has synced: watched while it is active, and its past read from `birth` on. */
export interface SyncedAddressTable {
  id: Generated<number>
  account: number
  chain: number
  /** The row of its wallet; 0 for a single address. */
  wallet: number
  address: Uint8Array
  /** The chain's revision with which it came to be watched. */
  revision: number
  /** 1 or 0. */
  active: number
  /** Seconds since the Unix epoch. */
  created: number
  callback_url: string | null
  /** The first block whose token transfers are wanted. */
  birth: number
  /** The next block whose logs are to be read. */
  next_height: number
  /** The last one; -1 where there are none to be read. */
  last_height: number
  state: "tokens" | "history" | "synced"
}

/** An HD wallet of an account chain that an account has synced: its addresses are in `synced_address`. */
export interface SyncedWalletTable {
  id: Generated<number>
  account: number
  chain: number
  public_key: string
  derivation: "account" | "bip32"
  /** 1 or 0. */
  active: number
  /** Seconds since the Unix epoch. */
  created: number
  /** The first block whose token transfers are wanted. */
  birth: number
}

/** A movement of coins in doubt: an input that may be the address's own spends an output that is not known. */
export interface UnresolvedEventTable {
  chain: number
  height: number
  transaction_id: Uint8Array
  address: Uint8Array
  reason: string
}

export interface AccountTable {
  id: Generated<number>
  name: string
  created: number
  /** Whether it wants to be told of callbacks whose block left the chain. */
  retractions: Generated<number>
}

export interface ApiKeyTable {
  /** SHA-256 of the key. */
  hash: Uint8Array
  account: number
  name: string
  /** JSON array of the operations that it may call, as `group.endpoint` or `group.*`; null for all. */
  endpoints: string | null
  created: number
  revoked: number | null
  /** When it ends, in milliseconds since the Unix epoch; null for never. */
  expires: Generated<number | null>
  /** When it was used, in milliseconds since the Unix epoch, to the hour; null for never. */
  last_used: Generated<number | null>
  /** 1 or 0: whether the key may only read. */
  read_only: Generated<number>
}

export interface SubscriptionTable {
  id: Generated<number>
  reference_id: string
  account: number
  chain: number
  /** The chain's revision at which it was created or last changed. */
  revision: number
  event: EventType
  /** What blocks are looked through for: an address, or the id of the transaction that the event is about. */
  address: Uint8Array | null
  callback_url: string
  /** Host of the callback URL, for domain verification and per-host limits. */
  host: string
  /** Encrypted, as `Database.secrets` has it. */
  secret: string | null
  /** The secret before the last rotation, encrypted too, which signs too until the time below (milliseconds since the Unix epoch). */
  previous_secret: Generated<string | null>
  previous_secret_until: Generated<number | null>
  /** The wanted confirmation, or the last one for an each-confirmation event. */
  confirmations: number
  /** JSON of a `Filter`; null where everything is meant. */
  filter: Generated<string | null>
  /** Seconds since the Unix epoch. */
  created: number
  /** The chain's cursor at creation: blocks above it are evaluated. Null where no block was committed yet. */
  from_height: number | null
  active: number
  /** 1 for an inactive subscription whose callbacks are parked: blocks are matched against it as if it were active. */
  parking: Generated<number>
  /** When it was deactivated, in milliseconds since the Unix epoch; null where it is active, or was deactivated by an older release. */
  inactive_since: Generated<number | null>
  /** The first block that was not matched against it, where parking has ended; null else. */
  gap_from: Generated<number | null>
  /**
   * The chain's revision from which on blocks were matched against it: it has a part in what blocks of later revisions
   * have matched. One that is neither active nor parking has had none from `revision` on.
   */
  active_from: Generated<number>
  /** JSON array of {reason, timestamp}. */
  deactivation_reasons: Generated<string>
  /** The highest number that a callback of the subscription has. */
  last_sequence: Generated<number>
}

/** A subscription on a list of addresses: its row in `subscription` names no address. */
export interface AddressListTable {
  subscription: number
  account: number
  /** Addresses that are in the list. */
  total: number
  /**
   * Addresses up to the row with this id have begun again since the subscription was activated; null where all have that
   * are in the list.
   */
  begin_after: Generated<number | null>
}

/** An address of a list. */
export interface ListedAddressTable {
  id: Generated<number>
  subscription: number
  chain: number
  address: Uint8Array
  /** The chain's revision at which the address came, or came again, and the one at which it left, if it has. */
  revision: number
  left_revision: Generated<number | null>
  /** The chain's cursor when it came: blocks above it are evaluated. Null where no block was committed yet. */
  from_height: number | null
  /** Of an address of an extended public key, its place: 0 receiving, 1 change, and the index there; else null. */
  branch: Generated<number | null>
  address_index: Generated<number | null>
  /** The recorded blocks that are yet to be looked through for what the address had before it was derived; else null. */
  past_from: Generated<number | null>
  /** The last of these, which stays when they were looked through: blocks above it were matched against the address. */
  past_to: Generated<number | null>
  /** Seconds since the Unix epoch; null for what came before this was noted. */
  created: Generated<number | null>
}

/** What a subscription on an extended public key derives its list of addresses from. */
export interface ExtendedKeyTable extends Pick<WalletTable, "public_key" | "derivation" | "format"> {
  subscription: number
  chain: number
  /** Addresses behind the furthest used one of each branch. */
  window_size: number
}

/** How far a branch of an extended public key has been used and derived. */
export interface ExtendedKeyBranchTable {
  subscription: number
  branch: number
  chain: number
  /** The index after the furthest used one. */
  used: number
  /** The first index that is not derived: less than a window behind where a commit has left the rest to steps. */
  derived: number
  /** Then the first block that may have paid what is not derived; else null. */
  behind_from: number | null
}

/** A transaction that a subscription is for, and that may have been mined before there was the subscription. */
export interface TransactionLookTable {
  subscription: number
  chain: number
  /** The height of the chain at which nodes are asked next. */
  next_look: number
  /** How often no node had it in a block. */
  absences: Generated<number>
  /** How often nodes contradicted the chain, or one that may know it could not be asked. */
  doubts: Generated<number>
  /** Whose subscription it is; 0 where an older program has made it. */
  account: Generated<number>
}

/** A committed block that paid an address of a key before the address was derived, and is yet to be told. */
export interface PastPaymentTable {
  chain: number
  height: number
  subscription: number
  /** The first row of the list's addresses that may have something to tell: earlier ones had none, or were told before. */
  from_address: Generated<number>
  /** How many of the block's occurrences have been told, in their order. */
  told: Generated<number>
}

/** Blocks that a subscription on an extended public key was not matched against, as far as they are of the chain. */
export interface MissedBlocksTable {
  chain: number
  subscription: number
  from_height: number
  to_height: number
}

/** An address with a subscription that is told of it: the subscription's own address, or one of its list. */
export interface SubscribedAddressView
  extends Pick<
    SubscriptionTable,
    | "account"
    | "chain"
    | "reference_id"
    | "event"
    | "host"
    | "confirmations"
    | "filter"
    | "created"
    | "active"
    | "parking"
    | "revision"
    | "from_height"
    | "active_from"
  > {
  id: number
  address: Uint8Array
  /** The first revision that a listed address has no part in; null as long as it has. */
  left_revision: number | null
  /** Whether the address is one of a list. */
  is_listed: 0 | 1
}

/** A request that makes many subscriptions, under a key of its account's choice. */
export interface BulkRequestTable {
  id: Generated<number>
  account: number
  request_key: string
  /** SHA-256 of what was asked for, without secrets. */
  digest: Uint8Array
  /** Items that have a result, from the first on. */
  done: Generated<number>
  /** Milliseconds since the Unix epoch. */
  created: number
}

/** The results of such a request's items, from the item at `position` on. */
export interface BulkResultTable {
  bulk: number
  position: number
  /** JSON array, as `BulkRequests.Outcome`. */
  results: string
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

/** A subscription that is gone, of which callbacks or pending confirmations are still to be removed. */
export interface RemovedSubscriptionTable {
  id: number
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

/** A host that an account wants callbacks on, and the proof that it may. */
export interface DomainTable {
  id: Generated<number>
  account: number
  name: string
  token: string
  /** Milliseconds since the Unix epoch. */
  created: number
  /** When the token was found there; null until then. */
  verified: number | null
}

/** The UTXO set of a chain: whose coins an input spends, and what an address has. */
export interface UnspentOutputTable {
  chain: number
  transaction_id: Uint8Array
  output_index: number
  script: Uint8Array
  amount: string
  height: number
}

/** Outputs spent in blocks that a reorganisation may still undo. */
export interface SpentOutputTable extends UnspentOutputTable {
  spent_height: number
}

/** An account's HD wallet on one chain. */
/** What a transaction uses that an account has prepared, and nothing else of that account may use meanwhile. */
export interface ReservedCoinTable {
  account: number
  chain: number
  /** The transaction that made the coin. */
  source: Uint8Array
  /** The number of the coin among that transaction's outputs. */
  number: number
  /** Milliseconds since the Unix epoch. */
  until: number
}

export interface WalletTable {
  id: Generated<number>
  account: number
  chain: number
  /** The extended public key in its one canonical form. */
  public_key: string
  derivation: "account" | "bip32"
  format: Format
  /** Seconds since the Unix epoch. */
  created: number
  /** What the UTXO set has of its addresses, in the coin's smallest unit. */
  balance: string
  /** `scanning`: the coins that watched addresses had before they were watched are yet to be looked for. */
  state: "scanning" | "synced"
  /** The block at which coins were looked for, as far as the balance rests on that; null where the balance may lack some. */
  scan_height: number | null
  /** 1, or 0: to its account the wallet is as one that is not synced. */
  active: Generated<number>
}

export interface WalletAddressTable {
  id: Generated<number>
  wallet: number
  chain: number
  /** 0 for receiving addresses, 1 for change. */
  branch: number
  address_index: number
  address: Uint8Array
  /** The chain's revision that it came with, as a subscription has one. */
  revision: number
  /** The first block known to pay to it. */
  used_height: number | null
  /** When its account asked for it, in seconds since the Unix epoch; null where it only fills the gap. */
  requested: number | null
}

/** The balance of an account: the sum of its entries. */
export interface CreditBalanceTable {
  account: number
  balance: number
}

/** `grant` adds; `request`, `daily` and `callback` take. */
export type CreditKind = "grant" | "request" | "daily" | "callback"

/** One line of the ledger, never changed. */
export interface CreditEntryTable {
  id: Generated<number>
  account: number
  /** Says what it is for; no two entries have the same, so nothing is charged twice. */
  entry_key: string
  /** Milliseconds since the Unix epoch. */
  at: number
  kind: CreditKind
  /** Credits, negative where they were consumed. */
  amount: number
  /** Results, subscriptions or callbacks that it pays for. */
  results: number
  /** The operation, or the chain and day. */
  detail: string
}

/** The last day whose daily charges are complete: one row. */
export interface CreditDayTable {
  id: number
  /** Days since the Unix epoch. */
  day: number
}

/** What an account has left of its rate, where several processes share the store. */
export interface RateBucketTable {
  account: number
  /** Below zero where more was spent than there was. */
  tokens: number
  /** When that was so, in milliseconds since the Unix epoch. */
  at: number
}

/** How many subscriptions an account has on a chain: counted here, since `count(*)` would read them all. */
export interface SubscriptionCountTable {
  account: number
  chain: number
  total: number
}

/** How often an account has looked for the proof of a domain in an hour. */
export interface VerificationHourTable {
  account: number
  /** Hours since the Unix epoch. */
  hour: number
  total: number
}

/**
 * Up to 64 transfers of one block, of one chain and kind (its log), packed: internal transactions of a block that has a
 * partition in `packed_internal`, all others in `packed_transfers`, and those of before in `transfer_chunk`.
 */
export interface TransferChunkTable {
  log: number
  /** Of its first transfer: the height times 2^20 and the number within the block. */
  position: number
  data: Uint8Array
}

/** A partition of `packed_internal`, on PostgreSQL: of a chain's blocks from a height on, below another one. */
export interface InternalPartitionTable {
  chain: number
  from_height: number
  to_height: number
}

/** The postings of a block that are in no run yet, in the order of their positions. */
export interface StagedPostingsTable {
  log: number
  height: number
  data: Uint8Array
}

/** Sorted postings in pages. `building`: not to be read yet; `retired`: merged into a larger one. */
export interface PostingRunTable {
  id: Generated<number>
  log: number
  level: number
  first_position: number
  last_position: number
  postings: number
  state: "building" | "live" | "retired"
  /** Milliseconds since the Unix epoch. */
  changed: number
  /** 1 where the pages are in `sorted_postings`; those of before are in `posting_page`. */
  paged: number
}

/** Pages of runs: `sorted_postings`, and `posting_page` for runs of before. */
export interface PostingPageTable {
  run: number
  /** The page's first posting. */
  first: Uint8Array
  data: Uint8Array
}

/**
 * Who described an asset. What the operator's file says is not changed by others, and what ships with the package not
 * by providers.
 */
export type AssetOrigin = "coingecko" | "bundled" | "file"

/** A coin, a token or a fiat currency of the market-data catalogue. */
export interface AssetTable {
  id: Generated<number>
  reference_id: string
  slug: string
  /** Upper case; no two assets have the same. */
  symbol: string
  original_symbol: string
  name: string
  asset_type: "crypto" | "fiat"
  subtype: "COIN" | "TOKEN"
  /** JSON array of contracts, in the interface's shape. */
  contracts: string
  origin: AssetOrigin
}

export interface AssetLogoTable {
  asset: number
  mime_type: string
  data: Uint8Array
}

/** What a provider calls an asset. */
export interface AssetProviderTable {
  provider: string
  provider_id: string
  asset: number
  /** When the provider last described the asset, in milliseconds since the Unix epoch; 0 for never. */
  described: number
}

/** The latest quote of an asset. Amounts are decimal text; null is not known. */
export interface AssetQuoteTable {
  asset: number
  amount: string
  /** When it was so, in seconds since the Unix epoch. */
  at: number
  change_1h: string | null
  change_24h: string | null
  change_1w: string | null
  volume_24h: string | null
  market_cap: string | null
  circulating_supply: string | null
  max_supply: string | null
}

/** The rates of 30 days, fewer the older they are. */
export interface AssetRateTable {
  asset: number
  /** Seconds since the Unix epoch. */
  at: number
  amount: string
}

/** Recurring work, on market data at first, that one daemon claims and does. */
export interface MarketTaskTable {
  name: string
  /** Milliseconds since the Unix epoch. */
  due: number
}

/**
 * What became of a broadcast transaction: sent to nodes, mined, mined as failed or refused, replaced by another one, no
 * longer known to any node, or not known yet.
 */
export type BroadcastOutcome = "unknown" | "sent" | "mined" | "failed" | "replaced" | "dropped"

/** A transaction that an account has broadcast. */
export interface BroadcastTable {
  id: Generated<number>
  account: number
  chain: number
  transaction_id: Uint8Array
  raw: Uint8Array
  outcome: BroadcastOutcome
  /** Why the chain has it as failed, or will not have it. */
  error: string | null
  /** The block that has it. */
  height: number | null
  hash: Uint8Array | null
  /** Looks in a row at which no node had it. */
  absences: Generated<number>
  /** The chain's height when the outcome changed. */
  since_height: number
  /** The height of the chain from which on it is looked for again; null where the outcome is final. */
  next_look: number | null
  /** Milliseconds since the Unix epoch, as the time of the last change of the outcome. */
  created: number
  changed: number
  /** Its place in the row of its sender's transactions; null where the chain does not count them. */
  sender: Uint8Array | null
  nonce: number | null
  /** Tells the account what became of it; null where nobody is told. */
  subscription: number | null
  /** The event that was told last, and how often any was told. */
  told: string | null
  tellings: Generated<number>
}

/** What a token contract says of itself; empty or null where it says nothing that can be read. */
export interface TokenTable {
  chain: number
  contract: Uint8Array
  name: string
  symbol: string
  decimals: number | null
  /** The block that made it be asked for. */
  height: number
}

/** What went to and from an address in internal transactions that are no longer kept one by one. */
/** Sums of the coins of an address up to a block, as decimal text. */
export interface CoinTotalTable {
  chain: number
  address: Uint8Array
  /** The last block that is counted. */
  height: number
  received: string
  spent: string
}

export interface PrunedInternalTable {
  chain: number
  address: Uint8Array
  received: string
  spent: string
}

/**
 * A block with the events of it that consumers are told, on the chain or no longer on it. A step back to an earlier block is
 * a row as well, by which what leaves is counted: its `left_number` is its own number.
 */
export interface ConsumedBlockTable {
  chain: number
  /** Counts up with every block that comes, and with every step back. */
  number: number
  /** Of the step back by which the block left the chain; null as long as it is on the chain. */
  left_number: number | null
  height: number
  hash: Uint8Array
  parent: Uint8Array
  /** Seconds since the Unix epoch. */
  time: number
  /** JSON of `store/consumers/BlockEvents`. */
  content: string
  /** The row's own number, where it is what became known later of a block, whose row is above or forgotten; else 0. */
  completion: number
  /**
   * The kinds of events that the block may have yet, with commas, and before them `unresolved` where movements are in doubt;
   * empty where another row says that.
   */
  lacks: string
}

/** How far a program that embeds the indexer has come on a chain. */
export interface ConsumerTable {
  id: Generated<number>
  name: string
  chain: number
  /** The first block that the consumer is told of. */
  from_height: number
  /** The number of `consumed_block` up to which the consumer has acknowledged. */
  position: number
  /** The number of the last step back whose undone blocks the consumer has acknowledged, not below the position. */
  stepped_back: number
  /** The number up to which the consumer was ever told, outside our transactions: what it has of that nobody knows. */
  told: number
  /** The last block of its chain that the consumer has acknowledged; null where that is none. */
  height: number | null
}

/** The oldest program that may run on the store: one row. */
export interface StoreFormatTable {
  id: number
  /** A program that knows this migration may run. */
  oldest_migration: string
  /** The release that brings the migration, for the message to others. */
  oldest_program: string
}

/** What the store is called until it is restored from a backup: one row, none in a copy. */
export interface StoreEpochTable {
  id: number
  epoch: string
  /** The store that the epoch was given to, as `Adapter.identity` tells stores apart. */
  identity: string
}

/** A key that callback secrets of the store may be encrypted with: its id, as `database/SecretKeys` has it. */
export interface SecretKeyTable {
  id: string
}

/** The rewriting of stored rows behind a migration, as long as it is not done. */
export interface BackgroundMigrationTable {
  name: string
  /** Rows with this id and below have been rewritten. */
  position: number
  /** The highest id when the migration was applied: rows above it have the new form. */
  last: number
}

/** Something that was changed, or asked for, through the console or the command line. No secret is in it. */
export interface AuditEntryTable {
  id: Generated<number>
  /** Milliseconds since the Unix epoch; of several times the last one. */
  at: number
  /** A user of the console, an account's name, or `command line`. */
  actor: string
  /** Of the user; `command line`, or `none` where nobody was let in. */
  role: string
  /** The address of the peer, or `command line`. */
  origin: string
  /** As in `key.revoke`. */
  action: string
  subject: string
  /** The name of the account that is concerned. */
  account: string | null
  outcome: "done" | "refused" | "failed"
  detail: string | null
  /** How often, where several are one entry. */
  times: Generated<number>
  /** What is counted in one entry has the same key; null else. */
  repeat_key: Generated<string | null>
}

export type Row<T extends keyof Tables> = Selectable<Tables[T]>
