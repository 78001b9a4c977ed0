/**
 * The leases of each host and of each account there: those that wait for a place, in their order, and how many are in flight.
 * How many there may be is for `ReceiverHosts` to say.
 */
import type { Lease } from "@headwater/indexer/store/subscriptions/Lease"
import * as AccountAnswers from "./AccountAnswers.ts"

/** What an account has of a host. */
export interface Share extends AccountAnswers.AccountAnswers {
  inFlight: number
  /** Leases that wait for a place, in their order. */
  readonly waiting: Array<Lease>
  /** Of both, those of what failed. */
  failing: number
  /** Leases that the host's last look may still make of the account. */
  left: number
  /** The subscription that something was leased of last. */
  roundRobinCursor: number
}

export interface Host {
  inFlight: number
  /** Leases that wait for a place. */
  waiting: number
  /** Callbacks of all its leases, in flight and waiting. */
  leased: number
  /** Leases that the last look may still make, and those of an account that has none. */
  left: number
  accountLeft: number
  /** Whether the last look has left something, as far as it shows: the host, an account, or a lease has all that it may. */
  mayHaveMore: boolean
  /** Leases that had begun, of any host, when its last one did. */
  turn: number
  /** After a failure of our own. */
  pausedUntil: number
  /** Milliseconds that an attempt takes, averaged over the last ones. */
  duration: number
  /** The account that something was leased of last, and that of the lease that began last. */
  accountCursor: number
  placeCursor: number
  readonly accounts: Map<number, Share>
  retriesFirst: boolean
}

export interface HostLeases {
  /** The host, from now on one of those that are known. */
  readonly hostOf: (name: string) => Host
  readonly find: (name: string) => Host | undefined
  readonly hosts: () => Iterable<Host>
  /** Those with leases that wait. */
  readonly waiting: () => Iterable<Host>
  readonly shareOf: (host: Host, account: number) => Share
  /** Leases in flight over all hosts, and those of an account. */
  readonly inFlight: () => number
  readonly inFlightOf: (account: number) => number
  /** Callbacks of all leases, in flight and waiting. */
  readonly leased: () => number
  /** Has a lease wait for a place. */
  readonly wait: (lease: Lease) => void
  /** Has the first waiting lease of an account at a host begin. */
  readonly begin: (host: Host, account: number) => Lease
  readonly ended: (lease: Lease) => void
  /** Has those leases wait no more that are gone, and gives them back. */
  readonly withdraw: (isGone: (lease: Lease, host: Host, share: Share) => boolean) => ReadonlyArray<Lease>
}

/** Before anything is known of a host. */
const assumedMillis = 50
/** Accounts of a host that are remembered for their turns. */
const rememberedAccounts = 64

/** What an account has of a host where nothing of it is leased; `left`: what the last look may still make of it. */
export const none = (left = 0): Share => ({
  ...AccountAnswers.none(),
  ...{ inFlight: 0, waiting: [], failing: 0, left, roundRobinCursor: 0 }
})

/** `mostHosts`: where more are known, one without leases and failures is forgotten. */
export const make = (mostHosts: number): HostLeases => {
  const hosts = new Map<string, Host>()
  /** Those with leases that wait. */
  const waiting = new Set<Host>()
  let total = 0
  /** Callbacks of all leases, in flight and waiting. */
  let leased = 0
  /** Leases that have begun. */
  let begun = 0
  /** Leases in flight by account. */
  const inFlightOf = new Map<number, number>()

  const hostOf = (name: string): Host => {
    let host = hosts.get(name)
    if (host === undefined) {
      host = {
        ...{ inFlight: 0, waiting: 0, leased: 0, left: 0, accountLeft: 0, mayHaveMore: true },
        ...{ turn: begun, pausedUntil: 0, duration: assumedMillis },
        ...{ accountCursor: -1, placeCursor: -1, accounts: new Map<number, Share>(), retriesFirst: false }
      }
      hosts.set(name, host)
    }
    return host
  }

  const shareOf = (host: Host, account: number): Share => {
    let share = host.accounts.get(account)
    if (share === undefined) {
      share = none(host.accountLeft)
      host.accounts.set(account, share)
    }
    return share
  }

  /** What is leased, or is no more. */
  const count = (host: Host, { account, callbacks, failing }: Lease, change: 1 | -1) => {
    host.leased += change * callbacks.length
    leased += change * callbacks.length
    if (failing) shareOf(host, account).failing += change
  }

  const leaves = (host: Host, left: number) => {
    host.waiting -= left
    if (host.waiting === 0) waiting.delete(host)
  }

  return {
    hostOf,
    find: (name) => hosts.get(name),
    hosts: () => hosts.values(),
    waiting: () => waiting,
    shareOf,
    inFlight: () => total,
    inFlightOf: (account) => inFlightOf.get(account) ?? 0,
    leased: () => leased,
    wait: (lease) => {
      const host = hostOf(lease.host)
      const share = shareOf(host, lease.account)
      share.waiting.push(lease)
      share.roundRobinCursor = lease.subscription
      host.accountCursor = lease.account
      host.waiting++
      host.left--
      share.left--
      host.mayHaveMore ||= lease.full || host.left === 0 || share.left === 0
      waiting.add(host)
      count(host, lease, 1)
    },
    begin: (host, account) => {
      const share = shareOf(host, account)
      const lease = share.waiting.shift()!
      leaves(host, 1)
      host.inFlight++
      host.turn = ++begun
      host.placeCursor = account
      share.inFlight++
      inFlightOf.set(account, (inFlightOf.get(account) ?? 0) + 1)
      total++
      return lease
    },
    ended: (lease) => {
      const host = hostOf(lease.host)
      host.inFlight--
      count(host, lease, -1)
      const share = shareOf(host, lease.account)
      share.inFlight--
      const isIdle = share.inFlight + share.waiting.length === 0 && share.failures === 0
      if (isIdle && host.accounts.size > rememberedAccounts) host.accounts.delete(lease.account)
      const left = inFlightOf.get(lease.account)! - 1
      if (left === 0) inFlightOf.delete(lease.account)
      else inFlightOf.set(lease.account, left)
      total--
      const isForgotten =
        host.inFlight + host.waiting === 0 && ![...host.accounts.values()].some(({ failures }) => failures > 0)
      if (isForgotten && hosts.size > mostHosts) hosts.delete(lease.host)
    },
    withdraw: (isGone) =>
      [...waiting].flatMap((host) =>
        [...host.accounts.values()].flatMap((share) => {
          const gone = share.waiting.filter((lease) => isGone(lease, host, share))
          if (gone.length === 0) return []
          const kept = share.waiting.filter((lease) => !gone.includes(lease))
          share.waiting.splice(0, share.waiting.length, ...kept)
          leaves(host, gone.length)
          for (const lease of gone) count(host, lease, -1)
          return gone
        })
      )
  }
}
