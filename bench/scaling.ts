/**
 * The unit costs of `docs/scaling.md`, in CPU and bytes: reading a block of each family from a node in another process,
 * committing it, a subscription with its place in the watched set, a callback in each step of its life, a request. CPU is
 * of this process with all its threads, and of all processes of the PostgreSQL server; wall time plays no part.
 *
 *     node bench/scaling.ts [read | store | api …] [sqlite | postgres] [rounds]
 *
 * The server has `fsync = off`, so disks do not count.
 */
import { fork } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, CoinTransfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import { ConfiguredChains } from "@headwater/http/server/RequestedChain"
import * as Server from "@headwater/http/server/Server"
import * as EvmSource from "@headwater/indexer/families/evm/EvmSource"
import * as JsonRpc from "@headwater/indexer/families/node/JsonRpc"
import type { Source } from "@headwater/indexer/families/Source"
import * as TronSource from "@headwater/indexer/families/tron/TronSource"
import * as UtxoSource from "@headwater/indexer/families/utxo/UtxoSource"
import * as XrpSource from "@headwater/indexer/families/xrp/XrpSource"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import { Domains } from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox, Retention } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import autocannon from "autocannon"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { CompiledQuery } from "kysely"
import pg from "pg"
import * as Folder from "../test/Folder.ts"
import * as InstantReceiver from "./InstantReceiver.ts"
import * as NodeProcess from "./NodeProcess.ts"
import * as PostgresCosts from "./PostgresCosts.ts"
import { median } from "./Samples.ts"
import * as Scratch from "./Scratch.ts"

const parts = ["read", "store", "api"]
const wanted = process.argv.slice(2).filter((arg) => parts.includes(arg))
const onlyStore = process.argv.slice(2).find((arg) => arg === "sqlite" || arg === "postgres")
const rounds = Number(process.argv.slice(2).find((arg) => /^\d+$/.test(arg)) ?? 5)
/** Filler of each chain's watched set. */
const watchedOfChain = 20_000
const hosts = 20
/** Of these the callbacks are: their secret is none, which copied rows could not have. */
const told = 5_000
const [created, hits, blocks] = [500, 50, 10]

const chainOf = (name: string) => Result.getOrThrow(Chain.find(name, "mainnet"))
const random = (length: number) => crypto.getRandomValues(new Uint8Array(length))
interface Family {
  readonly name: string
  readonly chain: Chain.Chain
  /** Transactions of a block as usual, and of a small one: the difference tells what a transaction costs. */
  readonly sizes: readonly [number, number]
  readonly open: (url: string) => Effect.Effect<Source, unknown, Scope.Scope>
}

const [ethereum, bitcoin, xrp, tron] = ["ethereum", "bitcoin", "xrp", "tron"].map(chainOf) as [
  ...[Chain.Chain, Chain.Chain, Chain.Chain, Chain.Chain]
]
const families: ReadonlyArray<Family> = [
  {
    ...{ name: "evm", chain: ethereum, sizes: [200, 10] },
    open: (url) =>
      Effect.flatMap(JsonRpc.make({ urls: [url] }), (rpc) =>
        EvmSource.make(ethereum, rpc, { internal: true, verify: "roots" })
      )
  },
  {
    ...{ name: "utxo", chain: bitcoin, sizes: [2_500, 100] },
    open: (url) =>
      Effect.flatMap(JsonRpc.make({ urls: [url] }), (rpc) => UtxoSource.make(bitcoin, rpc, { verify: "roots" }))
  },
  {
    ...{ name: "tron", chain: tron, sizes: [300, 30] },
    open: (url) => TronSource.make(tron, { urls: [url], verify: "roots" })
  },
  {
    ...{ name: "xrp", chain: xrp, sizes: [100, 10] },
    open: (url) => XrpSource.make(xrp, { urls: [url], verify: "roots" })
  }
]

/** Bytes that this process has read from files and sockets. */
const bytesRead = () => Number(/^rchar: (\d+)/m.exec(readFileSync("/proc/self/io", "utf8"))![1])

