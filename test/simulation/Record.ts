/** What was asked of the system and seen of it in the course of a story: all that promises are judged by. */
import type { SimulatedChain } from "./Chains.ts"
import type { Answer } from "./System.ts"
import type { EventName } from "./Story.ts"
import type { Arrival, Attempted } from "./Receivers.ts"
import type { Watched } from "./Watched.ts"

export interface Tenant {
  readonly name: string
  readonly id: number
  readonly key: string
  readonly retractions: boolean
  /** Whether it may run out of credits. */
  readonly isPoor: boolean
  /** When the account first asked for a verification that may have succeeded, by host. */
  readonly verifiedAt: Map<string, number>
}

export interface Secret {
  readonly text: string
  readonly askedAt: number
  /** Undefined where no answer came: then it may be in use, or not. */
  answeredAt: number | undefined
}

/** Callbacks that a tenant wants once more, those behind the number `after`. */
export interface Recovery {
  readonly askedAt: number
  readonly after: number
  /** The last number. */
  readonly last: number
  /** Of the URL to which copies go; undefined for its own. */
  readonly copies: { readonly host: string; readonly path: string } | undefined
  /** Whether other copies may have been asked for since, which are made in place of these. */
  isReplaced: boolean
}

export interface Subscribed {
  readonly tenant: Tenant
  readonly chain: SimulatedChain
  readonly event: EventName
  readonly watched: Watched
  readonly confirmations: number
  readonly host: string
  /** Of its callback URL; no other subscription has it. */
  readonly path: string
  readonly askedAt: number
  /** What its callbacks are signed with, the newest last. */
  readonly secrets: Array<Secret>
  /** Keys of tests that were asked for. */
  readonly tests: Array<string>
  /** When callbacks were asked for again, answered or not. */
  readonly askedAgainAt: Array<number>
  /** What was surely asked for again, to its own URL or to another one. */
  readonly recoveries: Array<Recovery>
  /** Undefined until it is known, and where the answer was lost. */
  referenceId: string | undefined
  answeredAt: number
  /** Blocks that were recorded when the answer came: nothing is promised of these. */
  recorded: ReadonlySet<string>
  /** Whether it was active at the end: whoever has no credits left cannot activate anything. */
  isActive: boolean
  deletion: { readonly askedAt: number; answeredAt: number | undefined } | undefined
}

/** An attempt as the program has begun it, before anything is known of its host. */
export interface Attempt extends Attempted {
  readonly at: number
}

/** A list of what moved that was answered with 200. */
export interface Listed {
  readonly chain: SimulatedChain
  readonly kind: "token" | "internal"
  readonly address: number
  /** The block from which on the list is said to be whole. */
  readonly completeFrom: number | undefined
  /** The transactions in it, without their prefix. */
  readonly transactions: ReadonlySet<string>
  /** Blocks that were recorded before the request, and are after the answer. */
  readonly recorded: ReadonlySet<string>
}

export interface Called {
  readonly tenant: Tenant
  readonly at: number
  readonly what: string
  /** Undefined where the program died before it answered. */
  answer: Answer | undefined
  /** The store could not be written meanwhile. */
  isExcused: boolean
}

export interface FeedEntry {
  readonly sequence: number
  readonly idempotencyKey: string
  readonly event: string
  readonly state: string
}

export interface Record {
  readonly chains: ReadonlyArray<SimulatedChain>
  readonly tenants: ReadonlyArray<Tenant>
  readonly subscribed: ReadonlyArray<Subscribed>
  readonly arrivals: ReadonlyArray<Arrival>
  readonly attempts: ReadonlyArray<Attempt>
  readonly calls: ReadonlyArray<Called>
  readonly listed: ReadonlyArray<Listed>
  /** What the program has logged of what nobody has foreseen, while its store could be written. */
  readonly defects: ReadonlyArray<string>
  /** The feed of each subscription that is left at the end, by its reference id. */
  readonly feeds: ReadonlyMap<string, ReadonlyArray<FeedEntry>>
  /** What was left at the end of each account's credits, by its name. */
  readonly balances: ReadonlyMap<string, number>
  /** Entries of the ledger of each account. */
  readonly ledgers: ReadonlyMap<
    string,
    ReadonlyArray<{ readonly key: string; readonly kind: string; readonly amount: number; readonly results: number }>
  >
  /** When a block was last undone, of those that were. */
  readonly undoneAt: ReadonlyMap<string, number>
  /** Those of these that an operator has rewound. */
  readonly rewound: ReadonlySet<string>
  /** What an audit has found at the end. */
  readonly audited: ReadonlyArray<string>
  /** URLs that several subscriptions have, each of which was asked for once. */
  readonly twice: ReadonlyArray<string>
  /** When any node of a chain last may have hidden what a block has. */
  readonly hidUntil: ReadonlyMap<SimulatedChain, number>
  /** Chains that were recorded for watched addresses alone, at least for a while. */
  readonly watchedOnly: ReadonlySet<SimulatedChain>
  /** Subscriptions whose copies the other receiver has refused too often, by their reference ids. */
  readonly stoppedCopies: ReadonlySet<string>
  readonly hasLostPower: boolean
  /** Where the end was not reached: what was still to be done when the time was over. */
  readonly unfinished: ReadonlyArray<string>
}
