/**
 * How fast `headwater migrate-store` copies and compares, and how long its last stop is, where rows change meanwhile: a store
 * with so many transfers, and as many callbacks and outputs, moved to a PostgreSQL server of the bench's own. The last line
 * is what the notes of changes cost a program that writes: the same updates before and during the move.
 *
 *     node bench/migrateStore.ts [transfers]
 */
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import * as StoreMove from "@headwater/indexer/store/database/StoreMove"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as PostgresServer from "../test/PostgresServer.ts"

const [count = 1_000_000] = process.argv.slice(2).map(Number)
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const perBlock = 500
const folder = mkdtempSync(join(process.env.BENCH_FOLDER ?? tmpdir(), "headwater-bench-"))
const file = join(folder, "store.db")
const secretKeys = Redacted.make(randomBytes(32).toString("base64"))
const from: Location = { kind: "sqlite", file, secretKeys }
const server = await PostgresServer.start(process.env.BENCH_FOLDER)
if (server === undefined) throw new Error("PostgreSQL is not installed")
const to: Location = { kind: "postgres", url: Redacted.make(server.url), connections: 5, secretKeys }

const addresses = Array.from({ length: 50_000 }, () => new Uint8Array(randomBytes(20)) as AddressBytes)
const anybody = () => addresses[Math.floor(Math.random() * addresses.length)]!
const transfer = (transaction: number): Transfer => ({
  ...{ kind: "coin", transaction, position: transaction, from: anybody(), to: anybody() },
  amount: BigInt(1 + Math.floor(Math.random() * 1e15)) * 1_000n
})

const seconds = (since: number) => (performance.now() - since) / 1000
let used = process.cpuUsage()
/** One line: the time, and the CPU of this process, which is less where the server or others on the machine are waited for. */
const said = (what: string, rows: number, took: number) => {
  const { system, user } = process.cpuUsage(used)
  used = process.cpuUsage()
  console.log(
    `${what.padEnd(16)} ${String(rows).padStart(9)} rows ${took.toFixed(2).padStart(8)} s ` +
      `${Math.round(rows / took)
        .toString()
        .padStart(8)} rows/s, CPU ${((system + user) / 1e6).toFixed(2)} s`
  )
}

const fill = Effect.gen(function* () {
  const { insertMany, transaction } = yield* Database
  const store = yield* ChainStore.open(chain, { record: "all", undoDepth: 10 })
  let parent = randomBytes(32)
  for (let height = 1; height <= count / perBlock; height++) {
    const hash = randomBytes(32)
    yield* store.commit([
      {
        ...{ height, hash, parent, time: 1_780_000_000 + height * 12, spends: [] },
        transactions: Array.from({ length: perBlock }, () => randomBytes(32)),
        transfers: Array.from({ length: perBlock }, (_, i) => transfer(i))
      }
    ])
    parent = hash
  }
  for (let first = 0; first < count; first += 20_000) {
    const places = Array.from({ length: Math.min(20_000, count - first) }, (_, i) => first + i)
    yield* transaction(
      Effect.andThen(
        insertMany(
          "callback",
          places.map((i) => ({
            ...{
              subscription: i % 1000,
              host: "receiver.example",
              account: i % 10,
              chain: 1,
              height: i,
              event: "BLOCK_MINED"
            },
            ...{
              idempotency_key: randomBytes(16).toString("hex"),
              body: JSON.stringify({ data: randomBytes(300).toString("hex") })
            },
            ...{ state: "delivered", due: i, created: i, sequence: i, attempts: 1, attempt_log: "[]" }
          })) as never
        ),
        insertMany(
          "unspent_output",
          places.map((i) => ({
            ...{
              chain: 2,
              transaction_id: randomBytes(32),
              output_index: i % 3,
              script: anybody(),
              amount: `${i}000`,
              height: i
            }
          }))
        )
      )
    )
  }
})

/** Updates of rows here and there, each in a transaction of a hundred; seconds for a thousand. */
const update = (db: BetterSqlite.Database, rows: number) => {
  const statement = db.prepare("update callback set attempts = attempts + 1, due = due + 1 where id = ?")
  const begin = performance.now()
  for (let i = 0; i < rows; i += 100) {
    db.transaction(() => {
      for (let j = 0; j < 100; j++) statement.run(1 + Math.floor(Math.random() * count))
    }).immediate()
  }
  return (seconds(begin) / rows) * 1000
}

const program = Effect.gen(function* () {
  let begin = performance.now()
  yield* fill.pipe(Effect.provide(Database.layer(from)), Effect.scoped)
  console.log(`filled in ${seconds(begin).toFixed(0)} s, ${(statSync(file).size / 1e6).toFixed(0)} MB`)
  const db = new BetterSqlite(file, { timeout: 10_000 })
  db.pragma("synchronous = normal")
  const before = update(db, 50_000)
  const move = yield* StoreMove.open(from, to)
  const rows = yield* move.left.copy
  used = process.cpuUsage()
  begin = performance.now()
  yield* move.copy(() => Effect.void)
  said("copied", rows, seconds(begin))
  const meanwhile = update(db, 50_000)
  begin = performance.now()
  said("carried over", yield* move.carryOver, seconds(begin))
  begin = performance.now()
  yield* move.compare(() => Effect.void)
  said("compared", rows, seconds(begin))
  for (const changed of [1_000, 10_000]) {
    update(db, changed)
    begin = performance.now()
    said("carried over", yield* move.carryOver, seconds(begin))
  }
  update(db, 1_000)
  db.close()
  begin = performance.now()
  const { again, carried } = yield* move.finish(false)
  said("last stop", rows, seconds(begin))
  console.log(`in the stop ${carried} rows were carried over, ${again} compared once more`)
  console.log(
    `an update costs a writer ${(before * 1000).toFixed(0)} µs, while changes are noted ${(meanwhile * 1000).toFixed(0)} µs`
  )
}).pipe(
  Effect.scoped,
  Effect.ensuring(
    Effect.sync(() => {
      server.remove()
      rmSync(folder, { recursive: true })
    })
  )
)

await Effect.runPromise(program)
