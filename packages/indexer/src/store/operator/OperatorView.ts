/**
 * The store as an operator sees it in the console: of all accounts, by queries that read a page of an index and no more,
 * so that an operator who looks slows nobody down. Secrets are not read at all.
 */
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import * as Effect from "effect/Effect"
import { Database } from "../database/Database.ts"
import * as AddressStory from "./internal/AddressStory.ts"
import * as BlockStory from "./internal/BlockStory.ts"
import * as CallbackList from "./internal/CallbackList.ts"
import * as CallbackStory from "./internal/CallbackStory.ts"
import * as CreditsByDay from "./internal/CreditsByDay.ts"
import * as Page from "./internal/Page.ts"
import type { Scope } from "./internal/Scope.ts"
import * as Search from "./internal/Search.ts"
import * as SubscriptionList from "./internal/SubscriptionList.ts"
import * as SyncList from "./internal/SyncList.ts"
import * as TransactionStory from "./internal/TransactionStory.ts"

export type { Parts } from "./internal/Parts.ts"
export type { Hit, Target } from "./internal/Search.ts"

/** Accounts and domains that are shown. */
const shownAtMost = 500

/** As {@link SubscriptionList.newest} has them: items, and whether there are more. */
const shownOf = <A>(found: ReadonlyArray<A>) => ({
  items: found.slice(0, shownAtMost),
  hasMore: found.length > shownAtMost
})

const reorganisations = Effect.fn("OperatorView.reorganisations")(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("reorganisation")
      .innerJoin("chain", "chain.id", "reorganisation.chain")
      .select(["chain.name", "at", "fork_height", "depth", "old_hash"])
      // A skip of blocks leaves a row of depth 0.
      .where("reorganisation.depth", ">", 0)
      .orderBy("reorganisation.id", "desc")
      .limit(Page.size)
  )
  return rows.map(({ at, depth, fork_height, name, old_hash }) => {
    const chain = Chain.ofName(name)
    const oldHash = chain === undefined ? "" : Hash.encode(chain, old_hash)
    return { chain: name, at, forkHeight: fork_height, depth, oldHash }
  })
})

const accounts = Effect.fn("OperatorView.accounts")(function* () {
  const { read } = yield* Database
  const rows = yield* read((db) =>
    db
      .selectFrom("account")
      .leftJoin("credit_balance", "credit_balance.account", "account.id")
      .select(["account.name", "account.created", "account.retractions", "credit_balance.balance"])
      .orderBy("account.id")
      .limit(shownAtMost + 1)
  )
  return shownOf(
    rows.map(({ balance, created, name, retractions }) => ({
      ...{ name, balance: balance ?? 0, created, retractions: retractions === 1 }
    }))
  )
})

const domains = Effect.fn("OperatorView.domains")(function* (scope?: Scope) {
  const { read } = yield* Database
  const found = yield* read((db) =>
    db
      .selectFrom("domain")
      .innerJoin("account", "account.id", "domain.account")
      .select(["domain.name", "account.name as account", "domain.created", "domain.verified"])
      .$if(scope !== undefined, (select) => select.where("domain.account", "=", scope!))
      .orderBy("domain.id", "desc")
      .limit(shownAtMost + 1)
  )
  return shownOf(found)
})

const subscriptionCounts = Effect.fn("OperatorView.subscriptionCounts")(function* (account: number) {
  const { read } = yield* Database
  return yield* read((db) =>
    db
      .selectFrom("subscription_count")
      .innerJoin("chain", "chain.id", "subscription_count.chain")
      .select(["chain.name as chain", "subscription_count.total"])
      .where("subscription_count.account", "=", account)
      .orderBy("chain.name")
  )
})

export const make = Effect.gen(function* () {
  const stored = Effect.provideService(Database, yield* Database)
  return {
    /** The newest subscriptions that a text may mean; of all subscriptions where the text is empty. */
    subscriptions: Effect.fn("OperatorView.subscriptions")(SubscriptionList.newest, stored),
    /** The subscription of a reference, as it is shown, and what names its callbacks in the store. */
    subscription: Effect.fn("OperatorView.subscription")(SubscriptionList.find, stored),
    /** The callbacks of a subscription, newest first, from below a number on; those without a number come first. */
    callbacks: Effect.fn("OperatorView.callbacks")(CallbackList.newest, stored),
    /** The newest reorganisations of all chains. */
    reorganisations: stored(reorganisations()),
    /** Wallets and addresses of all accounts whose past is being looked for. */
    syncs: Effect.suspend(() => stored(SyncList.read())),
    /** The oldest accounts, each with its balance. */
    accounts: stored(accounts()),
    /** What an account consumed and was granted on each of the last 30 days, by the newest entries of its ledger. */
    credits: Effect.fn("OperatorView.credits")(CreditsByDay.read, stored),
    /** The domains of all accounts, or of one, the newest first. */
    domains: (scope?: Scope) => stored(domains(scope)),
    /** How many subscriptions an account has on each chain. */
    subscriptionCounts: (account: number) => stored(subscriptionCounts(account)),
    /** What a text may mean, of everything that the store has; of the parts that are named, as stories below. */
    search: Effect.fn("OperatorView.search")(Search.hits, stored),
    /** The story of a block by its height or hash; of an account as far as its own callbacks go, as those below. */
    blockStory: Effect.fn("OperatorView.blockStory")(BlockStory.read, stored),
    /** The story of a callback by its key. */
    callbackStory: Effect.fn("OperatorView.callbackStory")(CallbackStory.read, stored),
    /** The story of a transaction. */
    transactionStory: Effect.fn("OperatorView.transactionStory")(TransactionStory.read, stored),
    /** The story of an address. */
    addressStory: Effect.fn("OperatorView.addressStory")(AddressStory.read, stored)
  }
})

export type OperatorView = Effect.Success<typeof make>
