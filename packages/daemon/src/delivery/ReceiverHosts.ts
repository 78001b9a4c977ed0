/**
 * How much may be sent to each host at a moment, by what it did lately: a bounded number of leases, of a size that is soon
 * worked off; nothing for a while of an account whose callbacks several times had no answer, then a few leases to see whether
 * the host is back. One URL without an answer, where another one has just had one, is not the host's silence. No host may take
 * more than an eighth of what is free, and slow ones leave a quarter of all to the others; so does an account, of all and of
 * each host that it shares. In an outage of our own a few callbacks are tried, and where descriptors or memory lack, fewer
 * leases are in flight.
 *
 * Beside the leases in flight a host has others that wait in memory, as many as it works off in a second: a place that
 * becomes free is taken at once, by the host with least in flight, and there by the account whose turn it is.
 */
import type {
  AccountTurn,
  DueHost,
  DueSubscription,
  HostCapacity,
  Lease
} from "@headwater/indexer/store/subscriptions/Lease"
import * as AccountAnswers from "./internal/AccountAnswers.ts"
import * as HostLeases from "./internal/HostLeases.ts"
import * as LeaseCeiling from "./internal/LeaseCeiling.ts"

export interface Limits extends AccountAnswers.Limits {
  /** Leases in flight over all hosts, and to one. */
  readonly concurrency: number
  readonly perHost: number
  /** Callbacks in one lease. */
  readonly batchSize: number
  /** Callbacks that are leased for a host at once: more would keep the first ones waiting; and for all hosts. */
  readonly leasedOfHost: number
  readonly leased: number
}

export interface ReceiverHosts {
  readonly inFlight: () => number
  /** Whether nothing may be leased now, whatever is due. */
  readonly isFull: () => boolean
  /** What may be leased for these hosts now, and which of these leases in flight may be followed by others. */
  readonly capacities: (
    hosts: ReadonlyArray<DueHost>,
    now: number,
    followable?: ReadonlyArray<Lease>
  ) => ReadonlyArray<HostCapacity>
  /** As `capacities`, for subscriptions that callbacks have just become due of, and for nothing else. */
  readonly capacitiesFor: (due: ReadonlyArray<DueSubscription>, now: number) => ReadonlyArray<HostCapacity>
  /** Has a lease wait for a place. */
  readonly wait: (lease: Lease) => void
  /** The waiting lease that a free place is for: it has begun. */
  readonly next: (now: number) => Lease | undefined
  readonly ended: (lease: Lease) => void
  /** Whether the host has so little left that more should be leased. */
  readonly isLow: (host: string) => boolean
  /** Waiting leases that end before a moment, or of which nothing is sent at the moment: they wait no more. */
  readonly withdrawn: (until: number, now: number) => ReadonlyArray<Lease>
  /**
   * Notes an attempt that began at `at`, in milliseconds since the Unix epoch; until when nothing of the account is sent to
   * the host, 0 where something is.
   */
  readonly attempted: (
    of: Pick<Lease, "host" | "account" | "url">,
    attempt: { readonly answered: boolean; readonly at: number; readonly now: number }
  ) => number
  /** Notes an attempt that our own failure has ended: the host is tried again soon; after a lack, with fewer beside it. */
  readonly waits: (host: string, isScarce: boolean, now: number) => void
  /** Whether nothing of the account is sent to the host at the moment. */
  readonly paused: (of: Pick<Lease, "host" | "account">, now: number) => boolean
}

/** Averages above it are slow. */
const slowMillis = 1000
/** What a lease should take: short, since a host's other subscriptions wait for its end; and long, since leases cost. */
const leaseMillis = 1000
/** How long a host is left alone after our own failure. */
const waitMillis = 1000
/** Leases that are tried in an outage, and how often. */
const [outageLeases, outageMillis] = [4, 1000]