/** What was used: microseconds of this process and of the server, bytes of the server's log and of the store. */
interface Used {
  readonly own: number
  readonly server: number
  readonly wal: number
  readonly size: number
}

interface Measuring {
  readonly name: string
  readonly used: Effect.Effect<Used, never, Database>
}

const print = (what: string, count: number, { own, server, size, wal }: Used) => {
  const each = (value: number, digits = 0) => (value / count).toFixed(digits)
  console.log(
    `${what.padEnd(56)} ${each(own, 1).padStart(9)} µs  server ${each(server, 1).padStart(8)} µs  ` +
      `WAL ${each(wal).padStart(7)}  store ${each(size).padStart(6)} bytes`
  )
}

/** The medians of what each round used. */
const medians = (all: ReadonlyArray<Used>): Used => ({
  own: median(all.map(({ own }) => own)),
  server: median(all.map(({ server }) => server)),
  wal: median(all.map(({ wal }) => wal)),
  size: median(all.map(({ size }) => size))
})

const measured = Effect.fnUntraced(function* <A, E, R>(store: Measuring, self: Effect.Effect<A, E, R>) {
  const before = yield* store.used
  const value = yield* self
  const after = yield* store.used
  const used: Used = {
    own: after.own - before.own,
    server: after.server - before.server,
    wal: after.wal - before.wal,
    size: after.size - before.size
  }
  return [value, used] as const
})

const own = Effect.sync(() => {
  const { system, user } = process.cpuUsage()
  return system + user
})

/** A block of so many transactions, from a node in a process of its own, read again and again. */
const readBlock = Effect.fnUntraced(function* ({ name, open }: Family, transactions: number, times: number) {
  const { heights, url } = yield* NodeProcess.start("HugeBlocks.ts", `usual-${name}`, String(transactions))
  const source = yield* open(url)
  const height = heights.at(-1)!
  let block = yield* source.blockAt(height)
  yield* source.blockAt(height)
  const cpu: Array<number> = []
  let bytes = 0
  for (let i = 0; i < times; i++) {
    const [before, read] = [yield* own, bytesRead()]
    block = yield* source.blockAt(height)
    cpu.push((yield* own) - before)
    bytes = bytesRead() - read
  }
  return { block, cpu: median(cpu), bytes }
}, Effect.scoped)

const read = Effect.gen(function* () {
  for (const family of families) {
    for (const transactions of family.sizes) {
      const { block, bytes, cpu } = yield* readBlock(family, transactions, 8 * rounds)
      console.log(
        `${family.name}: a block of ${block.transactions.length} transactions, ${block.transfers.length} transfers, ` +
          `${block.spends.length} spends: ${(cpu / 1000).toFixed(2)} ms to read, ${bytes} bytes`
      )
    }
  }
})

/** An address as this chain has them, and as nobody else. */
const likeness = (address: AddressBytes) => {
  const made = new Uint8Array(address)
  // A script of the Bitcoin family has its 20 bytes behind three of its own, an account all of its last 20.
  made.set(random(20), made.length === 25 ? 3 : made.length - 20)
  return made as AddressBytes
}

const services = (location: Location) =>
  Layer.mergeAll(Accounts.layer, Callbacks.layer, Credits.layer, Domains.layer, RecurringTasks.layer).pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer(location)),
    Layer.provide(Layer.succeed(Retention, { finishedMillis: -1, parkedMillis: 1e9, parkedCount: 10_000 }))
  )

/** Transfers of coins in transactions of their own, which those of watched addresses take the place of. */
const coinsOf = ({ transfers }: Block) => {
  const seen = new Set<number>()
  return transfers.flatMap((transfer, at) => {
    if (transfer.kind !== "coin" || transfer.to === undefined || seen.has(transfer.transaction)) return []
    seen.add(transfer.transaction)
    return [[at, transfer] as const]
  })
}

