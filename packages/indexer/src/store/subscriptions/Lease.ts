/** The callbacks on their way out, as senders see them: who may send which until when, and what came of each. */
import type { DueSubscription } from "../database/Signals.ts"
import type { Attempt } from "./internal/AttemptLog.ts"

export type { DueSubscription } from "../database/Signals.ts"
export type { Attempt } from "./internal/AttemptLog.ts"

/** One callback as it is sent. */
export interface OutboxMessage {
  readonly id: number
  readonly account: number
  readonly subscription: number
  readonly host: string
  readonly idempotencyKey: string
  /** Its number within the subscription. */
  readonly sequence: number
  readonly body: string
  /** Finished attempts so far. */
  readonly attempts: number
  readonly attemptLog: string
  /** Milliseconds since the Unix epoch. */
  readonly created: number
}

/** Callbacks of one subscription that the lease's holder alone may send, in this order, until the lease ends. */
export interface Lease {
  readonly account: number
  readonly subscription: number
  readonly host: string
  readonly url: string
  /** The subscription's secret, while a rotation lasts also the one before; empty where it has none. */
  readonly secrets: ReadonlyArray<string>
  readonly callbacks: ReadonlyArray<OutboxMessage>
  /** Whether it has as many callbacks as it may: there may be more. */
  readonly full: boolean
  /** Whether it is of what failed, and counts towards `failingLimit`. */
  readonly failing: boolean
  /** Milliseconds since the Unix epoch. */
  readonly leasedUntil: number
  /** Whether no block was undone since, as far as this process has heard: one may be what a callback is about. */
  readonly isCurrent: () => boolean
}

/** A lease to follow one that its holder still has: the outcomes of the first need not be written before. */
export interface FollowOn {
  readonly account: number
  readonly subscription: number
  /** The id of the last callback that is leased. */
  readonly after: number
  /** Callbacks that the lease may have. */
  readonly batchSize: number
  /** As of a lease. */
  readonly failing: boolean
}

/** A host that there is something to send to, and the account whose callbacks these are, where they are of one alone. */
export interface DueHost {
  readonly host: string
  readonly account: number | undefined
}

/** An account's share of a host's places, beside its leases in flight. */
export interface AccountTurn {
  /** The subscription of its last lease: its others have their turn first. */
  readonly roundRobinCursor: number
  readonly limit: number
  /**
   * Of `limit`, leases that may be of subscriptions whose last attempt failed, whose turn comes behind those of the others;
   * absent where all are treated alike.
   */
  readonly failingLimit?: number
}

/**
 * How much may be leased for a host, over all of its subscriptions: `limit` leases of `batchSize` callbacks each, and of
 * fewer where they would have more than `callbacks` together. Each account has its turn, and no more than its own limit, so
 * that one account's callbacks delay those of no other one.
 */
export interface HostCapacity {
  readonly host: string
  readonly limit: number
  readonly batchSize: number
  readonly callbacks: number
  /** Callbacks that do not count towards `limit`, as long as no other waits for their places. */
  readonly followOns: ReadonlyArray<FollowOn>
  /** The account that the host's last lease was for: the others have their turn first. Negative before the first lease. */
  readonly accountCursor: number
  /** Of accounts with leases before; the others may have `accountLimit`. */
  readonly accounts: ReadonlyMap<number, AccountTurn>
  readonly accountLimit: number
  /** Whether callbacks that are sent again come before those that were never sent. */
  readonly retriesFirst: boolean
  /** The subscriptions of which alone callbacks may be leased that were never sent; absent where everything due may be. */
  readonly only?: ReadonlyArray<Pick<DueSubscription, "account" | "subscription">>
}

/** The outcome of a leased callback. */
export type Outcome =
  | { readonly kind: "delivered"; readonly callback: OutboxMessage; readonly attempt: Attempt }
  /** Due again at `due`, and until `pausedUntil` nothing is sent to the host; in milliseconds since the Unix epoch. */
  | {
      readonly kind: "retry"
      readonly callback: OutboxMessage
      readonly attempt: Attempt
      readonly due: number
      readonly pausedUntil?: number
      /** After half of the retries: how many are left until the subscription is deactivated. */
      readonly retriesLeft?: number | undefined
    }
  /** No further attempt: the subscription is deactivated for this reason. */
  | {
      readonly kind: "refused"
      readonly callback: OutboxMessage
      readonly attempt: Attempt
      readonly subscription: number
      readonly reason: string
    }
  /** The callback was not sent; another sender may. */
  | { readonly kind: "released"; readonly callback: OutboxMessage }
