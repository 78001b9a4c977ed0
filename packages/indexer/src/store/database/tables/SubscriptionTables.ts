/** The rows of subscriptions and of what they are about, of domains, and of creations in bulk. */
import type { EventType } from "@headwater/core/events/EventType"
import type { Generated } from "kysely"
import type { WalletTable } from "./WalletTables.ts"

export interface SubscriptionTables {
  subscription: SubscriptionTable
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
  domain: DomainTable
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

/** A subscription that is gone, of which callbacks or pending confirmations are still to be removed. */
export interface RemovedSubscriptionTable {
  id: number
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