const measureStore = Effect.fnUntraced(function* (store: Measuring) {
  const { insertMany, query, transaction } = yield* Database
  const subscriptions = yield* Subscriptions
  const outbox = yield* Outbox
  const log = (what: string, count: number, used: Used) => print(`${store.name}: ${what}`, count, used)

  const readBlocks = yield* Effect.forEach(families, (family) =>
    Effect.map(
      Effect.all(family.sizes.map((transactions) => readBlock(family, transactions, 0))),
      (read) => [family, read.map(({ block }) => block)] as const
    )
  )

  for (const [{ chain }, [usual]] of readBlocks) {
    const like = coinsOf(usual!)[0]![1].to!
    const [, used] = yield* measured(
      store,
      Effect.forEach(
        Array.from({ length: created }),
        (_, i) =>
          subscriptions.create({
            ...{ account: 1 + (i % hosts), chain, address: likeness(like), secret: "a secret of the account" },
            ...({ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: false } as const),
            callbackUrl: `https://host${i % hosts}.test/callbacks`
          }),
        { discard: true }
      )
    )
    log(`a subscription created, ${Chain.nameOf(chain)}`, created, used)
  }

  const watched = new Map<Chain.Chain, ReadonlyArray<AddressBytes>>()
  for (const [{ chain }, [usual]] of readBlocks) {
    const like = coinsOf(usual!)[0]![1].to!
    const [row] = yield* query((db) => db.selectFrom("chain").selectAll().where("name", "=", Chain.nameOf(chain)))
    const [model] = yield* query((db) =>
      db.selectFrom("subscription").selectAll().where("chain", "=", row!.id).limit(1)
    )
    const { id: _, ...same } = model!
    const addresses = Array.from({ length: watchedOfChain }, () => likeness(like))
    const [, used] = yield* measured(
      store,
      Effect.gen(function* () {
        for (let first = 0; first < watchedOfChain; first += told) {
          yield* transaction(
            insertMany(
              "subscription",
              addresses.slice(first, first + told).map((address, i) => ({
                ...{
                  ...same,
                  ...(first < told ? { secret: null } : {}),
                  address,
                  account: 1 + (i % hosts),
                  reference_id: crypto.randomUUID()
                },
                ...{ host: `host${i % hosts}.test`, callback_url: `https://host${i % hosts}.test/callbacks` },
                revision: row!.revision + first + i + 1
              }))
            )
          )
        }
        yield* query((db) =>
          db
            .updateTable("chain")
            .set({ revision: row!.revision + watchedOfChain })
            .where("id", "=", row!.id)
        )
      })
    )
    log(`bytes of a subscription, ${Chain.nameOf(chain)}`, watchedOfChain, used)
    watched.set(chain, addresses)
  }

  let made = 0
  for (const [{ chain, name }, sized] of readBlocks) {
    const [opened, filled] = yield* measured(store, ChainStore.open(chain, { record: "watched", undoDepth: 128 }))
    log(`${name}: an address read into the watched set`, watchedOfChain + created, filled)
    const addresses = watched.get(chain)!
    let next = 0
    const commits = Effect.fnUntraced(function* (block: Block, found: number) {
      const coins = coinsOf(block).slice(0, found)
      let callbacks = 0
      for (let i = 0; i < blocks; i++) {
        const cursor = yield* opened.cursor
        const transfers = [...block.transfers]
        for (const [at, transfer] of coins) {
          transfers[at] = { ...transfer, to: addresses[next++ % told]! } satisfies CoinTransfer
        }
        const committed = yield* opened.commit(
          [
            {
              ...{ ...block, transfers, transactions: block.transactions.map(() => random(32)), hash: random(32) },
              ...{ height: (cursor?.height ?? 1_000_000) + 1, parent: cursor?.hash ?? random(32) },
              // Callbacks are forgotten by the time that blocks show.
              time: Math.floor(Date.now() / 1_000)
            }
          ],
          []
        )
        callbacks += committed.callbacks
      }
      return callbacks
    })
    for (const block of sized) {
      for (const found of [0, hits]) {
        const all: Array<Used> = []
        let callbacks = 0
        yield* commits(block, found)
        for (let i = 0; i < rounds; i++) {
          const [some, used] = yield* measured(store, commits(block, found))
          callbacks += some
          all.push(used)
        }
        made += callbacks * (1 + 1 / rounds)
        const of = `${block.transactions.length} transactions`
        log(`${name}: a commit, ${of}, ${callbacks / rounds / blocks} callbacks`, blocks, medians(all))
      }
    }
  }

  const count = Math.round(made)
  let left = count
  const delivered = Effect.gen(function* () {
    yield* Layer.build(InstantReceiver.delivery(() => left--))
    while (left > 0) yield* Effect.sleep("50 millis")
  }).pipe(Effect.scoped, Effect.provideService(Outbox, outbox))
  const [, sent] = yield* measured(store, delivered)
  log(`a callback leased, sent to nobody and recorded`, count, sent)
  const [pruned, forgotten] = yield* measured(store, outbox.prune)
  log("a callback pruned", pruned, forgotten)
  console.log(`${store.name}: ${count} callbacks made, ${pruned} delivered and pruned`)
})

