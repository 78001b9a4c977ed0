/**
 * The deposit listeners of `examples/`, killed again and again while a chain is paid on and reorganised: in the end their
 * tables are what ethers reads off the node's chain. `HEADWATER_DEPOSIT_SECONDS=120` is the long run, on PostgreSQL too.
 */
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { Location } from "@headwater/indexer/store/database/Database"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { getAddress, JsonRpcProvider, parseEther } from "ethers"
import pg from "pg"
import { build } from "vite"
import * as Anvil from "./Anvil.ts"
import * as Contracts from "./Contracts.ts"
import * as Folder from "./Folder.ts"
import * as SeededRandom from "./SeededRandom.ts"
import { locations } from "./Stores.ts"

/** How long the listeners are killed every two seconds; undefined for two kills, each after a look at the tables. */
const seconds = process.env.HEADWATER_DEPOSIT_SECONDS
const killMillis = 2_000
const addresses = ["0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"]

/** `address amount block`, of one deposit. */
type Deposit = string

interface Row {
  readonly address: string
  readonly amount: string
  readonly block: number | string
}

const toDeposit = ({ address, amount, block }: Row): Deposit => `${address} ${parseEther(amount)} ${block}`

/** Every deposit of the node's chain, as ethers reads it. */
const depositsOf = (url: string) =>
  Effect.promise(async () => {
    const provider = new JsonRpcProvider(url, undefined, { batchMaxCount: 1, cacheTimeout: -1 })
    const deposits: Array<Deposit> = []
    const tip = await provider.getBlockNumber()
    for (let height = 0; height <= tip; height++) {
      const block = (await provider.getBlock(height, true))!
      for (const { hash, data, to, value } of block.prefetchedTransactions) {
        if (to !== null && addresses.includes(to)) deposits.push(`${to} ${value} ${height}`)
        if (to === null || data === "0x") continue
        const traced: { readonly calls?: ReadonlyArray<{ readonly to: string; readonly value: string }> } =
          await provider.send("debug_traceTransaction", [hash, { tracer: "callTracer" }])
        for (const { to, value } of traced.calls ?? []) {
          deposits.push(`${getAddress(to)} ${BigInt(value)} ${height}`)
        }
      }
    }
    provider.destroy()
    return deposits.sort()
  })

const sqliteTable = (file: string) =>
  Effect.sync(() => {
    const db = new BetterSqlite(file, { readonly: true })
    const rows = db.prepare("select * from deposit").all() as ReadonlyArray<Row>
    db.close()
    return rows.map(toDeposit).sort()
  })

