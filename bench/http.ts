/**
 * Requests a second of one keyed lookup in SQLite, uncharged and charged, against Fastify with better-sqlite3 doing the same
 * in the same run; and the 99th percentile of its answer times while an indexer writes 20,000 rows a second, against an idle
 * one.
 *
 * Fastify checks the same key and reads the same row on its own thread, once without a charge and once with the charge
 * written as we write it, in a transaction. Each server is a process of its own with a store of its own, and is warm before
 * the first round; in a round they take turns. The load comes from here.
 *
 *     node bench/http.ts [seconds a turn] [rounds]
 */
import { type ChildProcess, fork } from "node:child_process"
import { createHash, randomUUID, timingSafeEqual } from "node:crypto"
import { copyFileSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import * as Chain from "@headwater/core/chains/Chain"
import { CreditsEnabled } from "@headwater/http/server/Charging"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import * as Server from "@headwater/http/server/Server"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import type { DatabaseError } from "@headwater/indexer/store/database/DatabaseError"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import autocannon from "autocannon"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import fastify from "fastify"
import { Agent, request } from "undici"
import * as Comparison from "./Comparison.ts"
import { median, percentile } from "./Samples.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const subscriptionCount = 100_000
const connections = 32
/** Requests a second at which answer times are taken: a busy server, not one at its end. */
const steadyRate = 1_000

/** Requests before the first round: until then what runs often is still being compiled. */
const warmingRequests = 10_000

const servers = ["headwater", "fastify", "headwater, charged", "fastify, charged"] as const

interface Task {
  readonly server: (typeof servers)[number]
  readonly file: string
}

const services = (file: string) =>
  Layer.mergeAll(Accounts.layer, Callbacks.layer, Credits.layer, Domains.layer).pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer({ kind: "sqlite", file }))
  )

/** Writes like blocks that follow one another closely: 100 transactions a second of 200 rows each. */
const index = Effect.gen(function* () {
  const { insertMany, query, transaction } = yield* Database
  let height = 0
  const commit = Effect.suspend(() => {
    const rows = Array.from({ length: 200 }, (_, output_index) => ({
      chain: 99,
      transaction_id: crypto.getRandomValues(new Uint8Array(32)),
      output_index,
      script: crypto.getRandomValues(new Uint8Array(22)),
      amount: "123456789",
      height: height
    }))
    height++
    return transaction(
      Effect.andThen(
        insertMany("unspent_output", rows),
        query((db) => db.updateTable("chain").set({ height }).where("name", "=", "ethereum/mainnet"))
      )
    )
  })
  const begin = performance.now()
  return yield* Effect.forever(
    Effect.gen(function* () {
      const due = Math.floor((performance.now() - begin) / 10)
      while (height < due) yield* commit
      yield* Effect.sleep("2 millis")
    })
  )
})

const headwater = ({ file, server }: Task) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const run = Effect.runForkWith(yield* Effect.context<Database>())
    let writing: Fiber.Fiber<never, DatabaseError> | undefined
    process.on("message", (message) => {
      if (message === "cpu") return
      writing?.interruptUnsafe()
      writing = message === "write" ? run(index) : undefined
      process.send!("done")
    })
    process.send!(address._tag === "UnixPathAddress" ? 0 : address.port)
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide(Layer.succeed(ConfiguredChains, new Map([[Chain.nameOf(chain), { chain }]]))),
        Layer.provide(Layer.succeed(CreditsEnabled, server === "headwater, charged")),
        Layer.provideMerge(services(file)),
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
      )
    )
  )

/** Tells how much CPU time the process has used, all its threads, in microseconds. */
const answerCpu = () => {
  process.on("message", (message) => {
    const { system, user } = process.cpuUsage()
    if (message === "cpu") process.send!(system + user)
  })
}

