/**
 * Requests a second of one keyed, charged lookup in SQLite, against Fastify with better-sqlite3 doing the same in the same
 * run; and the 99th percentile of its answer times while an indexer writes 20,000 rows a second, against an idle one.
 *
 * Fastify checks the same key and reads the same row on its own thread, once without a charge and once with the charge
 * written as we write it, in a transaction. Servers take turns, each in a process of its own; the load comes from here.
 *
 *     node bench/http.ts [seconds a round] [rounds]
 */
import { fork } from "node:child_process"
import { createHash, randomUUID, timingSafeEqual } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Chain from "@headwater/core/chains/Chain"
import { CreditsEnabled } from "@headwater/http/server/Charging"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import * as Server from "@headwater/http/server/Server"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Database } from "@headwater/indexer/store/database/Database"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import autocannon from "autocannon"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import fastify from "fastify"
import * as Comparison from "./Comparison.ts"

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const subscriptionCount = 100_000
const connections = 32
/** Requests a second at which answer times are taken: a busy server, not one at its end. */
const steadyRate = 1_000

interface Task {
  readonly server: "headwater" | "fastify" | "fastify, charged"
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

const headwater = (file: string) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    const database = yield* Database
    let writing: AbortController | undefined
    process.on("message", (message) => {
      if (message === "cpu") return
      writing?.abort()
      writing = undefined
      if (message === "write") {
        writing = new AbortController()
        Effect.runFork(Effect.provideService(index, Database, database), { signal: writing.signal })
      }
      process.send!("done")
    })
    process.send!(address._tag === "UnixPathAddress" ? 0 : address.port)
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide(Layer.succeed(ConfiguredChains, new Map([[Chain.nameOf(chain), { chain }]]))),
        Layer.provide(Layer.succeed(CreditsEnabled, true)),
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
      const requestId = randomUUID().replaceAll("-", "").slice(0, 24)
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

/** Runs `use` against a server in a process of its own. */
const withServer = async <A>(
  task: Task,
  use: (url: string, tell: (what: "write" | "rest" | "cpu") => Promise<unknown>) => Promise<A>
): Promise<A> => {
  const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, BENCH_TASK: JSON.stringify(task) } })
  const message = () => new Promise<unknown>((resolve) => child.once("message", resolve))
  const port = await message()
  try {
    return await use(`http://127.0.0.1:${port}`, async (what) => {
      const done = message()
      child.send(what)
      return done
    })
  } finally {
    const gone = new Promise((resolve) => child.once("exit", resolve))
    child.kill("SIGKILL")
    await gone
  }
}

const load = async (url: string, { key, references }: Prepared, seconds: number, rate?: number) => {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    headers: { "x-api-key": key },
    ...(rate === undefined ? {} : { overallRate: rate }),
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
  return { perSecond: result["2xx"] / result.duration, p50: result.latency.p50, p99: result.latency.p99 }
}

const median = (values: ReadonlyArray<number>) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

const main = async () => {
  const [seconds = 4, rounds = 5] = process.argv.slice(2).map(Number)
  const folder = mkdtempSync(join(tmpdir(), "headwater-bench-http-"))
  const file = join(folder, "store.db")
  try {
    const prepared = await prepare(file)
    const rates: Record<Task["server"], Array<number>> = { headwater: [], fastify: [], "fastify, charged": [] }
    const cpu: typeof rates = { headwater: [], fastify: [], "fastify, charged": [] }
    const row = (server: Task["server"], perSecond: number, micros: number) =>
      `${server.padEnd(18)} ${perSecond.toFixed(0).padStart(6)} requests/s, ${micros.toFixed(0).padStart(4)} us of CPU each`
    const idle: Array<number> = []
    const busy: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      for (const server of Object.keys(rates) as Array<Task["server"]>) {
        await withServer({ server, file }, async (url, tell) => {
          await load(url, prepared, 1)
          const before = Number(await tell("cpu"))
          const { p50, p99, perSecond } = await load(url, prepared, seconds)
          const micros = (Number(await tell("cpu")) - before) / (perSecond * seconds)
          rates[server].push(perSecond)
          cpu[server].push(micros)
          console.log(`${row(server, perSecond, micros)}, p50 ${p50} ms, p99 ${p99} ms`)
          if (server !== "headwater") return
          const at = await load(url, prepared, seconds, steadyRate)
          await tell("write")
          const beside = await load(url, prepared, seconds, steadyRate)
          await tell("rest")
          idle.push(at.p99)
          busy.push(beside.p99)
          console.log(`  at ${steadyRate}/s: p99 ${at.p99} ms; beside 20,000 written rows/s: p99 ${beside.p99} ms`)
        })
      }
    }
    const of = (server: Task["server"]) => median(rates[server])
    const ratio = (peer: Task["server"]) => (of("headwater") / of(peer)).toFixed(2)
    console.log(`\nmedians of ${rounds} rounds, ${connections} connections`)
    for (const server of Object.keys(rates) as Array<Task["server"]>) {
      console.log(row(server, of(server), median(cpu[server])))
    }
    console.log(
      `${ratio("fastify, charged")} of Fastify with the same charge, ${ratio("fastify")} of Fastify without one`
    )
    console.log(`p99 idle ${median(idle)} ms, beside 20,000 rows/s ${median(busy)} ms`)
    Comparison.report({
      ...{ work: "keyed and charged look-ups", unit: "a second", better: "more", ours: rates.headwater },
      peer: { name: "Fastify, charged", values: rates["fastify, charged"] },
      floor: { name: "Fastify, uncharged", values: rates.fastify }
    })
    Comparison.report({
      ...{ work: "p99 of look-ups beside an indexer", unit: "ms", better: "less", ours: busy },
      floor: { name: "the same, idle", values: idle }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const { BENCH_TASK } = process.env
if (BENCH_TASK === undefined) await main()
else {
  const task = JSON.parse(BENCH_TASK) as Task
  answerCpu()
  if (task.server === "headwater") Effect.runFork(Effect.scoped(headwater(task.file)))
  else await startFastify(task)
}
