/** The rows of accounts, their keys, credits and limits. */
import type { Generated } from "kysely"

export interface AccountTables {
  account: AccountTable
  api_key: ApiKeyTable
  credit_balance: CreditBalanceTable
  credit_entry: CreditEntryTable
  credit_day: CreditDayTable
  subscription_count: SubscriptionCountTable
  rate_bucket: RateBucketTable
  verification_hour: VerificationHourTable
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