const postgresTable = (url: string) =>
  Effect.promise(async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query<Row>("select * from deposit")
    await client.end()
    return rows.map(toDeposit).sort()
  })

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** The examples as bundles, which start in a fraction of the time: of two seconds a start should not take the most. */
const bundled = Effect.gen(function* () {
  // Where native modules are found.
  const modules = pathOf("../packages/indexer/node_modules")
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(modules, ".deposit-listeners-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const input = {
    "deposit-listener": pathOf("../examples/deposit-listener.ts"),
    "deposit-listener-plain": pathOf("../examples/deposit-listener-plain.ts"),
    "SqliteThread.worker": pathOf("../packages/indexer/src/store/database/internal/SqliteThread.worker.ts")
  }
  const output = { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" }
  yield* Effect.promise(() =>
    build({
      ...{ configFile: false, logLevel: "error", root: pathOf("..") },
      ssr: { noExternal: true, external: ["better-sqlite3", "pg-native", "tiny-secp256k1", "zeromq"] },
      build: { ssr: true, target: "node22", outDir: folder, rolldownOptions: { input, output } }
    })
  )
  return folder
})

interface Listener {
  readonly name: string
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly table: Effect.Effect<ReadonlyArray<Deposit>>
}

/** A program in a process of its own, with the lines that all its runs have printed. */
class Runs {
  readonly listener: Listener
  readonly #folder: string
  readonly lines: Array<string> = []
  errors = ""
  kills = 0
  #child: ReturnType<typeof spawn> | undefined

  constructor(listener: Listener, folder: string) {
    this.listener = listener
    this.#folder = folder
  }

  get start() {
    return Effect.sync(() => {
      const program = join(this.#folder, `${this.listener.program}.js`)
      const child = spawn(process.execPath, [program, ...this.listener.args], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { ...process.env, NODE_NO_WARNINGS: "1" }
      })
      let last = ""
      child.stdout.on("data", (chunk: Buffer) => {
        const lines = (last + chunk.toString()).split("\n")
        last = lines.pop()!
        this.lines.push(...lines)
      })
      child.stderr.on("data", (chunk: Buffer) => {
        this.errors += chunk.toString()
      })
      this.#child = child
    })
  }

  /** No program of these ends before it is killed. */
  get checkRunning() {
    return Effect.sync(() => {
      assert.isNull(this.#child!.exitCode, `${this.listener.name} has ended by itself: ${this.errors}`)
    })
  }

  get kill() {
    const kill = Effect.callback<void>((resume) => {
      const child = this.#child!
      child.once("close", () => resume(Effect.void))
      this.kills++
      child.kill("SIGKILL")
    })
    return Effect.andThen(this.checkRunning, kill)
  }
}

/** A payment to each address, one after the other, and one by a contract to all of them. */
const pay = Effect.fnUntraced(function* (anvil: Anvil.Anvil, mover: Contracts.Contract, random: () => number) {
  const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
  for (const call of [...addresses.map((to) => ({ to })), mover.call("split", [addresses])]) {
    const value = `0x${(2 * Math.ceil(random() * 1e12)).toString(16)}`
    const hash = yield* anvil.rpc<string>("eth_sendTransaction", [{ ...call, from, value }])
    // anvil loses blocks when it is told to reorganise while it mines.
    while ((yield* anvil.rpc("eth_getTransactionReceipt", [hash])) === null) yield* Effect.sleep("2 millis")
  }
})

/** Some payments, and a reorganisation that drops the last of them. */
const reorganise = (anvil: Anvil.Anvil, random: () => number, payments: Effect.Effect<void>) =>
  Effect.gen(function* () {
    for (let count = 0; count < 2; count++) {
      yield* payments
      yield* Effect.sleep(random() * 500)
    }
    yield* anvil.rpc("anvil_reorg", [1 + Math.floor(random() * 3), []])
    yield* Effect.sleep(random() * 300)
  }).pipe(Effect.uninterruptible)

/** Waits until a table has these deposits: some minutes where a busy machine is many blocks behind. */
const untilTable = Effect.fnUntraced(function* (runs: Runs, wanted: ReadonlyArray<Deposit>) {
  const { name, table } = runs.listener
  const present = Effect.catchDefect(table, () => Effect.succeed([]))
  for (let look = 0; look < 3_000; look++) {
    if ((yield* present).join() === wanted.join()) return
    yield* runs.checkRunning
    yield* Effect.sleep("50 millis")
  }
  assert.deepStrictEqual(yield* table, wanted, `${name}: ${runs.errors}`)
})

/** Has something happen while somebody reads a table, for whom the program that writes it has to wait before it goes on. */
const whileRead = Effect.fnUntraced(function* (file: string, runs: Runs, happens: Effect.Effect<unknown>) {
  const reader = yield* Effect.acquireRelease(
    Effect.sync(() => new BetterSqlite(file, { readonly: true })),
    (db) => Effect.sync(() => db.close())
  )
  reader.exec("begin").prepare("select * from deposit").all()
  yield* happens
  // The program has written, and is about to commit.
  while (!existsSync(`${file}-journal`)) {
    yield* runs.checkRunning
    yield* Effect.sleep("10 millis")
  }
  yield* Effect.sleep("200 millis")
  yield* runs.checkRunning
}, Effect.scoped)

const postgresUrl = (location: Location) => (location.kind === "postgres" ? Redacted.value(location.url) : "")

describe("deposit listeners", () => {
  it.live("have the deposits of the node's chain, through kills and reorganisations", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const folder = yield* Folder.scoped
      const [once, own, store] = ["once.db", "own.db", "store.db"].map((name) => join(folder, name)) as [
        string,
        string,
        string
      ]
      const exactlyOnce = (name: string, location: string, table: Listener["table"]): Listener => ({
        ...{ name, program: "deposit-listener", args: [anvil.url, location, ...addresses], table }
      })
      const listeners: Array<Listener> = [
        exactlyOnce("exactly once, SQLite", once, sqliteTable(once)),
        {
          ...{ name: "at least once", program: "deposit-listener-plain" },
          ...{ args: [anvil.url, store, own, ...addresses], table: sqliteTable(own) }
        }
      ]
      const postgres = locations.find(({ name }) => name === "postgres")
      if (postgres !== undefined && seconds !== undefined) {
        const url = postgresUrl(yield* postgres.location)
        listeners.push(exactlyOnce("exactly once, PostgreSQL", url, postgresTable(url)))
      }
      const programs = yield* bundled
      const all = listeners.map((listener) => new Runs(listener, programs))
      const random = SeededRandom.make(7)
      const mover = yield* (yield* Contracts.sender(anvil)).deploy("Mover")
      // No reorganisation reaches the contract.
      yield* anvil.rpc("anvil_mine", ["0x5"])
      const payments = pay(anvil, mover, random)
      const untilAll = Effect.gen(function* () {
        const wanted = yield* depositsOf(anvil.url)
        yield* Effect.forEach(all, (runs) => untilTable(runs, wanted))
        return wanted
      })
      if (seconds === undefined) {
        for (let kills = 0; kills < 2; kills++) {
          yield* Effect.forEach(all, ({ start }) => start)
          yield* payments
          yield* untilAll
          const reorganisation = anvil.rpc("anvil_reorg", [1 + kills, []])
          yield* kills === 0 ? reorganisation : whileRead(own, all[1]!, reorganisation)
          yield* Effect.sleep(random() * 200)
          yield* Effect.forEach(all, ({ kill }) => kill)
        }
      } else {
        const traffic = yield* Effect.forkChild(Effect.forever(reorganise(anvil, random, payments)))
        for (let kills = 0; kills < (Number(seconds) * 1_000) / killMillis; kills++) {
          yield* Effect.forEach(all, ({ start }) => start)
          yield* Effect.sleep(killMillis)
          yield* Effect.forEach(all, ({ kill }) => kill)
        }
        yield* Fiber.interrupt(traffic)
      }
      yield* Effect.forEach(all, ({ start }) => start)
      // On a busy machine none of them has run for long enough yet to see a reorganisation.
      yield* payments
      yield* untilAll
      yield* anvil.rpc("anvil_reorg", [1, []])
      const wanted = yield* untilAll
      for (const runs of all) {
        yield* runs.kill
        const reorganisations = runs.errors.split("Reorganisation: leaving").length - 1
        assert.isAbove(reorganisations, 0, runs.errors)
        const told = new Set(runs.lines)
        const again = runs.lines.length - told.size
        yield* Effect.logInfo(
          `${runs.listener.name}: ${wanted.length} deposits; ${runs.kills} kills, ${reorganisations} reorganisations seen, ` +
            `${told.size} deposits printed, ${again} of them again`
        )
      }
    }).pipe(Effect.scoped)
  )
})
