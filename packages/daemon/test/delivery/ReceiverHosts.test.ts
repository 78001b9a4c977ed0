import * as ReceiverHosts from "@headwater/daemon/delivery/ReceiverHosts"
import type { Lease, OutboxMessage } from "@headwater/indexer/store/subscriptions/Lease"
import { assert, describe, it } from "vitest"

const limits = {
  concurrency: 64,
  perHost: 10,
  batchSize: 50,
  ...{ leasedOfHost: 0, leased: 0 },
  failures: 3,
  pauseMillis: 1000,
  maxPauseMillis: 4000
}

const lease = (host: string, subscription = 1, account = 1): Lease => ({
  account,
  subscription,
  host,
  url: "",
  secrets: [],
  callbacks: [],
  full: false,
  failing: false,
  leasedUntil: 0,
  isCurrent: () => true
})

const message: OutboxMessage = {
  ...{ id: 1, account: 1, subscription: 1, host: "a", idempotencyKey: "", sequence: 1, body: "" },
  ...{ attempts: 0, attemptLog: "[]", created: 0 }
}

/** Has a lease begin, as if it had just been made. */
const begin = (hosts: ReceiverHosts.ReceiverHosts, lease: Lease, now = 1_000_000_000) => {
  hosts.wait(lease)
  assert.strictEqual(hosts.next(now), lease)
}

/** Hosts that several accounts share. */
const due = (names: ReadonlyArray<string>, account?: number) => names.map((host) => ({ host, account }))

const limitsOf = (hosts: ReceiverHosts.ReceiverHosts, names: ReadonlyArray<string>, now = 0, account?: number) =>
  hosts.capacities(due(names, account), now).map(({ host, limit }) => [host, limit])

