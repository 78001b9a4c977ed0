/**
 * What it costs that daemons share a PostgreSQL store: 1 to 20 processes, each with the daemon's own delivery and a
 * receiver that answers at once, without HTTP, while some of them commit the blocks of four chains. CPU is of the clients
 * and of all processes of the server; every callback is counted by its key where it is sent.
 *
 *     node bench/claims.ts [rounds] [daemons …]
 *
 * Three phases: nothing to do; callbacks as they come with the blocks; a backlog beside the blocks. The server has
 * `fsync = off`, so disks do not count.
 */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import pg from "pg"
import * as PostgresServer from "../test/PostgresServer.ts"
import * as InstantReceiver from "./InstantReceiver.ts"
import * as PostgresCosts from "./PostgresCosts.ts"
import { median } from "./Samples.ts"

const [role, ...args] = process.argv.slice(2)

const chains = ["ethereum", "polygon", "base", "arbitrum"].map((name) => Result.getOrThrow(Chain.find(name, "mainnet")))
const hosts = 40
/** Of each host, which an account of its own has; they take the chains in turn. */
const subscriptionsOfHost = 12
const backlog = 10_000
const blocksPerSecond = 2
/** Callbacks of one block. */
const payments = 25
/** Most daemons have ten; twenty with ten each would need more connections than a server gives by default. */
const connections = 4
const [idleMillis, pacedMillis] = [10_000, 15_000]

const addressOf = (number: number) => {
  const address = new Uint8Array(20)
  new DataView(address.buffer).setUint32(0, number + 1)
  return address as AddressBytes
}

interface Report {
  /** Microseconds. */
  readonly cpu: number
  /** Keys of the callbacks that were sent since the last report. */
  readonly sent: ReadonlyArray<string>
  readonly looks: number
  /** Looks that found something to send, of which another process took all. */
  readonly empty: number
  readonly blocks: number
  /** What the log warned of. */
  readonly warnings: ReadonlyArray<string>
}

const layer = (url: string) =>
  Subscriptions.layer.pipe(
    Layer.provideMerge(Database.layer({ kind: "postgres", url: Redacted.make(url), connections, secretKeys }))
  )
const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))

/** A daemon without its HTTP: what is sent is only noted. */
const daemon = Effect.fnUntraced(function* (url: string, number: number, count: number) {
  let sent: Array<string> = []
  let [looks, empty, blocks] = [0, 0, 0]
  let warnings: Array<string> = []
  const noting = Layer.effect(
    Outbox,
    Effect.map(Outbox, (outbox) => ({
      ...outbox,
      lease: (...[capacities, leaseMillis]: Parameters<typeof outbox.lease>) =>
        Effect.tap(outbox.lease(capacities, leaseMillis), (leases) =>
          Effect.sync(() => {
            looks++
            if (leases.length === 0) empty++
          })
        )
    }))
  ).pipe(Layer.provide(Outbox.layer))
  const context = yield* Layer.build(
    InstantReceiver.delivery((key) => sent.push(key)).pipe(
      Layer.provide(RecurringTasks.layer),
      Layer.provideMerge(noting),
      Layer.provideMerge(layer(url)),
      Layer.provide(
        Logger.layer([
          Logger.make(({ cause, message }) => {
            warnings.push(`${String(message)} ${JSON.stringify(cause).slice(0, 500)}`)
          })
        ])
      ),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
    )
  )
  const followed = yield* Effect.forEach(
    chains.filter((_, i) => i % count === number),
    (chain) =>
      Effect.map(Effect.provide(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), context), (store) => ({
        store,
        first: chains.indexOf(chain)
      }))
  )

  const commit = Effect.fnUntraced(function* ({ first, store }: (typeof followed)[number]) {
    const cursor = yield* store.cursor
    const height = (cursor?.height ?? 0) + 1
    const transactions = Array.from({ length: payments }, () => crypto.getRandomValues(new Uint8Array(32)))
    const watched = (hosts * subscriptionsOfHost) / chains.length
    yield* store.commit([
      {
        ...{ height, hash: crypto.getRandomValues(new Uint8Array(32)), parent: cursor?.hash ?? new Uint8Array(32) },
        ...{ time: Math.floor(Date.now() / 1000), transactions, spends: [] },
        transfers: transactions.map((_, transaction) => ({
          ...({ kind: "coin", transaction, position: 0, from: undefined, amount: 1n } as const),
          to: addressOf(first + chains.length * ((height * payments + transaction) % watched))
        }))
      }
    ])
    blocks++
  })
  let pacing = false
  yield* Effect.forEach(followed, (one) =>
    Effect.forkScoped(
      Effect.forever(
        Effect.gen(function* () {
          const next = performance.now() + 1000 / blocksPerSecond
          if (pacing) yield* commit(one)
          yield* Effect.sleep(Math.max(0, next - performance.now()))
        })
      )
    )
  )

  let cpu = process.cpuUsage()
  process.on("message", (message) => {
    if (message !== "report") {
      pacing = message === "pace"
      return
    }
    const { system, user } = process.cpuUsage(cpu)
    process.send!({ cpu: system + user, sent, looks, empty, blocks, warnings } satisfies Report)
    cpu = process.cpuUsage()
    sent = []
    warnings = []
    looks = empty = blocks = 0
  })
  process.once("disconnect", () => process.exit())
  process.send!("ready")
  return yield* Effect.never
})

