/** Plays a story: the world, the program's lives in it, and the record of what was asked and seen. */
import * as Settings from "@headwater/daemon/settings/Settings"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import * as ChainConnection from "@headwater/indexer/sync/ChainConnection"
import * as Replay from "@headwater/indexer/sync/Replay"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Chance from "./Chance.ts"
import * as Chains from "./Chains.ts"
import { addressAt } from "./EvmNode.ts"
import * as Nodes from "./Nodes.ts"
import type { Opening } from "./Opening.ts"
import * as Receivers from "./Receivers.ts"
import type { Attempt, Called, FeedEntry, Record, Subscribed, Tenant } from "./Record.ts"
import * as SimulatedMachine from "./SimulatedMachine.ts"
import { epoch, type SimulatedTime } from "./SimulatedTime.ts"
import type { Action, Payment, Story } from "./Story.ts"
import * as System from "./System.ts"

export interface Played {
  readonly record: Record
  /** What happened, a line each, with the seconds since the beginning. */
  readonly lines: ReadonlyArray<string>
}

const chainName = "ethereum/devnet"
const nodesOfChain = 2
const path = `/blockchain-events/${chainName}`

const eventPaths = {
  ADDRESS_COINS_TRANSACTION_CONFIRMED: "address-coins-transactions-confirmed",
  ADDRESS_COINS_TRANSACTION_CONFIRMED_EACH_CONFIRMATION: "address-coins-transactions-confirmed-each-confirmation",
  ADDRESS_TOKENS_TRANSACTION_CONFIRMED: "address-tokens-transactions-confirmed",
  ADDRESS_INTERNAL_TRANSACTION_CONFIRMED: "address-internal-transactions-confirmed",
  BLOCK_MINED: "block-mined"
} as const

/** How long the end may take once everything is well, in milliseconds. */
const patience = 100_000
/** How long a payment may wait to be told where everything that concerns it is well. */
const fairMillis = 25_000

/** Payments in transactions: each has at most one of the coin. */
const transactionsOf = (
  payments: ReadonlyArray<Payment>,
  failed: boolean,
  salt: string
): ReadonlyArray<Chains.Transaction> => {
  const groups: Array<Array<Payment>> = []
  for (const payment of payments) {
    const last = groups.at(-1)
    const isAlone = payment.kind === "coin" || last === undefined || last.length > 2
    const isKnown = last?.some(
      ({ from, kind, to }) => kind === payment.kind && from === payment.from && to === payment.to
    )
    if (isAlone || isKnown) groups.push([payment])
    else last.push(payment)
  }
  return groups.map((group, i) => ({
    id: Chains.digest(`transaction ${salt} ${i}`),
    failed: failed && i === 0,
    movements: group.map(({ amount, from, kind, to }) => ({ kind, from, to, amount: BigInt(amount) }))
  }))
}

const words = (action: Action): string => {
  const { kind, ...rest } = action
  if (action.kind !== "mine") return `${kind} ${JSON.stringify(rest).replaceAll('"', "").slice(1, -1)}`
  return `mine ${action.payments.map(({ amount, from, kind, to }) => `${kind} ${from}→${to} ${amount}`).join(", ") || "nothing"}${action.failed ? " (the first fails)" : ""}`
}

/** The settings, for nodes at these URLs. */
export const settingsFor = (nodes: ReadonlyArray<string>): System.Written => ({
  chains: {
    [chainName]: {
      nodes: nodes as unknown as readonly [string],
      ...{ verify: "links", start: 0, pollMillis: 2_000, timeoutMillis: 3_000, traceTimeoutMillis: 2_000 }
    }
  },
  callbacks: { timeoutMillis: 3_000 },
  credits: { enabled: true, subscriptionDay: 0, addressDay: 0 }
})