const startFastify = async ({ file, server }: Task) => {
  const db = new BetterSqlite(file)
  for (const pragma of ["journal_mode=WAL", "synchronous=NORMAL", "temp_store=MEMORY", "cache_size=-131072"]) {
    db.pragma(pragma)
  }
  db.pragma("wal_autocheckpoint=10000")
  const keys = db.prepare("select account, hash, revoked from api_key where hash = ?")
  const lookup = db.prepare(
    `select s.* from subscription s join chain c on c.id = s.chain
     where s.reference_id = ? and s.account = ? and c.name = ?`
  )
  const take = db.prepare(
    "update credit_balance set balance = balance - 30 where account = ? and balance >= 30 returning balance"
  )
  const enter = db.prepare(
    "insert into credit_entry (account, entry_key, at, kind, amount, results, detail) values (?, ?, ?, 'request', -30, 1, 'get')"
  )
  const charge = db.transaction((account: number, requestId: string) => {
    const row = take.get(account) as { readonly balance: number } | undefined
    if (row !== undefined) enter.run(account, `request:${requestId}`, Date.now())
    return row?.balance
  })
  const app = fastify()
  app.get<{ Params: Record<string, string>; Querystring: { context?: string } }>(
    "/blockchain-events/:blockchain/:network/:referenceId",
    async (request, reply) => {
      const chance = randomUUID()
      const requestId = Date.now().toString(16).padStart(12, "0") + chance.slice(0, 8) + chance.slice(9, 13)
      const key = request.headers["x-api-key"]
      const hash = createHash("sha256").update(String(key)).digest()
      const caller = keys.get(hash) as { account: number; hash: Buffer; revoked: number | null } | undefined
      if (caller === undefined || caller.revoked !== null || !timingSafeEqual(caller.hash, hash)) {
        return reply.code(401).send({ error: { code: "invalid_api_key" } })
      }
      const { blockchain, network, referenceId } = request.params
      const row = lookup.get(referenceId, caller.account, `${blockchain}/${network}`) as
        | Record<string, unknown>
        | undefined
      if (row === undefined) return reply.code(404).send({ error: { code: "resource_not_found" } })
      if (server === "fastify, charged") {
        const available = charge(caller.account, requestId)
        if (available === undefined) return reply.code(402).send({ error: { code: "insufficient_credits" } })
        reply.header("x-credits-consumed", 30).header("x-credits-available", available)
      }
      reply.header("x-request-id", requestId)
      const { context } = request.query
      return {
        apiVersion: "2024-12-12",
        requestId,
        ...(context === undefined ? {} : { context }),
        data: {
          item: {
            address: `0x${(row.address as Buffer).toString("hex")}`,
            blockchain,
            network,
            callbackUrl: row.callback_url,
            confirmationsCount: row.confirmations,
            createdTimestamp: row.created,
            eventType: row.event,
            isActive: row.active === 1,
            referenceId: row.reference_id
          }
        }
      }
    }
  )
  await app.listen({ host: "127.0.0.1", port: 0 })
  const address = app.server.address()
  process.send!(typeof address === "object" && address !== null ? address.port : 0)
}

interface Prepared {
  readonly key: string
  readonly references: ReadonlyArray<string>
}

const prepare = (file: string): Promise<Prepared> =>
  Effect.gen(function* () {
    const accounts = yield* Accounts
    const { insertMany, query, read } = yield* Database
    const { create } = yield* Subscriptions
    const { grant } = yield* Credits
    const { id: account } = yield* accounts.create("bench")
    const { key } = yield* accounts.createKey(account, { name: "bench" })
    yield* grant({ account, amount: Number.MAX_SAFE_INTEGER, detail: "bench" })
    yield* create({
      account,
      chain,
      event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
      address: new Uint8Array(20) as never,
      callbackUrl: "https://example.com/callbacks",
      secret: undefined,
      confirmations: 1,
      allowDuplicates: true
    })
    const [model] = yield* read((db) => db.selectFrom("subscription").selectAll())
    const { id: _, ...row } = model!
    const rows = Array.from({ length: subscriptionCount }, () => ({
      ...row,
      reference_id: randomUUID() as string,
      address: crypto.getRandomValues(new Uint8Array(20))
    }))
    yield* insertMany("subscription", rows)
    yield* query((db) => db.updateTable("subscription_count").set({ total: subscriptionCount + 1 }))
    return { key: Redacted.value(key), references: rows.map(({ reference_id }) => reference_id) }
  }).pipe(Effect.provide(services(file)), Effect.runPromise)

/** A server in a process of its own. */
interface Started {
  readonly url: string
  readonly child: ChildProcess
  readonly tell: (what: "write" | "rest" | "cpu") => Promise<unknown>
}

const start = async (task: Task): Promise<Started> => {
  const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, BENCH_TASK: JSON.stringify(task) } })
  const message = () => new Promise<unknown>((resolve) => child.once("message", resolve))
  const port = await message()
  const tell: Started["tell"] = async (what) => {
    const done = message()
    child.send(what)
    return done
  }
  return { url: `http://127.0.0.1:${port}`, child, tell }
}