describe("ReceiverHosts", () => {
  it("gives a host an eighth of what is free, up to its own limit", () => {
    const hosts = ReceiverHosts.make(limits)
    assert.deepStrictEqual(limitsOf(hosts, ["a", "b"]), [
      ["a", 8],
      ["b", 7]
    ])
    for (let i = 0; i < 8; i++) begin(hosts, lease("a"))
    assert.deepStrictEqual(limitsOf(hosts, ["a"]), [["a", 2]])
    assert.strictEqual(hosts.inFlight(), 8)
    for (let i = 0; i < 8; i++) hosts.ended(lease("a"))
    assert.strictEqual(hosts.inFlight(), 0)
  })

  it("gives every host its turn where more than there is room for are always due and answer at once", () => {
    const hosts = ReceiverHosts.make(limits)
    const names = Array.from({ length: 100 }, (_, i) => `host ${i}`)
    const served = new Set<string>()
    for (let poll = 0; poll < 20; poll++) {
      const leases = hosts
        .capacities(due(names), poll)
        .flatMap(({ host, limit }) => Array.from({ length: Math.min(limit, 2) }, () => lease(host)))
      for (const one of leases) begin(hosts, one)
      for (const one of leases) hosts.ended(one)
      for (const { host } of leases) served.add(host)
    }
    assert.strictEqual(served.size, names.length)
  })

  it("has a place for the account with least in flight, however many hosts of others were never tried", () => {
    const hosts = ReceiverHosts.make(limits)
    const others = [1, 2, 3, 4].flatMap((account) =>
      Array.from({ length: 50 }, (_, i) => ({ host: `${account} ${i}`, account }))
    )
    const own = { host: "own", account: 5 }
    hosts.capacities([...others, own], 0)
    begin(hosts, lease("own", 1, 5))
    hosts.ended(lease("own", 1, 5))
    const [tried, untried] = [others.filter((_, i) => i % 50 < 15), others.filter((_, i) => i % 50 >= 15)]
    for (const { account, host } of tried) begin(hosts, lease(host, 1, account))
    const [first] = hosts.capacities([...untried, own], 0)
    assert.strictEqual(first!.host, "own")
  })

  it("leaves room for quick hosts however many are slow", () => {
    const hosts = ReceiverHosts.make(limits)
    for (let slow = 0; slow < 100; slow++) {
      for (let i = 0; i < 2; i++)
        hosts.attempted({ host: `slow ${slow}`, account: 1, url: "" }, { answered: true, at: 0, now: 5000 })
      for (const { host, limit } of hosts.capacities(due([`slow ${slow}`]), 0)) {
        for (let i = 0; i < limit; i++) begin(hosts, lease(host))
      }
    }
    assert.strictEqual(hosts.inFlight(), 48)
    assert.deepStrictEqual(limitsOf(hosts, ["quick", "slow 1"]), [["quick", 2]])
  })

  it("has fewer leases in flight after a lack, slow hosts still among them, and more again with the time", () => {
    const hosts = ReceiverHosts.make(limits)
    for (let i = 0; i < 40; i++) begin(hosts, lease(`busy ${i}`, 1, i))
    // What fails together is one lack.
    for (let i = 0; i < 40; i++) hosts.waits(`busy ${i}`, true, 0)
    for (let i = 0; i < 40; i++) hosts.ended(lease(`busy ${i}`, 1, i))
    for (let i = 0; i < 2; i++)
      hosts.attempted({ host: "slow", account: 1, url: "" }, { answered: true, at: 0, now: 5000 })
    assert.deepStrictEqual(limitsOf(hosts, ["busy 1"], 999), [], "left alone for a second")
    assert.deepStrictEqual(limitsOf(hosts, ["slow"], 1000), [["slow", 2]])
    const inAll = (now: number) =>
      hosts
        .capacities(due(Array.from({ length: 100 }, (_, i) => `other ${i}`)), now)
        .reduce((sum, { limit }) => sum + limit, 0)
    assert.strictEqual(inAll(1000), 20)
    hosts.waits("other 1", true, 2000)
    hosts.waits("other 1", true, 3000)
    hosts.waits("other 1", true, 4000)
    assert.strictEqual(inAll(4000), 4, "never fewer")
    assert.strictEqual(inAll(64_000), 8)
    for (let minute = 2; minute < 10; minute++) inAll(64_000 + minute * 60_000)
    assert.strictEqual(inAll(1_000_000), limits.concurrency)
  })

  it("has as many as ever a minute after a lack, where the clock is put back meanwhile", () => {
    const hosts = ReceiverHosts.make(limits)
    const hour = 3_600_000
    const inAll = (now: number) =>
      hosts
        .capacities(due(Array.from({ length: 100 }, (_, i) => `host ${i}`)), now)
        .reduce((sum, { limit }) => sum + limit, 0)
    hosts.waits("a", true, hour)
    assert.strictEqual(inAll(hour), 4)
    assert.strictEqual(inAll(60_000), 8)
    hosts.waits("a", true, 30_000)
    assert.strictEqual(inAll(30_000), 4)
  })

  it("tries few in an outage, each host by itself, and all others as ever", () => {
    const hosts = ReceiverHosts.make(limits, (host) => host.startsWith("out"))
    const names = [...Array.from({ length: 20 }, (_, i) => `out ${i}`), "well"]
    const tried = (now: number) => limitsOf(hosts, names, now).filter(([, limit]) => limit === 1)
    assert.lengthOf(tried(5000), 4)
    assert.deepStrictEqual(limitsOf(hosts, names, 5999), [["well", 8]])
    assert.lengthOf(tried(6000), 4)
    // One that has just failed is passed over.
    for (let i = 0; i < 19; i++) hosts.waits(`out ${i}`, false, 7000)
    assert.deepStrictEqual(tried(7000), [["out 19", 1]])
  })

  it("leaves a host alone that does not answer, tries it with a few, and for longer each time", () => {
    const hosts = ReceiverHosts.make(limits)
    const fail = (now: number) => hosts.attempted({ host: "a", account: 1, url: "" }, { answered: false, at: now, now })
    fail(0)
    fail(0)
    assert.isFalse(hosts.paused({ host: "a", account: 1 }, 0))
    fail(0)
    assert.isTrue(hosts.paused({ host: "a", account: 1 }, 999))
    assert.deepStrictEqual(limitsOf(hosts, ["a", "b"], 999, 1), [["b", 8]])
    // Another account may send to a path that answers.
    assert.isFalse(hosts.paused({ host: "a", account: 2 }, 999))
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 999, 2), [["a", 8]])
    // A URL alone is tried once.
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 1000, 1), [["a", 1]])
    begin(hosts, lease("a"))
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 1000, 1), [])
    fail(1000)
    hosts.ended(lease("a"))
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 2999, 1), [])
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 3000, 1), [["a", 1]])
    fail(3000)
    fail(7000)
    assert.isTrue(hosts.paused({ host: "a", account: 1 }, 10_999))
    assert.isFalse(hosts.paused({ host: "a", account: 1 }, 11_000))
    hosts.attempted({ host: "a", account: 1, url: "" }, { answered: true, at: 11_000, now: 11_001 })
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 11_001, 1), [["a", 8]])
  })

  it("has leases followed by larger ones, unless the host does not answer or others have no room", () => {
    const hosts = ReceiverHosts.make({ ...limits, perHost: 1, concurrency: 2 })
    const own = { account: 1, subscription: 7, host: "a.test" }
    const callback = {
      ...own,
      id: 7,
      idempotencyKey: "",
      sequence: 1,
      body: "",
      attempts: 0,
      attemptLog: "[]",
      created: 0
    }
    const followable = (host: string, length: number) => ({ ...lease(host), callbacks: Array(length).fill(callback) })
    const followed = (length: number) =>
      hosts.capacities(due(["a"]), 0, [followable("a", length)]).map(({ followOns, limit }) => [limit, followOns])
    begin(hosts, lease("a"))
    assert.deepStrictEqual(followed(4), [
      [0, [{ account: 1, subscription: 1, after: 7, batchSize: 8, failing: false }]]
    ])
    // As large as is worked off in time, as all are.
    assert.deepStrictEqual(followed(15), [
      [0, [{ account: 1, subscription: 1, after: 7, batchSize: 20, failing: false }]]
    ])
    begin(hosts, lease("b"))
    assert.deepStrictEqual(followed(4), [])
    hosts.ended(lease("b"))
    for (let i = 0; i < 3; i++) hosts.attempted({ host: "a", account: 1, url: "" }, { answered: false, at: 0, now: 0 })
    assert.deepStrictEqual(followed(4), [])
  })

  it("is not left alone for URLs without an answer while another one is answered", () => {
    const hosts = ReceiverHosts.make(limits)
    const attempt = (url: string, answered: boolean, now: number) =>
      hosts.attempted({ ...lease("a"), url }, { answered, at: now, now })
    attempt("/1", true, 0)
    for (let i = 0; i < 30; i++) assert.strictEqual(attempt(`/${2 + (i % 2)}`, false, i), 0)
    // Then the host is silent: the one that was answered has no answer either.
    assert.strictEqual(attempt("/1", false, 100), 1100)
    attempt("/1", true, 2000)
    for (let i = 0; i < 3; i++) assert.strictEqual(attempt("/2", false, 5999), 0)
    // An answer that was long ago says nothing of the present.
    for (const until of [0, 7000]) assert.strictEqual(attempt("/2", false, 6000), until)
  })

  it("is left alone as soon where each URL without an answer is another one", () => {
    const hosts = ReceiverHosts.make(limits)
    const attempt = (url: string, answered: boolean) =>
      hosts.attempted({ ...lease("a"), url }, { answered, at: 0, now: 0 })
    attempt("/1", true)
    for (const [url, until] of [
      ["/2", 0],
      ["/3", 0],
      ["/4", 1000]
    ] as const)
      assert.strictEqual(attempt(url, false), until)
  })

  it("is left alone as soon where the subscription that was answered last has nothing more to send", () => {
    const hosts = ReceiverHosts.make(limits)
    const attempt = (subscription: number, answered: boolean) =>
      hosts.attempted({ ...lease("a", subscription), url: "/all" }, { answered, at: 0, now: 0 })
    attempt(1, true)
    for (const [subscription, until] of [
      [2, 0],
      [3, 0],
      [4, 1000]
    ] as const)
      assert.strictEqual(attempt(subscription, false), until)
  })

  it("is not left alone for attempts during which another URL was answered, however many fail at once", () => {
    const hosts = ReceiverHosts.make(limits)
    const attempt = (url: string, answered: boolean, at: number, now: number) =>
      hosts.attempted({ ...lease("a"), url }, { answered, at, now })
    attempt("/1", true, 10, 15)
    for (let i = 2; i < 30; i++) assert.strictEqual(attempt(`/${i}`, false, 10, 2000), 0)
    // Of those that began afterwards the first ones count.
    for (const [url, until] of [
      ["/2", 0],
      ["/3", 0],
      ["/4", 3000]
    ] as const)
      assert.strictEqual(attempt(url, false, 20, 2000), until)
  })

  it("leaves places to others than failing subscriptions after an attempt without an answer, for a while", () => {
    const hosts = ReceiverHosts.make(limits)
    const attempt = (answered: boolean, now: number) => hosts.attempted(lease("a"), { answered, at: now, now })
    const ofAccount = (now: number) => hosts.capacities(due(["a"]), now)[0]!.accounts.get(1)
    attempt(true, 0)
    assert.isUndefined(ofAccount(0)!.failingLimit)
    attempt(false, 0)
    attempt(true, 1)
    assert.deepInclude(ofAccount(3999), { limit: 8, failingLimit: 4 })
    assert.isUndefined(ofAccount(4000)!.failingLimit)
    // Others take nothing of that part, however many there are.
    for (let i = 0; i < 6; i++) begin(hosts, lease("a"))
    begin(hosts, { ...lease("a"), failing: true })
    assert.deepInclude(ofAccount(3999), { limit: 1, failingLimit: 3 })
    hosts.ended({ ...lease("a"), failing: true })
    assert.deepInclude(ofAccount(3999), { limit: 2, failingLimit: 4 })
    // A pause may last as long as the attempt is remembered.
    for (let i = 0; i < 10; i++) attempt(false, 4000)
    assert.strictEqual(ofAccount(8000)!.failingLimit, 4)
  })

  it("is left alone again while URLs fail whose failures are known, though another one was answered lately", () => {
    const hosts = ReceiverHosts.make({ ...limits, maxPauseMillis: 60_000 })
    const attempt = (url: string, answered: boolean, now: number) =>
      hosts.attempted({ ...lease("a"), url }, { answered, at: now, now })
    attempt("/answered", true, 0)
    for (const url of ["/1", "/2", "/3"]) attempt(url, false, 10)
    for (const [now, until] of [
      [1010, 2010],
      [2010, 3010]
    ] as const)
      for (const url of ["/1", "/2", "/3"]) assert.strictEqual(attempt(url, false, now), until)
  })

  it("is left alone no longer for attempts that failed together", () => {
    const hosts = ReceiverHosts.make(limits)
    const fail = (at: number, now: number) =>
      hosts.attempted({ host: "a", account: 1, url: "" }, { answered: false, at, now })
    for (let i = 0; i < 30; i++) fail(0, 0)
    assert.strictEqual(fail(0, 100), 1000)
    assert.strictEqual(fail(0, 1500), 1000)
    for (const until of [3000, 3000, 3000]) assert.strictEqual(fail(1000, 1000), until)
  })

  it("is left alone no longer for URLs that were not tried before: each may be the one that answers", () => {
    const hosts = ReceiverHosts.make(limits)
    let now = 0
    const fail = (url: string) => hosts.attempted({ ...lease("a"), url }, { answered: false, at: now, now })
    let next = 0
    for (const tried of [8, 8, 8, 8]) {
      assert.deepStrictEqual(limitsOf(hosts, ["a"], now, 1), [["a", tried]])
      for (let i = 0; i < tried; i++) fail(`/${next++}`)
      assert.isTrue(hosts.paused(lease("a"), now + 999))
      now += 1000
    }
    // Nor for others that are sent again beside such ones, whichever is heard of first.
    for (let i = 0; i < 4; i++) {
      assert.strictEqual(fail(`/${i}`), now + 1000)
      fail(`/${next++}`)
      now += 1000
    }
    // That one was silent before says that the host is, once no others come.
    assert.strictEqual(fail("/0"), now + 1000)
    now += 1000
    assert.strictEqual(fail("/0"), now + 2000)
    now += 2000
    for (; next < 8_200; next++) fail(`/${next}`)
    now += 2000
    assert.strictEqual(fail("/8199"), now + 2000, "beside others")
    now += 2000
    assert.strictEqual(fail("/8200"), now + 4000, "of very many each is not remembered")
  })

  it("is not stopped by failures between answers", () => {
    const hosts = ReceiverHosts.make(limits)
    for (let i = 0; i < 30; i++)
      hosts.attempted({ host: "a", account: 1, url: "" }, { answered: i % 3 === 0, at: i, now: i })
    assert.isFalse(hosts.paused({ host: "a", account: 1 }, 30))
  })

  it("sizes leases by how long attempts take, goes on after the last subscription, and lets retries go first by turns", () => {
    const hosts = ReceiverHosts.make(limits)
    assert.strictEqual(hosts.capacities(due(["a"]), 0)[0]!.batchSize, 20)
    for (let i = 0; i < 60; i++)
      hosts.attempted({ host: "a", account: 1, url: "" }, { answered: true, at: 0, now: 700 })
    const [slow] = hosts.capacities(due(["a"]), 0)
    assert.strictEqual(slow!.batchSize, 1)
    for (let i = 0; i < 100; i++) hosts.attempted({ host: "a", account: 1, url: "" }, { answered: true, at: 0, now: 5 })
    begin(hosts, lease("a", 77, 5))
    const [quick] = hosts.capacities(due(["a"]), 0)
    assert.deepInclude(quick, { batchSize: 50, accountCursor: 5 })
    assert.strictEqual(quick!.accounts.get(5)!.roundRobinCursor, 77)
    hosts.ended(lease("a", 77, 5))
    assert.strictEqual(hosts.capacities(due(["a"]), 0)[0]!.accounts.get(5)!.roundRobinCursor, 77, "also when idle")
    assert.notStrictEqual(quick!.retriesFirst, slow!.retriesFirst)
  })

  it("has a second's work leased beside what its places are for, over all hosts no more than may be", () => {
    const hosts = ReceiverHosts.make({ ...limits, leasedOfHost: 1000, leased: 4000 })
    const [unknown] = hosts.capacities(due(["a"]), 0)
    // Eight places, and ten that are done with 20 attempts in a second; of the callbacks an eighth of what is free.
    assert.deepInclude(unknown, { limit: 8 + 200, callbacks: 500, batchSize: 20, accountLimit: 8 + 150 })
    for (let i = 0; i < 208; i++) hosts.wait(lease("a", i))
    for (let i = 0; i < 8; i++) assert.strictEqual(hosts.next(0)?.subscription, i, "in their order")
    assert.isUndefined(hosts.next(0), "an account leaves a quarter of the places")
    assert.deepStrictEqual(limitsOf(hosts, ["a"]), [["a", 2]])
    hosts.ended(lease("a", 0))
    assert.strictEqual(hosts.next(0)?.subscription, 8)
    // What a slow host has leased would wait for long.
    for (let i = 0; i < 2; i++)
      hosts.attempted({ host: "slow", account: 1, url: "" }, { answered: true, at: 0, now: 9000 })
    assert.deepStrictEqual(limitsOf(hosts, ["slow"]), [["slow", 5]])
  })

  it("is low where half of what may wait has begun, unless the last look has left nothing", () => {
    const ofOne = (account: number): Lease => ({ ...lease("a", 1, account), callbacks: [message] })
    const hosts = ReceiverHosts.make({ ...limits, leasedOfHost: 1000, leased: 4000 })
    const look = () => hosts.capacities([{ host: "a", account: 1 }], 0)[0]!
    const sendNext = () => hosts.ended(hosts.next(0)!)
    for (let i = look().accountLimit; i > 0; i--) hosts.wait(ofOne(1))
    for (let i = 0; i < 8; i++) sendNext()
    // Nothing has begun since: there is room at the host, and none for the account.
    assert.deepInclude(look(), { limit: 58 })
    assert.strictEqual(look().accounts.get(1)?.limit, 8)
    for (let i = 0; i < 8; i++) hosts.wait(ofOne(1))
    assert.strictEqual(look().accounts.get(1)?.limit, 0)
    assert.isFalse(hosts.isLow("a"))
    for (let i = 0; i < 58; i++) sendNext()
    assert.isFalse(hosts.isLow("a"), "100 of 200 wait")
    sendNext()
    assert.isTrue(hosts.isLow("a"))

    const quiet = ReceiverHosts.make({ ...limits, leasedOfHost: 1000, leased: 4000 })
    quiet.capacities(due(["a"]), 0)
    for (const account of [1, 2]) for (let i = 0; i < 20; i++) quiet.wait(ofOne(account))
    assert.isFalse(quiet.isLow("a"), "there was room for more of each")
    quiet.wait({ ...ofOne(2), full: true })
    assert.isTrue(quiet.isLow("a"))
  })

  it("gives a free place to the host with least in flight, and there to the account whose turn it is", () => {
    const hosts = ReceiverHosts.make({ ...limits, concurrency: 8, perHost: 4, leasedOfHost: 1000, leased: 4000 })
    for (let i = 0; i < 6; i++) for (const host of ["a", "b"]) hosts.wait(lease(host, i, 1))
    for (let i = 0; i < 2; i++) hosts.wait(lease("b", 100 + i, 2))
    const begun = () => {
      const next = hosts.next(0)
      return next === undefined ? undefined : `${next.host} ${next.account}`
    }
    assert.deepStrictEqual(Array.from({ length: 8 }, begun), [
      ...["a 1", "b 1", "a 1", "b 2", "a 1", "b 1", "b 2"],
      // Account 1 has three quarters of each host's places.
      undefined
    ])
    hosts.ended(lease("b", 0, 1))
    assert.strictEqual(begun(), "b 1")
    hosts.ended(lease("a", 0, 1))
    assert.strictEqual(begun(), "a 1")
  })

  it("takes back what waits for too long, and what waits for a host that does not answer", () => {
    const hosts = ReceiverHosts.make({ ...limits, leasedOfHost: 1000, leased: 4000 })
    for (let i = 0; i < 4; i++) hosts.wait({ ...lease("a", i), leasedUntil: 1000 * i })
    hosts.wait({ ...lease("a", 9, 2), leasedUntil: 9000 })
    const subscriptions = (leases: ReadonlyArray<Lease>) => leases.map(({ subscription }) => subscription)
    assert.deepStrictEqual(subscriptions(hosts.withdrawn(1500, 0)), [0, 1])
    for (let i = 0; i < 3; i++) hosts.attempted({ host: "a", account: 1, url: "" }, { answered: false, at: 0, now: 0 })
    assert.deepStrictEqual(subscriptions(hosts.withdrawn(0, 0)), [2, 3])
    assert.strictEqual(hosts.next(0)?.account, 2)
    assert.isUndefined(hosts.next(5000))
  })

  it("has what commits hand over leased as all is, and leaves the turns of retries as they are", () => {
    const hosts = ReceiverHosts.make(limits)
    const handed = [1, 2, 3].map((subscription) => ({ host: "a", account: 1, subscription }))
    const { retriesFirst } = hosts.capacitiesFor(handed, 0)[0]!
    const [again, ...none] = hosts.capacitiesFor(handed, 0)
    assert.deepStrictEqual(none, [])
    assert.deepInclude(again, { host: "a", limit: 8, retriesFirst, only: handed })
    assert.deepStrictEqual(hosts.capacitiesFor([], 0), [])
  })

  it("leaves a quarter of a shared host, and of everything, to the accounts beside one", () => {
    const hosts = ReceiverHosts.make(limits)
    for (let i = 0; i < 8; i++) begin(hosts, lease("shared", i, 1))
    const [shared] = hosts.capacities(due(["shared"]), 0)
    assert.deepInclude(shared, { limit: 2, accountCursor: 1, accountLimit: 8 })
    assert.deepStrictEqual(shared!.accounts.get(1), { roundRobinCursor: 7, limit: 0 })

    // Hosts of its own bring an account no more than that, and its many hosts hide none of another account.
    const own = Array.from({ length: 100 }, (_, i) => ({ host: `own ${i}`, account: 1 }))
    const other = { host: "of another", account: 2 }
    const given = hosts.capacities([...own, other], 0)
    assert.strictEqual(given[0]!.host, other.host)
    const ofOne = given.filter(({ host }) => host.startsWith("own"))
    assert.strictEqual(
      ofOne.reduce((sum, { limit }) => sum + limit, 0),
      40
    )
    for (const { host, limit } of ofOne) for (let i = 0; i < limit; i++) begin(hosts, lease(host, i, 1))
    assert.strictEqual(hosts.inFlight(), 48)
    assert.deepStrictEqual(
      hosts.capacities([...own, other], 0).map(({ host }) => host),
      [other.host]
    )
    for (const { host, limit } of ofOne) for (let i = 0; i < limit; i++) hosts.ended(lease(host, i, 1))
    assert.isAbove(hosts.capacities(own, 0).length, 1)
  })

  it("leaves a host alone for no longer than it was to, where the clock is put back meanwhile", () => {
    const hosts = ReceiverHosts.make(limits)
    const [hour, of] = [3_600_000, { host: "a", account: 1, url: "" }]
    for (let failed = 0; failed < 3; failed++) hosts.attempted(of, { answered: false, at: hour, now: hour })
    assert.isTrue(hosts.paused(of, hour + 999))
    assert.deepStrictEqual(limitsOf(hosts, ["a"], hour + 999, 1), [])
    assert.isFalse(hosts.paused(of, 1_000))
    assert.deepStrictEqual(limitsOf(hosts, ["a"], 1_000, 1), [["a", 1]])
    assert.strictEqual(hosts.attempted(of, { answered: false, at: 1_000, now: 1_000 }), 3_000, "and again as ever")
    hosts.waits("b", false, hour)
    assert.isTrue(hosts.paused({ host: "b", account: 1 }, hour + 999))
    assert.isFalse(hosts.paused({ host: "b", account: 1 }, 1_000))
  })
})