const sqliteAt = (file: string): Measuring => ({
  name: "sqlite",
  used: Effect.gen(function* () {
    const { query } = yield* Database
    const used = yield* own
    yield* query((db) => ({
      execute: () => db.executeQuery(CompiledQuery.raw("pragma wal_checkpoint(truncate)"))
    })).pipe(Effect.orDie)
    return { own: used, server: 0, wal: 0, size: statSync(file).size }
  })
})

const postgresAt = (client: pg.Client, server: number): Measuring => ({
  name: "postgres",
  used: Effect.gen(function* () {
    const used = yield* own
    const cpu = PostgresCosts.cpuOf(server)
    const { wal } = yield* Effect.promise(() => PostgresCosts.countsOf(client))
    const { rows } = yield* Effect.promise(() => client.query("select pg_database_size(current_database()) as size"))
    return { own: used, server: cpu * 1e6, wal, size: Number(rows[0].size) }
  })
})

const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))

/** Runs `use` on a store of each kind, which is empty. */
const onEach = <E>(use: (store: Measuring, location: Location) => Effect.Effect<void, E>) =>
  Effect.gen(function* () {
    const folder = yield* Folder.scoped
    const file = join(folder, "store.db")
    if (onlyStore !== "postgres") yield* use(sqliteAt(file), { kind: "sqlite", file })
    if (onlyStore === "sqlite") return
    const server = yield* Scratch.postgres
    if (server === undefined) return
    const client = new pg.Client({ connectionString: server.url })
    yield* Effect.promise(() => client.connect())
    yield* Effect.addFinalizer(() => Effect.promise(() => client.end()))
    const measuring = postgresAt(client, yield* Effect.promise(() => PostgresCosts.postmaster(client)))
    yield* use(measuring, { kind: "postgres", url: Redacted.make(server.url), connections: 10, secretKeys })
  }).pipe(Effect.scoped)

/** The API in a process of its own, which tells its CPU when asked. */
const serve = (location: Location) =>
  Effect.gen(function* () {
    const { address } = yield* HttpServer.HttpServer
    process.on("message", () => {
      const { system, user } = process.cpuUsage()
      process.send!(system + user)
    })
    process.once("disconnect", () => process.exit())
    process.send!(address._tag === "UnixPathAddress" ? 0 : address.port)
    return yield* Effect.never
  }).pipe(
    Effect.provide(
      Server.layer({ host: "127.0.0.1", port: 0 }).pipe(
        Layer.provide(Layer.succeed(ConfiguredChains, new Map([[Chain.nameOf(ethereum), { chain: ethereum }]]))),
        Layer.provideMerge(services(location)),
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "Warn"))
      )
    )
  )