const load = async (
  url: string,
  { key, references }: Prepared,
  how: { readonly duration: number } | { readonly amount: number }
) => {
  const result = await autocannon({
    url,
    connections,
    headers: { "x-api-key": key },
    ...how,
    requests: [
      {
        setupRequest: (request) => ({
          ...request,
          path: `/blockchain-events/ethereum/mainnet/${references[Math.floor(Math.random() * references.length)]}`
        })
      }
    ]
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} answers were refused`)
  const { duration, latency } = result
  return { answers: result["2xx"], perSecond: result["2xx"] / duration, p50: latency.p50, p99: latency.p99 }
}

/**
 * The 99th percentile of answer times, in milliseconds, of requests that are sent one by one at a steady pace, whatever the
 * server does meanwhile: each counts from when its turn was.
 */
const steady = async (url: string, { key, references }: Prepared, seconds: number) => {
  const agent = new Agent({ connections })
  const took: Array<number> = []
  const ask = async (due: number) => {
    const reference = references[Math.floor(Math.random() * references.length)]
    const { body, statusCode } = await request(`${url}/blockchain-events/ethereum/mainnet/${reference}`, {
      ...{ dispatcher: agent, headers: { "x-api-key": key } }
    })
    await body.text()
    if (statusCode !== 200) throw new Error(`a request at a steady pace was answered with ${statusCode}`)
    took.push(performance.now() - due)
  }
  const begin = performance.now()
  const asked: Array<Promise<void>> = []
  for (const all = seconds * steadyRate; asked.length < all; await sleep(1)) {
    const due = Math.min(all, (performance.now() - begin) * (steadyRate / 1_000))
    while (asked.length < due) asked.push(ask(begin + asked.length / (steadyRate / 1_000)))
  }
  await Promise.all(asked)
  await agent.close()
  return percentile(took, 0.99)
}

const byServer = <A>(value: () => A) =>
  Object.fromEntries(servers.map((server) => [server, value()])) as Record<Task["server"], A>

const main = async () => {
  const [duration = 4, rounds = 5] = process.argv.slice(2).map(Number)
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-http-"))
  const started: Array<Started> = []
  try {
    const file = join(folder, "store.db")
    const prepared = await prepare(file)
    for (const [i, server] of servers.entries()) {
      const own = join(folder, `${i}.db`)
      copyFileSync(file, own)
      started.push(await start({ server, file: own }))
      await load(started[i]!.url, prepared, { amount: warmingRequests })
    }
    const rates = byServer((): Array<number> => [])
    const cpu = byServer((): Array<number> => [])
    const row = (server: Task["server"], perSecond: number, micros: number) =>
      `${server.padEnd(18)} ${perSecond.toFixed(0).padStart(6)} requests/s, ${micros.toFixed(0).padStart(4)} us of CPU each`
    const idle: Array<number> = []
    const busy: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      for (const [i, server] of servers.entries()) {
        const { tell, url } = started[i]!
        const before = Number(await tell("cpu"))
        const { answers, p50, p99, perSecond } = await load(url, prepared, { duration })
        const micros = (Number(await tell("cpu")) - before) / answers
        rates[server].push(perSecond)
        cpu[server].push(micros)
        console.log(`${row(server, perSecond, micros)}, p50 ${p50} ms, p99 ${p99} ms`)
      }
      const { tell, url } = started[servers.indexOf("headwater, charged")]!
      const at = await steady(url, prepared, duration)
      await tell("write")
      const beside = await steady(url, prepared, duration)
      await tell("rest")
      idle.push(at)
      busy.push(beside)
      console.log(
        `  at ${steadyRate}/s: p99 ${at.toFixed(1)} ms; beside 20,000 written rows/s: p99 ${beside.toFixed(1)} ms`
      )
    }
    console.log(`\nmedians of ${rounds} rounds, ${connections} connections`)
    for (const server of servers) console.log(row(server, median(rates[server]), median(cpu[server])))
    for (const kind of ["", ", charged"] as const) {
      const [ours, theirs] = [`headwater${kind}`, `fastify${kind}`] as const
      const byRate = median(rates[ours].map((rate, i) => rate / rates[theirs][i]!)).toFixed(2)
      const byCpu = median(cpu[ours].map((micros, i) => cpu[theirs][i]! / micros)).toFixed(2)
      console.log(`${ours}: ${byRate} of ${theirs} by what passed, ${byCpu} by CPU`)
    }
    console.log(`p99 idle ${median(idle).toFixed(1)} ms, beside 20,000 rows/s ${median(busy).toFixed(1)} ms`)
    Comparison.report({
      ...{ work: "keyed and charged look-ups", unit: "a second", better: "more", ours: rates["headwater, charged"] },
      peer: { name: "Fastify, charged", values: rates["fastify, charged"] },
      floor: { name: "Fastify, uncharged", values: rates.fastify }
    })
    Comparison.report({
      ...{ work: "keyed look-ups, CPU", unit: "us CPU each", better: "less", ours: cpu.headwater },
      peer: { name: "Fastify", values: cpu.fastify }
    })
    Comparison.report({
      ...{
        work: "keyed and charged look-ups, CPU",
        unit: "us CPU each",
        better: "less",
        ours: cpu["headwater, charged"]
      },
      peer: { name: "Fastify, charged", values: cpu["fastify, charged"] }
    })
    Comparison.report({
      ...{ work: "p99 of look-ups beside an indexer", unit: "ms", better: "less", ours: busy },
      floor: { name: "the same, idle", values: idle }
    })
  } finally {
    for (const { child } of started) {
      const gone = new Promise((resolve) => child.once("exit", resolve))
      child.kill("SIGKILL")
      await gone
    }
    rmSync(folder, { recursive: true, force: true })
  }
}

const { BENCH_TASK } = process.env
if (BENCH_TASK === undefined) await main()
else {
  const task = JSON.parse(BENCH_TASK) as Task
  answerCpu()
  if (task.server.startsWith("headwater")) Effect.runFork(Effect.scoped(headwater(task)))
  else await startFastify(task)
}