const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
const connect = async (url: string) => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return client
}

/** The subscriptions of each host are of one account. */
const prepare = Effect.gen(function* () {
  const { create } = yield* Subscriptions
  for (let i = 0; i < hosts * subscriptionsOfHost; i++) {
    yield* create({
      ...{ account: 1 + (i % hosts), chain: chains[i % chains.length]!, address: addressOf(i) },
      ...({ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, secret: "a secret" } as const),
      ...{ callbackUrl: `https://host${i % hosts}.test/callbacks`, allowDuplicates: false }
    })
  }
})

const insertBacklog = `
  insert into callback (subscription, host, account, chain, height, idempotency_key, event, body, state, due, created)
  select s.id, s.host, s.account, s.chain, n, md5(n::text), s.event, repeat('x', 500), 'due', 0,
    (extract(epoch from now()) * 1000)::bigint
  from generate_series(1, ${backlog}) n
    join subscription s on s.id = 1 + n % ${hosts * subscriptionsOfHost}`

interface Measured {
  readonly seconds: number
  /** CPU seconds. */
  readonly clients: number
  readonly server: number
  readonly callbacks: number
  readonly blocks: number
  readonly looks: number
  readonly empty: number
  /** Connections that waited for a lock, on average. */
  readonly waiting: number
  readonly wal: number
  readonly rollbacks: number
  readonly deadlocks: number
}

const ask = (child: ChildProcess) =>
  new Promise<Report>((resolve) => {
    child.once("message", (report) => resolve(report as Report))
    child.send("report")
  })

/** Callbacks that were sent, over all phases, and how often; what was written down of them. */
const proved = async (client: pg.Client, sent: ReadonlyMap<string, number>) => {
  const { rows } = await client.query<{ idempotency_key: string; state: string; attempts: number }>(
    "select idempotency_key, state, attempts from callback"
  )
  const lost = rows.filter(({ idempotency_key }) => !sent.has(idempotency_key)).length
  const unfinished = rows.filter(({ attempts, state }) => state !== "delivered" || Number(attempts) !== 1).length
  const doubled = [...sent.values()].filter((times) => times > 1).length
  return { made: rows.length, lost, unfinished, doubled }
}

const round = async (url: string, count: number) => {
  const client = await connect(url)
  const watching = await connect(url)
  const server = await PostgresCosts.postmaster(client)
  const daemons = await Promise.all(
    Array.from({ length: count }, async (_, number) => {
      const child = fork(fileURLToPath(import.meta.url), ["daemon", url, String(number), String(count)])
      await new Promise((resolve) => child.once("message", resolve))
      return child
    })
  )
  const tell = (what: string) => {
    for (const child of daemons) child.send(what)
  }
  const sent = new Map<string, number>()
  const warnings: Array<string> = []
  const note = (reports: ReadonlyArray<Report>) => {
    for (const key of reports.flatMap((report) => report.sent)) sent.set(key, (sent.get(key) ?? 0) + 1)
    warnings.push(...reports.flatMap((report) => report.warnings))
  }
  const phase = async (begin: () => Promise<void>, during: () => Promise<void>): Promise<Measured> => {
    note(await Promise.all(daemons.map(ask)))
    let [looks, waiting] = [0, 0]
    const sampling = setInterval(async () => {
      const { rows } = await watching.query(
        "select count(*)::int as n from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
      )
      looks++
      waiting += rows[0].n
    }, 200)
    const counts = await PostgresCosts.countsOf(client)
    const cpu = PostgresCosts.cpuOf(server)
    const at = performance.now()
    await begin()
    await during()
    const seconds = (performance.now() - at) / 1000
    const ended = PostgresCosts.cpuOf(server)
    clearInterval(sampling)
    const reports = await Promise.all(daemons.map(ask))
    const after = await PostgresCosts.countsOf(client)
    note(reports)
    process.stderr.write(`  ${count} daemons: a phase of ${seconds.toFixed(0)} s\n`)
    const sum = (of: (report: Report) => number) => reports.reduce((total, report) => total + of(report), 0)
    return {
      ...{ seconds, clients: sum((report) => report.cpu) / 1e6, server: ended - cpu },
      callbacks: sum((report) => report.sent.length),
      ...{ blocks: sum((report) => report.blocks), looks: sum((report) => report.looks) },
      ...{ empty: sum((report) => report.empty), waiting: waiting / Math.max(looks, 1) },
      ...{ wal: after.wal - counts.wal, rollbacks: after.rollbacks - counts.rollbacks },
      deadlocks: after.deadlocks - counts.deadlocks
    }
  }
  const nothing = async () => {}
  /** Waits until nothing of what `which` names is due. */
  const done = async (which = "true") => {
    const due = `select exists (select 1 from callback where state = 'due' and ${which}) as due`
    while ((await client.query<{ due: boolean }>(due)).rows[0]!.due) await sleep(100)
  }
  try {
    await sleep(3000)
    const idle = await phase(nothing, () => sleep(idleMillis).then(nothing))
    const paced = await phase(
      async () => tell("pace"),
      async () => {
        await sleep(pacedMillis)
        tell("rest")
        await sleep(1000)
        await done()
      }
    )
    await client.query("begin")
    await client.query(insertBacklog)
    const full = await phase(
      async () => {
        tell("pace")
        await client.query("commit")
      },
      async () => {
        // Blocks go on: of their callbacks some are always due.
        await done("left(body, 1) = 'x'")
        tell("rest")
      }
    )
    await sleep(1000)
    await done()
    await phase(nothing, nothing)
    return { idle, paced, full, proof: await proved(client, sent), warnings }
  } finally {
    await Promise.all(
      daemons.map((child) => {
        const gone = new Promise((resolve) => child.once("exit", resolve))
        child.kill("SIGKILL")
        return gone
      })
    )
    await client.end()
    await watching.end()
  }
}