const prepareApi = Effect.gen(function* () {
  const accounts = yield* Accounts
  const subscriptions = yield* Subscriptions
  const { id: account } = yield* accounts.create("bench")
  const { key } = yield* accounts.createKey(account, { name: "bench" })
  const references: Array<string> = []
  for (let i = 0; i < 1_000; i++) {
    const { referenceId } = yield* subscriptions.create({
      ...{ account, chain: ethereum, address: random(20) as AddressBytes, secret: "a secret of the account" },
      ...({ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, allowDuplicates: false } as const),
      callbackUrl: "https://example.com/callbacks"
    })
    references.push(referenceId)
  }
  return { key: Redacted.value(key), references }
})

const measureApi = Effect.fnUntraced(function* (store: Measuring, location: Location) {
  const { key, references } = yield* Effect.provide(prepareApi, services(location))
  const plain = location.kind === "sqlite" ? location : { ...location, url: Redacted.value(location.url) }
  const child = fork(fileURLToPath(import.meta.url), ["serve"], {
    env: { ...process.env, BENCH_STORE: JSON.stringify({ ...plain, secretKeys: undefined }) }
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
  const answer = () => new Promise<number>((resolve) => child.once("message", resolve as never))
  const port = yield* Effect.promise(answer)
  const cpu = Effect.promise(() => {
    const answered = answer()
    child.send("cpu")
    return answered
  })
  const events = "/blockchain-events/ethereum/mainnet"
  const requests: Readonly<Record<string, () => autocannon.Request>> = {
    "a subscription asked for": () => ({
      path: `${events}/${references[Math.floor(Math.random() * references.length)]}`
    }),
    "a list of 50 subscriptions": () => ({ path: `${events}?limit=50` }),
    "a subscription created": () => ({
      method: "POST",
      path: `${events}/address-coins-transactions-confirmed`,
      body: JSON.stringify({
        data: {
          item: {
            address: `0x${Buffer.from(random(20)).toString("hex")}`,
            ...{ callbackUrl: "https://example.com/callbacks", callbackSecretKey: "s", receiveCallbackOn: 3 }
          }
        }
      })
    })
  }
  for (const [what, request] of Object.entries(requests)) {
    const all: Array<Used> = []
    const amount = 2_000
    for (let round = -1; round < rounds; round++) {
      const before = yield* cpu
      const [result, used] = yield* measured(
        {
          ...store,
          used: location.kind === "sqlite" ? Effect.succeed({ own: 0, server: 0, wal: 0, size: 0 }) : store.used
        },
        Effect.promise(() =>
          autocannon({
            ...{ url: `http://127.0.0.1:${port}`, connections: 16, amount },
            headers: { "x-api-key": key, "content-type": "application/json" },
            requests: [{ setupRequest: (given) => ({ ...given, ...request() }) }]
          })
        )
      ).pipe(Effect.provideService(Database, undefined as never))
      if (result.non2xx > 0) throw new Error(`${result.non2xx} requests were refused: ${what}`)
      if (round >= 0) all.push({ ...used, own: (yield* cpu) - before })
    }
    print(`${store.name}: ${what}`, amount, medians(all))
  }
})

const { BENCH_STORE } = process.env
if (BENCH_STORE !== undefined) {
  const stored = JSON.parse(BENCH_STORE)
  const location: Location =
    stored.kind === "sqlite" ? stored : { ...stored, url: Redacted.make(stored.url), secretKeys }
  Effect.runFork(Effect.scoped(serve(location)))
} else {
  const isWanted = (part: string) => wanted.length === 0 || wanted.includes(part)
  await Effect.gen(function* () {
    if (isWanted("read")) yield* read
    if (isWanted("store")) {
      yield* onEach((store, location) => measureStore(store).pipe(Effect.scoped, Effect.provide(services(location))))
    }
    if (isWanted("api")) yield* onEach((store, location) => Effect.scoped(measureApi(store, location)))
  }).pipe(Effect.provideService(References.MinimumLogLevel, "Warn"), Effect.runPromise)
  process.exit()
}