/** `isOut`: whether an outage of our own keeps a host from being heard of. */
export const make = (limits: Limits, isOut: (host: string) => boolean = () => false): ReceiverHosts => {
  const leases = HostLeases.make(limits.concurrency)
  const { hostOf, shareOf } = leases
  let nextOutageLease = 0
  const ceiling = LeaseCeiling.make(limits.concurrency, waitMillis)

  const longestPause = Math.max(limits.maxPauseMillis, waitMillis)
  /** A pause that would be longer than any was set by a clock that was put back since. */
  const lasts = (until: number, now: number) => until > now && until - now <= longestPause

  const { isFailing, mayHang, note } = AccountAnswers.make(limits, longestPause)

  /** Leases that may begin of a host. */
  const limitOf = (host: HostLeases.Host, free: number, now: number): number => {
    if (lasts(host.pausedUntil, now)) return 0
    const own = host.duration > slowMillis ? free - ceiling.leases() / 4 : free
    return Math.max(Math.min(limits.perHost - host.inFlight, Math.ceil(own / 8)), 0)
  }

  /** Leases that an account may have beside those in flight, over all hosts. */
  const leftOf = (account: number) => Math.ceil((ceiling.leases() * 3) / 4) - leases.inFlightOf(account)

  const accountLimit = Math.ceil((limits.perHost * 3) / 4)

  /** Leases of what failed that an account may have at a host, beside those that it has. */
  const failingLimitOf = ({ failing }: HostLeases.Share) => Math.max(Math.ceil(accountLimit / 2) - failing, 0)

  /** Leases that may begin of an account at a host. */
  const limitOfAccount = ({ accounts }: HostLeases.Host, account: number, now: number): number => {
    const share = accounts.get(account) ?? HostLeases.none()
    if (lasts(share.pausedUntil, now)) return 0
    // One for each URL that was silent, and so more with every round that has found none that answers.
    const most = isFailing(share) ? Math.min(share.silent.size, accountLimit) : accountLimit
    return Math.max(Math.min(most - share.inFlight, leftOf(account)), 0)
  }

  /** Callbacks that may be leased for a host beside those that are. */
  const leftOfHost = (host: HostLeases.Host) =>
    Math.max(Math.min(limits.leasedOfHost - host.leased, Math.ceil((limits.leased - leases.leased()) / 8)), 0)

  /** Leases that may wait beside those that begin: what a host is done with in a second, if any. */
  const aheadOf = (host: HostLeases.Host) =>
    host.duration > slowMillis
      ? 0
      : Math.min(Math.floor((limits.perHost * leaseMillis) / Math.max(host.duration, 1)), limits.leasedOfHost)

  /** The turns of a host's accounts, of which `ahead` leases may wait: of each account three quarters. */
  const turnsOf = (host: HostLeases.Host, ahead: number, now: number) => {
    const waitingLimit = Math.ceil((ahead * 3) / 4)
    const limitOfShare = (account: number, share: HostLeases.Share) => {
      const begin = limitOfAccount(host, account, now)
      if (isFailing(share) || share.inFlight + begin === 0 || lasts(share.pausedUntil, now)) {
        return Math.max(begin - share.waiting.length, 0)
      }
      return Math.max(begin + waitingLimit - share.waiting.length, 0)
    }
    return {
      accountCursor: host.accountCursor,
      accounts: new Map(
        [...host.accounts].map(([account, share]): [number, AccountTurn] => [
          account,
          {
            roundRobinCursor: share.roundRobinCursor,
            limit: limitOfShare(account, share),
            // What hangs keeps its place until it has failed: others have the rest, and show that the host is there.
            ...(mayHang(share, now) ? { failingLimit: failingLimitOf(share) } : {})
          }
        ])
      ),
      accountLimit: accountLimit + waitingLimit
    }
  }

  /** The account of a host whose waiting lease may begin. */
  const accountInTurn = (host: HostLeases.Host, now: number): number | undefined => {
    let [first, behind] = [Infinity, Infinity]
    for (const [account, share] of host.accounts) {
      if (share.waiting.length === 0 || limitOfAccount(host, account, now) === 0) continue
      if (account > host.placeCursor) behind = Math.min(behind, account)
      else first = Math.min(first, account)
    }
    const account = behind === Infinity ? first : behind
    return account === Infinity ? undefined : account
  }

  /**
   * The hosts with least in flight first, and one of each account after another, of those with least in flight first: one
   * host would wait for all that others have and that are slow to fail. Of hosts with as much in flight, those first that
   * have waited longest: else the last ones would never get what others, who answer at once, leave.
   */
  const inTurns = (due: ReadonlyArray<DueHost>) => {
    const byLoad = due
      .map(({ account, host: name }) => ({ account, name, host: hostOf(name) }))
      .sort((a, b) => a.host.inFlight - b.host.inFlight || a.host.turn - b.host.turn)
    const places = new Map<number | string, number>()
    return byLoad
      .map((one) => {
        const { account, name } = one
        const place = places.get(account ?? name) ?? (account === undefined ? 0 : leases.inFlightOf(account))
        places.set(account ?? name, place + 1)
        return { ...one, place }
      })
      .sort((a, b) => a.place - b.place)
  }

  const batchSizeOf = ({ duration }: HostLeases.Host): number =>
    Math.max(Math.min(limits.batchSize, Math.floor(leaseMillis / Math.max(duration, 1))), 1)

  /** Whether the host has so little left that more should be leased: half of what may wait, if there is more. */
  const isLow = (host: HostLeases.Host) =>
    host.waiting === 0 ||
    (host.mayHaveMore && host.leased < limits.leasedOfHost / 2 && host.waiting < aheadOf(host) / 2)

  /** Notes how many leases a look may make. */
  const looks = (host: HostLeases.Host, limit: number, { accountLimit, accounts }: ReturnType<typeof turnsOf>) => {
    host.left = limit
    host.accountLeft = accountLimit
    for (const [account, { limit }] of accounts) {
      const share = shareOf(host, account)
      share.left = limit
      host.mayHaveMore ||= limit === 0 && share.waiting.length > 0
    }
  }

  const capacities: ReceiverHosts["capacities"] = (due, now, followable = []) => {
    const followableOf = Map.groupBy(followable, ({ host }) => host)
    ceiling.raise(now)
    let free = ceiling.leases() - leases.inFlight()
    let outageLeft = lasts(nextOutageLease, now) ? 0 : outageLeases
    const capacities: Array<HostCapacity> = []
    /** What accounts get with their own hosts. */
    const given = new Map<number, number>()
    for (const { account, host, name } of inTurns(due)) {
      if (isOut(name)) {
        if (outageLeft === 0 || host.inFlight + host.waiting > 0 || lasts(host.pausedUntil, now) || free <= 0) continue
        outageLeft--
        free--
        nextOutageLease = now + outageMillis
        const { retriesFirst } = host
        const one = { host: name, limit: 1, batchSize: 1, callbacks: 1, followOns: [] }
        capacities.push({ ...one, ...turnsOf(host, 0, now), retriesFirst })
        continue
      }
      const left =
        account === undefined
          ? free
          : Math.min(limitOfAccount(host, account, now), leftOf(account) - (given.get(account) ?? 0))
      const begin = Math.max(Math.min(limitOf(host, free, now), free, left), 0)
      // Where there is no capacity for other hosts, the places of follow-ons are given up.
      const followed =
        free > 0 ? (followableOf.get(name) ?? []).filter((lease) => !isFailing(shareOf(host, lease.account))) : []
      // Nothing waits at a host where nothing begins.
      const isServed = !lasts(host.pausedUntil, now) && host.inFlight + begin > 0
      const ahead = isServed ? aheadOf(host) : 0
      const callbacks = Math.max(leftOfHost(host), begin - host.waiting)
      const limit = Math.max(Math.min(begin + ahead - host.waiting, callbacks), 0)
      host.mayHaveMore = limit === 0
      if (limit + followed.length === 0) continue
      free -= begin
      if (account !== undefined) given.set(account, (given.get(account) ?? 0) + begin)
      const batchSize = batchSizeOf(host)
      const turns = turnsOf(host, ahead, now)
      looks(host, limit, turns)
      capacities.push({
        host: name,
        limit,
        batchSize,
        callbacks,
        followOns: followed.map(({ account, callbacks, failing, subscription }) => ({
          account,
          subscription,
          failing,
          after: callbacks.at(-1)!.id,
          batchSize: Math.min(batchSize, 2 * callbacks.length)
        })),
        ...turns,
        retriesFirst: host.retriesFirst
      })
    }
    return capacities
  }

  return {
    inFlight: leases.inFlight,
    isFull: () =>
      leases.inFlight() >= ceiling.leases() &&
      ![...leases.hosts()].some((host) => host.inFlight > 0 && aheadOf(host) > 0 && isLow(host)),
    capacities: (due, now, followable = []) => {
      const given = capacities(due, now, followable)
      for (const { host, limit } of given) if (limit > 0) hostOf(host).retriesFirst = !hostOf(host).retriesFirst
      return given
    },
    capacitiesFor: (due, now) => {
      const byHost = Map.groupBy(due, ({ host }) => host)
      const dueHosts = [...byHost].map(([host, [first, ...others]]): DueHost => {
        const isOne = others.every(({ account }) => account === first!.account)
        return { host, account: isOne ? first!.account : undefined }
      })
      return capacities(dueHosts, now).map((one) => ({ ...one, only: byHost.get(one.host)! }))
    },
    wait: leases.wait,
    next: (now) => {
      let first: { readonly host: HostLeases.Host; readonly account: number } | undefined
      for (const host of leases.waiting()) {
        const { inFlight, turn } = host
        const isBehind =
          first !== undefined &&
          (inFlight > first.host.inFlight || (inFlight === first.host.inFlight && turn >= first.host.turn))
        if (isBehind || limitOf(host, ceiling.leases() - leases.inFlight(), now) === 0) continue
        const account = accountInTurn(host, now)
        if (account !== undefined) first = { host, account }
      }
      return first && leases.begin(first.host, first.account)
    },
    ended: leases.ended,
    isLow: (name) => {
      const host = leases.find(name)
      return host === undefined || isLow(host)
    },
    withdrawn: (until, now) =>
      leases.withdraw(
        ({ leasedUntil }, host, share) =>
          leasedUntil < until || lasts(host.pausedUntil, now) || lasts(share.pausedUntil, now)
      ),
    attempted: ({ account, host: name, url }, { answered, at, now }) => {
      const host = hostOf(name)
      host.duration += (now - at - host.duration) / 8
      const share = shareOf(host, account)
      note(share, { url }, { answered, at, now })
      // A failure of our own is over.
      host.pausedUntil = 0
      return share.pausedUntil
    },
    waits: (name, isScarce, now) => {
      const host = hostOf(name)
      host.pausedUntil = now + waitMillis
      if (isScarce) ceiling.lower(leases.inFlight(), now)
    },
    paused: ({ account, host: name }, now) => {
      const host = leases.find(name)
      return lasts(host?.pausedUntil ?? 0, now) || lasts(host?.accounts.get(account)?.pausedUntil ?? 0, now)
    }
  }
}