const main = async () => {
  const [rounds = 3, ...counts] = process.argv.slice(2).map(Number)
  const server = await PostgresServer.start()
  if (server === undefined) throw new Error("PostgreSQL is not installed")
  try {
    await Effect.runPromise(Effect.scoped(Effect.provide(prepare, layer(server.url.replace(/postgres$/, "template1")))))
    const results = new Map<number, Array<Awaited<ReturnType<typeof round>>>>()
    for (let i = 0; i < rounds; i++) {
      for (const count of counts.length === 0 ? [1, 2, 5, 10, 20] : counts) {
        const admin = await connect(server.url)
        await admin.query("create database bench")
        const result = await round(server.url.replace(/postgres$/, "bench"), count)
        await admin.query("drop database bench with (force)")
        await admin.end()
        results.set(count, [...(results.get(count) ?? []), result])
        console.log(`${count} daemons: ${JSON.stringify(result)}`)
      }
    }
    console.log(`\nmedians of ${rounds} rounds, ${connections} connections a daemon; CPU in µs`)
    for (const [count, all] of results) {
      const of = (phase: "idle" | "paced" | "full", value: (measured: Measured) => number) =>
        median(all.map((result) => value(result[phase])))
      const each = (phase: "paced" | "full") =>
        `${of(phase, ({ callbacks, clients }) => (clients / callbacks) * 1e6).toFixed(0)} clients + ` +
        `${of(phase, ({ callbacks, server }) => (server / callbacks) * 1e6).toFixed(0)} server a callback, ` +
        `${of(phase, ({ wal, callbacks }) => wal / callbacks).toFixed(0)} bytes of WAL, ` +
        `${(of(phase, ({ empty, looks }) => empty / Math.max(looks, 1)) * 100).toFixed(0)} % of looks in vain, ` +
        `${of(phase, ({ waiting }) => waiting).toFixed(2)} wait for locks`
      console.log(
        `${String(count).padStart(2)} daemons\n` +
          `  idle: ${of("idle", ({ clients, seconds }) => (clients / seconds / count) * 1e6).toFixed(0)} clients + ` +
          `${of("idle", ({ seconds, server }) => (server / seconds / count) * 1e6).toFixed(0)} server a second and daemon\n` +
          `  paced: ${each("paced")}\n` +
          `  backlog: ${of("full", ({ callbacks, seconds }) => callbacks / seconds).toFixed(0)}/s, ${each("full")}`
      )
      const total = (value: (result: (typeof all)[number]) => number) =>
        all.reduce((sum, result) => sum + value(result), 0)
      const phases = (value: (measured: Measured) => number) =>
        total(({ full, idle, paced }) => value(idle) + value(paced) + value(full))
      console.log(
        `  made ${total(({ proof }) => proof.made)}, lost ${total(({ proof }) => proof.lost)}, sent twice ` +
          `${total(({ proof }) => proof.doubled)}, not written down once ${total(({ proof }) => proof.unfinished)}; ` +
          `${phases(({ deadlocks }) => deadlocks)} deadlocks, ${phases(({ rollbacks }) => rollbacks)} rollbacks, ` +
          `${total(({ warnings }) => warnings.length)} warnings`
      )
      if (total(({ proof }) => proof.lost + proof.doubled + proof.unfinished) > 0) process.exitCode = 1
    }
  } finally {
    server.remove()
  }
}

if (role === "daemon") {
  const [url = "", number = "0", count = "1"] = args
  Effect.runFork(Effect.scoped(daemon(url, Number(number), Number(count))))
} else await main()