export const play = async (opening: Opening, seed: number, story: Story, time: SimulatedTime): Promise<Played> => {
  const chance = Chance.make(seed ^ 0x5eed)
  const lines: Array<string> = []
  const say = (line: string) => lines.push(`${((time.now() - epoch) / 1000).toFixed(3).padStart(8)} ${line}`)

  const seconds = () => Math.floor(time.now() / 1000)
  const chain = Chains.make(chainName, chance, seconds())
  const machine = SimulatedMachine.make(opening.file, time, chance)
  const nodes = Nodes.make([{ chain, nodes: nodesOfChain }], time, chance)
  const hosts = Receivers.make(opening.challenges.size, time, chance)
  const attempts: Array<Attempt> = []
  const calls: Array<Called> = []
  const subscribed: Array<Subscribed> = []
  const verifiedBefore = () =>
    new Map([...opening.challenges].flatMap(([host, { size }]) => (size > 0 ? [[host, epoch]] : [])))
  const tenants = opening.tenants.map((tenant): Tenant => ({ ...tenant, verifiedAt: verifiedBefore() }))
  const unfinished: Array<string> = []

  const world: System.World = {
    machine,
    nodes,
    receivers: hosts,
    attempted: (attempt) => attempts.push({ at: time.now(), ...attempt }),
    logged: (line) => say(`        ${line}`)
  }
  const settings = settingsFor(nodes.all.map(({ url }) => url))

  /** The present life; undefined where the program could not be started. */
  let life: System.Life | undefined
  /** Ends when lives have changed: starts and stops never overlap. */
  let lives: Promise<void> = Promise.resolve()
  const changeLife = (change: () => Promise<void>) => {
    lives = lives.then(change)
    return lives
  }
  const begin = async () => {
    for (let tries = 0; ; tries++) {
      life = await System.start(world, settings)
      if (life !== undefined || tries === 20) return
      await time.sleep(500)
    }
  }

  let looking: BetterSqlite.Database | undefined
  /** Reads the store as an operator with SQLite's shell would. */
  const look = <A>(sql: string): ReadonlyArray<A> => {
    if (looking?.name !== machine.file()) {
      looking?.close()
      looking = new BetterSqlite(machine.file(), { readonly: true })
    }
    return looking.prepare(sql).all() as Array<A>
  }
  const recorded = (): ReadonlySet<string> =>
    new Set(look<{ readonly hash: Buffer }>("select hash from block").map(({ hash }) => hash.toString("hex")))

  const call = async (tenant: Tenant, what: string, request: System.Call) => {
    // An answer that never comes is a call all the same.
    const called: Called = { tenant, at: time.now(), what, answer: undefined, isExcused: machine.isFull() }
    calls.push(called)
    const answer = await life?.call({ ...request, key: tenant.key })
    called.answer = answer
    called.isExcused ||= machine.isFull()
    say(`    ${tenant.name}: ${what}: ${answer === undefined ? "no answer" : answer.status}`)
    return answer
  }

  const pathOf = ({ referenceId }: Subscribed) => `${path}/${referenceId}`
  const known = () =>
    subscribed.filter(({ deletion, referenceId }) => referenceId !== undefined && deletion === undefined)
  const oneOf = <A>(all: ReadonlyArray<A>, place: number): A | undefined => all[place % all.length]

  const subscribe = async (action: Extract<Action, { kind: "subscribe" }>) => {
    const { confirmations, event } = action
    const tenant = oneOf(tenants, action.account)!
    const own: Subscribed = {
      ...{ tenant, chain, event, confirmations: event === "BLOCK_MINED" ? 1 : confirmations },
      address: event === "BLOCK_MINED" ? undefined : action.address,
      host: oneOf(hosts.all, action.receiver)!.host,
      path: `/${subscribed.length}`,
      askedAt: time.now(),
      referenceId: undefined,
      recorded: new Set(),
      deletion: undefined
    }
    subscribed.push(own)
    const answer = await call(tenant, `subscribes ${own.path} to ${event} of ${own.address} at ${own.host}`, {
      method: "POST",
      path: `${path}/${eventPaths[event]}`,
      item: {
        callbackUrl: `https://${own.host}${own.path}`,
        callbackSecretKey: "secret",
        allowDuplicates: true,
        ...(own.address === undefined ? {} : { address: addressAt(own.address) }),
        ...(event === "BLOCK_MINED"
          ? {}
          : event.endsWith("EACH_CONFIRMATION")
            ? { confirmationsCount: confirmations }
            : { receiveCallbackOn: confirmations })
      }
    })
    if (answer === undefined || answer.status >= 300) return
    own.referenceId = answer.body.data.item.referenceId
    own.recorded = recorded()
  }

  const verify = async (tenant: Tenant, host: Receivers.Receiver, isPublished: boolean) => {
    const added = await call(tenant, `adds ${host.host}`, {
      method: "POST",
      path: "/domains/",
      item: { domain: host.host }
    })
    if (added === undefined || added.status >= 300) return
    if (isPublished) {
      host.challenges.add(added.body.data.item.token)
      if (!tenant.verifiedAt.has(host.host)) tenant.verifiedAt.set(host.host, time.now())
    }
    await call(tenant, `verifies ${host.host}`, { method: "POST", path: `/domains/${host.host}/verify`, item: {} })
  }

  const feedOf = async (one: Subscribed): Promise<ReadonlyArray<FeedEntry> | undefined> => {
    const answer = await call(one.tenant, `reads the feed of ${one.path}`, {
      path: `${pathOf(one)}/callbacks?limit=50`
    })
    return answer?.status === 200 ? answer.body.data.items : undefined
  }

  const rewind = (blocks: number) =>
    Effect.gen(function* () {
      const [one] = Settings.chains(yield* Settings.Settings)
      const store = yield* ChainStore.open(one!.chain, one!.settings)
      const cursor = yield* store.cursor
      if (cursor !== undefined && cursor.height > blocks) yield* store.rewind(cursor.height - blocks)
    }).pipe(Effect.scoped)

  const replay = (blocks: number) =>
    Effect.gen(function* () {
      const [{ chain, settings }] = Settings.chains(yield* Settings.Settings) as [
        ReturnType<typeof Settings.chains>[number]
      ]
      const { sideSources, source } = yield* ChainConnection.open(chain, settings)
      const store = yield* ChainStore.open(chain, settings)
      const to = (yield* store.cursor)?.height ?? 0
      const range = { from: Math.max(to - blocks, 0), to, callbacks: true }
      const next = yield* Replay.begin(chain, range)
      const whole = { ...source, blockAt: sideSources.wholeBlockAt ?? source.blockAt }
      yield* Replay.run(whole, store, range, next, { concurrency: 4, internalFrom: 0, forgotten: false })
    }).pipe(Effect.scoped)

  let mined = 0
  const perform = (action: Action): void => {
    say(words(action))
    switch (action.kind) {
      case "mine":
        return void chain.mine(transactionsOf(action.payments, action.failed, `${seed} ${mined++}`), seconds())
      case "fork": {
        const left = chain.fork(action.depth, action.longer, seconds(), () => chance.happens(action.kept))
        return void say(`    ${left} blocks are left`)
      }
      case "node":
        nodes.setMood(oneOf(nodes.all, action.node)!, action.mood)
        return
      case "receiver":
        // The first host is always well, so that it is seen whether others hold it up.
        hosts.all[1 + (action.receiver % (hosts.all.length - 1))]!.mood = action.mood
        return
      case "disk":
        machine.setFull(action.fullness)
        return void time.after(action.millis, () => machine.setFull(0))
      case "kill":
        return void changeLife(async () => {
          life?.kill()
          machine.crash(action.how)
          await time.sleep(30)
          await begin()
        })
      case "restart":
        return void changeLife(async () => {
          await life?.stop()
          await begin()
        })
      case "subscribe":
        return void subscribe(action)
      case "unsubscribe": {
        const one = oneOf(known(), action.subscription)
        if (one === undefined) return
        const deletion: NonNullable<Subscribed["deletion"]> = { askedAt: time.now(), answeredAt: undefined }
        one.deletion = deletion
        return void call(one.tenant, `deletes ${one.path}`, { method: "DELETE", path: pathOf(one) }).then((answer) => {
          if (answer?.status === 200) deletion.answeredAt = time.now()
        })
      }
      case "activate": {
        const one = oneOf(known(), action.subscription)
        if (one === undefined) return
        return void call(one.tenant, `activates ${one.path}`, {
          method: "POST",
          path: `${pathOf(one)}/activate`,
          item: {}
        })
      }
      case "verify":
        return void verify(oneOf(tenants, action.account)!, oneOf(hosts.all, action.receiver)!, action.published)
      case "redeliver": {
        const one = oneOf(known(), action.subscription)
        if (one === undefined) return
        return void feedOf(one).then((feed) => {
          const entry = feed && oneOf(feed, action.callback)
          if (entry === undefined) return
          return call(one.tenant, `asks for ${entry.sequence} of ${one.path} again`, {
            method: "POST",
            path: `${pathOf(one)}/callbacks/${entry.idempotencyKey}/redeliver`,
            item: {}
          })
        })
      }
      case "readFeed": {
        const one = oneOf(known(), action.subscription)
        if (one !== undefined) void feedOf(one)
        return
      }
      case "rewind":
        return void changeLife(async () => {
          await life?.stop()
          const exit = await System.command(world, settings, rewind(action.blocks))
          say(`    rewound: ${Exit.isSuccess(exit) ? "done" : String(exit.cause).slice(0, 200)}`)
          await begin()
        })
      case "replay":
        return void life?.run(replay(action.blocks)).then((exit) => {
          say(`    replayed: ${Exit.isSuccess(exit) ? "done" : String(exit.cause).slice(0, 200)}`)
        })
    }
  }

  /** Waits for something of the store, at most until the end of all patience. */
  const until = async (what: string, millis: number, isSo: () => boolean | Promise<boolean>) => {
    const end = time.now() + millis
    while (!(await isSo())) {
      if (time.now() > end) {
        unfinished.push(`${what} has not come within ${millis / 1000} s`)
        say(`!   ${unfinished.at(-1)}`)
        return false
      }
      await time.sleep(500)
    }
    return true
  }

  const isAtHead = () => {
    const [row] = look<{ readonly hash: Buffer | null }>("select hash from chain")
    return row?.hash?.toString("hex") === chain.best().at(-1)!.hash
  }

  /** What is left to be done of callbacks and what becomes callbacks. */
  const left = () => {
    const [{ due, fanOut, missing, undoing }] = look<{ due: number; fanOut: number; missing: number; undoing: number }>(
      `select (select count(*) from callback where state = 'due') as due, (select count(*) from fan_out) as fanOut,
        (select count(*) from undoing) as undoing, (select count(*) from missing_parts) as missing`
    ) as [{ due: number; fanOut: number; missing: number; undoing: number }]
    return due + fanOut + undoing + missing
  }

  /** Makes everything well again, in two steps: other hosts stay as they are while payments are waited for at the first. */
  const close = async () => {
    say("The end: nodes and disk are well again")
    await lives
    machine.setFull(0)
    for (const node of nodes.all) nodes.setMood(node, "well")
    if (life === undefined) await begin()
    const payments = Array.from({ length: 5 }, (_, to): Payment => ({ kind: "coin", from: 6, to, amount: 7 }))
    chain.mine(transactionsOf(payments, false, `${seed} last`), seconds())
    for (let i = 0; i < 5; i++) chain.mine([], seconds())
    await until("The newest block", patience, isAtHead)
    const fair = subscribed.filter(
      ({ deletion, event, host, referenceId }) =>
        host === hosts.all[0]!.host &&
        referenceId !== undefined &&
        deletion === undefined &&
        event === "ADDRESS_COINS_TRANSACTION_CONFIRMED"
    )
    const isTold = (one: Subscribed) =>
      hosts.arrivals.some(({ body, path }) => path === one.path && body?.data.item.amount === "0.000000000000000007")
    const isInactive = async (one: Subscribed) => {
      const answer = await life!.call({ key: one.tenant.key, path: `${pathOf(one)}/status` })
      return answer?.body?.data?.item?.isActive === false
    }
    for (const one of fair) {
      if (!isTold(one) && !(await isInactive(one))) {
        await until(`The last payment to ${one.path} at ${one.host}, which is well`, fairMillis, () => isTold(one))
      }
    }
    say("All hosts are well again")
    for (const host of hosts.all) host.mood = "well"
    for (const tenant of tenants) {
      const asked = hosts.all.filter(({ host }) => (tenant.verifiedAt.get(host) ?? epoch) > epoch)
      for (const host of asked) await verify(tenant, host, true)
    }
    for (const one of known()) {
      const activate = () =>
        call(one.tenant, `activates ${one.path}`, { method: "POST", path: `${pathOf(one)}/activate`, item: {} })
      let answer = await activate()
      while (answer?.status === 429) {
        await time.sleep(1_000)
        answer = await activate()
      }
    }
    await until("The last callback", patience, () => left() === 0)
  }

  const finish = async (): Promise<Record> => {
    const feeds = new Map<string, ReadonlyArray<FeedEntry>>()
    const balances = new Map<string, number>()
    const ledgers = new Map<string, ReadonlyArray<{ key: string; kind: string; amount: number }>>()
    for (const tenant of tenants) {
      const rows = look<{ key: string; kind: string; amount: number }>(
        `select entry_key as key, kind, amount from credit_entry where account = ${tenant.id}`
      )
      ledgers.set(tenant.name, rows)
      balances.set(
        tenant.name,
        look<{ balance: number }>(`select balance from credit_balance where account = ${tenant.id}`)[0]!.balance
      )
    }
    for (const one of known()) {
      const entries = look<FeedEntry>(
        `select c.sequence, c.idempotency_key as idempotencyKey, c.event, c.state from callback c
          join subscription s on s.id = c.subscription where s.reference_id = '${one.referenceId}'
          and c.sequence is not null order by c.sequence`
      )
      feeds.set(one.referenceId!, entries)
    }
    return {
      ...{ chains: [chain], tenants, subscribed, arrivals: hosts.arrivals, attempts, calls },
      ...{ feeds, balances, ledgers, unfinished }
    }
  }

  try {
    for (const { challenges, host } of hosts.all) for (const text of opening.challenges.get(host)!) challenges.add(text)
    await begin()
    for (const { action, pause } of story) {
      await time.sleep(pause)
      await lives
      perform(action)
    }
    await time.sleep(500)
    await close()
    const record = await finish()
    await life?.stop()
    return { record, lines }
  } finally {
    looking?.close()
    machine.remove()
  }
}
