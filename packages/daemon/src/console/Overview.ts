/** What an operator needs first, and an account of its own: how deliveries go, what fails, how the chains stand, what is to be done. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as CallbackBacklog from "@headwater/indexer/store/subscriptions/CallbackBacklog"
import * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FullAccounts from "../FullAccounts.ts"
import * as Settings from "../settings/Settings.ts"
import { OwnOutages } from "../supervision/OwnOutages.ts"
import * as Access from "./Access.ts"
import type { Standing, Standings } from "./Chains.ts"
import { json } from "./ConsoleReply.ts"
import * as Needs from "./Needs.ts"

type Health = Effect.Success<typeof ReceiverHealth.make>
type Account = Access.Visitor["account"]

/** Hosts and failures that are shown: of deliveries, and of the overview. */
const deliveriesShow = { hosts: 100, failures: 50 }
const overviewShows = { hosts: 10, failures: 10 }

const noCallbacks = { count: 0, oldest: undefined }

/** Callbacks that have not reached their receivers, of all accounts or of one, and accounts of which as many wait as may. */
const makeWaiting = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const { waitingCallbacks } = settings.limits
  const fullAccounts = Effect.provideService(FullAccounts.read, Settings.Settings, settings)
  return Effect.fnUntraced(function* (account: Account) {
    if (account === undefined) {
      const { accepting, ...backlog } = yield* CallbackBacklog.read()
      return { accepting, backlog, full: yield* fullAccounts }
    }
    const { accepting, ...own } = yield* CallbackBacklog.ofAccount(account.id, waitingCallbacks)
    const isFull = own.waiting.count + own.retrying.count + own.parked.count >= waitingCallbacks
    return {
      accepting,
      backlog: { ...own, unwritten: noCallbacks },
      full: { waitingCallbacks, names: isFull ? [account.name] : [] }
    }
  })
})

/** How long what was read is shown, and of how many accounts: pages ask every few seconds, and the store has to count. */
const kept = { timeToLive: "2 seconds", capacity: 100 } as const

/** What an account is told of the chains: how far they are. */
const told = ({ catchingUp, committedAt, gaps, head, height, name, problem, state }: Standing, isAccount: boolean) => ({
  ...{ name, height, head, lag: head === null || height === null ? null : Math.max(0, head - height) },
  ...{ catchingUp, committedAt, state: isAccount ? "" : state, problem: isAccount ? null : problem },
  missing: isAccount ? [] : gaps.map(({ kind, message }) => ({ kind, message }))
})

export const routes = Effect.fnUntraced(function* (health: Health, standings: Standings) {
  const database = yield* Database
  const stored = Effect.provideService(Database, database)
  const outages = yield* OwnOutages
  const waitingOf = yield* makeWaiting

  /** Reads what is shown of all accounts, or of one, so many hosts and failures. */
  const makeFacts = Effect.fnUntraced(function* (shows: { readonly hosts: number; readonly failures: number }) {
    const read = Effect.fnUntraced(function* (account: Account) {
      return {
        ...(yield* waitingOf(account)),
        ...(yield* health.overview(shows.hosts, account?.id)),
        overTime: yield* health.overTime(account?.id),
        failures: yield* health.failures(shows.failures, account?.id)
      }
    }, stored)
    // A page that is closed meanwhile leaves an answer to the next one.
    const facts = yield* Cache.make({ lookup: (account: Account) => Effect.uninterruptible(read(account)), ...kept })
    return (account: Account) => Cache.get(facts, account)
  })
  const overviewFacts = yield* makeFacts(overviewShows)
  const deliveriesFacts = yield* makeFacts(deliveriesShow)

  const overview = Effect.fnUntraced(function* ({ account, reads }: Access.Visitor) {
    const now = yield* Clock.currentTimeMillis
    const { accepting, backlog, counts, failures, full, hosts, overTime } = yield* overviewFacts(account)
    const chains = yield* standings(now)
    const isAccount = account !== undefined
    const lasting = isAccount ? [] : yield* outages.lasting
    const damage = isAccount ? undefined : yield* database.damage
    const { daemons } = isAccount ? { daemons: [] } : Placements.shown(yield* stored(Placements.read))
    return json({
      now,
      needs: Needs.of({
        ...{ now, isAccount, accepting, counts, damage, full, hosts, outages: lasting },
        chains: isAccount ? [] : chains
      }),
      deliveries: { ...overTime, periodMillis: ReceiverHealth.periodMillis },
      ...{ backlog, hosts: { counts, worst: hosts } },
      failures: reads("callbacks.status") ? failures : undefined,
      chains: chains.map((standing) => told(standing, isAccount)),
      daemons,
      outages: lasting.map(({ lack, message, since }) => ({ lack, message, since })),
      full
    })
  })

  /** How deliveries go: what is to be sent, the last day, the hosts, those that fail first, and what fails and why. */
  const deliveries = Effect.fnUntraced(function* ({ account, reads }: Access.Visitor) {
    const now = yield* Clock.currentTimeMillis
    const { backlog, counts, failures, full, hosts, overTime } = yield* deliveriesFacts(account)
    return json({
      ...{ now, backlog, counts, hosts, periodMillis: ReceiverHealth.periodMillis, periods: overTime.day },
      failures: reads("callbacks.status") ? failures : undefined,
      recoveries: account === undefined ? yield* Recovery.underWay() : [],
      full
    })
  }, stored)

  return [
    Access.get("/api/overview", Access.readers, (_, visitor) => overview(visitor), "receivers.list"),
    Access.get("/api/deliveries", Access.readers, (_, visitor) => deliveries(visitor), "receivers.list")
  ]
})
