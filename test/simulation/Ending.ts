/**
 * How every story ends: everything is well again, what is left to be done is waited for, and the record is closed. Hosts
 * stay as they are at first, while payments are waited for at the one that was well all the time.
 */
import * as Exit from "effect/Exit"
import * as Acting from "./Acting.ts"
import * as Families from "./Families.ts"
import * as Operating from "./Operating.ts"
import type { FeedEntry, Record, Subscribed } from "./Record.ts"
import type { Stage } from "./Stage.ts"
import { lastWaiting } from "./promises/Told.ts"
import type { Payment } from "./Story.ts"
import * as Subscribing from "./Subscribing.ts"
import { epoch } from "./SimulatedTime.ts"
import * as Wallets from "./Wallets.ts"

/** How long the end may take once everything is well, in milliseconds. */
const patience = 100_000
/** How long a payment may wait to be told where everything that concerns it is well. */
const fairMillis = 25_000
/** Blocks with payments at the end: those of each have another number of confirmations. */
const confirming = 5

/** An amount that no story has. */
const last = 1_007

export const make = (stage: Stage) => {
  const { chains, hosts, look, machine, mineAtOnce, nodes, say, subscribed, tenants, time } = stage
  const unfinished: Array<string> = []
  const audited: Array<string> = []

  /** Waits for something, and takes note where it does not come in time. */
  const until = async (what: string, millis: number, isSo: () => boolean) => {
    const end = time.now() + millis
    while (!isSo()) {
      if (time.now() > end) {
        unfinished.push(`${what} has not come within ${millis / 1000} s`)
        return say(`!   ${unfinished.at(-1)}`)
      }
      await time.sleep(500)
    }
  }

  const areAtHead = () => {
    const rows = look<{ name: string; hash: Buffer | null }>("select name, hash from chain")
    return chains.every((chain) => {
      const row = rows.find(({ name }) => name === chain.family.chain)
      return row?.hash?.toString("hex") === chain.best().at(-1)!.hash
    })
  }

  /** What is left to be done of callbacks and of what becomes callbacks. */
  const left = () => {
    const tables = ["fan_out", "undoing", "undone_block", "missing_parts", "removed_subscription", "unresolved_event"]
    const counts = tables.map((table) => `(select count(*) from ${table})`)
    const due = "(select count(*) from callback where state = 'due')"
    // Of subscriptions that blocks are matched against.
    const matched = "join subscription s on s.id = subscription and s.active + s.parking = 1"
    const behind = [
      `(select count(*) from listed_address ${matched} where past_from is not null and left_revision is null)`,
      `(select count(*) from extended_key_branch ${matched} where behind_from is not null)`,
      `(select count(*) from past_payment ${matched})`,
      // Confirmations that have come, and that commits have left to steps.
      `(select count(*) from waiting ${matched} where due_height <= (select height from chain c where c.id = waiting.chain))`,
      "(select count(*) from transaction_look l where next_look <= (select height from chain c where c.id = l.chain))",
      "(select count(*) from recovery join subscription s on s.id = subscription and s.active = 1)",
      // Of a host that is not verified these are not looked at for minutes.
      `(select count(*) from callback_copy where stopped = 0 and due < ${time.now() + patience})`
    ]
    return look<{ left: number }>(`select ${[due, ...counts, ...behind].join(" + ")} as left`)[0]!.left
  }

  const waitForFairness = async () => {
    const [well] = hosts.all
    const isTold = (one: Subscribed) =>
      hosts.arrivals.some(({ path, text }) => path === one.path && text.includes(`${last}"`))
    const isActive = (one: Subscribed) =>
      look<{ active: number }>(`select active from subscription where reference_id = '${one.referenceId}'`)[0]
        ?.active === 1
    const concerned = Subscribing.known(stage).filter(
      ({ event, host, tenant, watched }) =>
        host === well!.host &&
        event === "ADDRESS_COINS_TRANSACTION_CONFIRMED" &&
        !tenant.isPoor &&
        watched.kind === "address"
    )
    for (const one of concerned) {
      if (isActive(one)) {
        await until(`The last payment to ${one.path} at ${one.host}, which is well`, fairMillis, () => isTold(one))
      }
    }
  }

  /** Waits until what waits at the nodes at the end has been told. */
  const waitForWaiting = async () => {
    for (const one of Subscribing.known(stage)) {
      const own = lastWaiting(one)
      if (own.length === 0 || one.tenant.isPoor || !one.tenant.verifiedAt.has(one.host)) continue
      await until(`What waits for a block, to ${one.path}`, patience, () =>
        own.every(({ id }) => hosts.arrivals.some(({ path, text }) => path === one.path && text.includes(id)))
      )
    }
  }

  const activateAll = async () => {
    for (const one of Subscribing.known(stage)) {
      let answer = await Subscribing.activate(stage, one)
      // More than the account's rate, or the disk is late.
      while (answer?.status === 429 || answer?.status === 503) {
        await time.sleep(1_000)
        answer = await Subscribing.activate(stage, one)
      }
    }
  }

  const close = async () => {
    say("The end: nodes and disk are well again")
    await stage.settled()
    machine.mend()
    for (const node of nodes.all) nodes.setMood(node, "well")
    await stage.begin()
    const paid = [...Array.from({ length: 5 }, (_, place) => place), Wallets.firstPlace + 1]
    const payments = paid.map((to): Payment => ({ kind: "coin", from: 6, to, amount: last }))
    for (const chain of chains) {
      for (let i = 0; i < confirming; i++) mineAtOnce(chain, payments)
      stage.send(chain, payments)
    }
    await until("The newest block", patience, areAtHead)
    await waitForFairness()
    say("All hosts are well again")
    for (const host of hosts.all) host.mood = "well"
    // An answer that is under way may still deactivate its subscription, behind an activation that finds it active.
    await time.sleep(2_000)
    for (const tenant of tenants) {
      const asked = hosts.all.filter(({ host }) => (tenant.verifiedAt.get(host) ?? epoch) > epoch)
      for (const host of asked) await Acting.verify(stage, tenant, host, true)
    }
    await activateAll()
    await until("The last callback", patience, () => left() === 0)
    await waitForWaiting()
    for (const address of [0, 1, 2]) {
      for (const what of ["token", "internal"] as const) await Acting.read(stage, { account: 0, address, what })
    }
    for (const chain of chains.filter(({ family }) => family.chain === Families.all.utxo.chain)) {
      const audit = await stage.life()?.run(Operating.audit(chain))
      if (audit !== undefined) audited.push(...(Exit.isSuccess(audit) ? audit.value : [String(audit.cause)]))
    }
    for (const one of Subscribing.known(stage)) {
      if (one.watched.kind === "list") await Subscribing.readList(stage, one, one.watched)
    }
    // Outcomes of the last attempts are written.
    await time.sleep(1_000)
    await until("The last callback", patience, () => left() === 0)
  }

  const record = (): Record => {
    const feeds = new Map<string, ReadonlyArray<FeedEntry>>()
    for (const one of Subscribing.known(stage)) {
      const own = `s.reference_id = '${one.referenceId}'`
      const entries = look<FeedEntry>(
        `select c.sequence, c.idempotency_key as "idempotencyKey", c.event, c.state from every_callback c
          join subscription s on s.id = c.subscription where ${own} and c.sequence is not null order by c.sequence`
      )
      feeds.set(one.referenceId!, entries)
      one.isActive = look<{ active: number }>(`select active from subscription s where ${own}`)[0]?.active === 1
    }
    const balances = new Map<string, number>()
    const ledgers = new Map<string, ReadonlyArray<{ key: string; kind: string; amount: number; results: number }>>()
    for (const { id, name } of tenants) {
      ledgers.set(name, look(`select entry_key as key, kind, amount, results from credit_entry where account = ${id}`))
      const [row] = look<{ balance: number }>(`select balance from credit_balance where account = ${id}`)
      balances.set(name, row!.balance)
    }
    const undoneAt = new Map<string, number>()
    const rewound = new Set<string>()
    for (const { at, depth, tip } of look<{ at: number; depth: number; tip: Buffer }>(
      "select at, depth, old_hash as tip from reorganisation order by id"
    )) {
      let hash = tip.toString("hex")
      for (let i = 0; i < depth; i++) {
        undoneAt.set(hash, at)
        if (stage.rewinds.some(({ from, to }) => from <= at && at <= to)) rewound.add(hash)
        else rewound.delete(hash)
        hash = chains.map(({ blocks }) => blocks.get(hash)).find((block) => block !== undefined)!.parent
      }
    }
    const { attempts, calls, defects, listed } = stage
    return {
      chains,
      tenants,
      subscribed,
      arrivals: hosts.arrivals,
      attempts,
      calls,
      listed,
      defects,
      feeds,
      balances,
      ledgers,
      undoneAt,
      rewound,
      ...{ unfinished, audited },
      twice: look<{ url: string }>(
        "select callback_url as url from subscription group by callback_url having count(*) > 1"
      ).map(({ url }) => url),
      watchedOnly: stage.watchedOnly,
      hidUntil: stage.nodes.hidUntil,
      stoppedCopies: new Set(
        look<{ id: string }>(
          "select s.reference_id as id from callback_copy c join subscription s on s.id = c.subscription where c.stopped = 1"
        ).map(({ id }) => id)
      ),
      hasLostPower: stage.hasLostPower()
    }
  }

  return { close, record }
}
