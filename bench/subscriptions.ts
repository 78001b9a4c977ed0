/**
 * Creating, listing and reading subscriptions where an account has a million of them on one chain, against their floor:
 * the same rows written, paged and read by better-sqlite3 itself, in the same run.
 *
 *     node bench/subscriptions.ts [subscriptions]
 */
import { randomBytes, randomUUID } from "node:crypto"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { Database } from "@headwater/indexer/store/database/Database"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import BetterSqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Folder from "../test/Folder.ts"
import { median } from "./Samples.ts"

const [count = 1_000_000] = process.argv.slice(2).map(Number)
const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const account = 1
const rounds = 2000

const address = () => new Uint8Array(randomBytes(20)) as AddressBytes

const subscription = () => ({
  ...({ account, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", confirmations: 1, secret: "a secret" } as const),
  ...{ address: address(), callbackUrl: "https://example.com/callbacks", allowDuplicates: false }
})

const rowOf = (id: number) => ({
  id,
  reference_id: randomUUID(),
  account,
  chain: 1,
  revision: id,
  event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const,
  address: address(),
  callback_url: "https://example.com/callbacks",
  host: "example.com",
  secret: "a secret",
  confirmations: 1,
  created: 1,
  from_height: null,
  active: 1
})

/** Median and worst time of each call, in microseconds. */
const timed = Effect.fnUntraced(function* <E, R>(
  name: string,
  times: number,
  call: () => Effect.Effect<unknown, E, R>
) {
  const taken: Array<number> = []
  for (let i = 0; i < times; i++) {
    const begin = performance.now()
    yield* call()
    taken.push((performance.now() - begin) * 1000)
  }
  console.log(
    `${name.padEnd(34)} median ${median(taken).toFixed(0).padStart(6)} µs, worst ${Math.max(...taken).toFixed(0)} µs`
  )
})

const program = Effect.gen(function* () {
  const folder = yield* Folder.scoped
  const file = join(folder, "store.db")
  yield* Effect.gen(function* () {
    const { insertMany, query, read, transaction } = yield* Database
    const subscriptions = yield* Subscriptions
    yield* query((db) => db.insertInto("chain").values({ id: 1, name: Chain.nameOf(chain), revision: count }))
    for (let first = 1; first <= count; first += 20_000) {
      const rows = Array.from({ length: Math.min(20_000, count - first + 1) }, (_, i) => rowOf(first + i))
      yield* transaction(insertMany("subscription", rows))
    }
    yield* query((db) => db.insertInto("subscription_count").values({ account, chain: 1, total: count }))
    const some = yield* read((db) => db.selectFrom("subscription").select("reference_id").where("id", "<=", rounds))
    const key = (i: number) => ({ account, chain, referenceId: some[i % some.length]!.reference_id })
    const page = (offset: number) => () => subscriptions.list({ account, chain }, { limit: 50, offset })
    let turn = 0

    console.log(`${count} subscriptions of one account on one chain`)
    yield* timed("headwater create", rounds, () => subscriptions.create(subscription()))
    yield* timed("headwater get", rounds, () => subscriptions.get(key(turn++)))
    yield* timed("headwater list, first page", 200, page(0))
    yield* timed("headwater list, middle page", 20, page(Math.floor(count / 2)))
    yield* timed("headwater list, last page", 200, page(count - 50))

    const bare = new BetterSqlite(file)
    bare.pragma("synchronous=NORMAL")
    const columns = Object.keys(rowOf(1)).filter((column) => column !== "id")
    const insert = bare.prepare(
      `insert into subscription (${columns.join(", ")}) values (${columns.map((column) => `@${column}`).join(", ")})`
    )
    const get = bare.prepare("select * from subscription where reference_id = ?")
    const list = bare.prepare(
      "select * from subscription where account = 1 and chain = 1 order by id limit 50 offset ?"
    )
    const bareCall = (run: () => unknown) => () => Effect.sync(run)
    yield* timed(
      "floor create (insert alone)",
      rounds,
      bareCall(() => insert.run(rowOf(0)))
    )
    yield* timed(
      "floor get",
      rounds,
      bareCall(() => get.get(key(turn++).referenceId))
    )
    yield* timed(
      "floor list, first page",
      200,
      bareCall(() => list.all(0))
    )
    yield* timed(
      "floor list, middle page",
      20,
      bareCall(() => list.all(Math.floor(count / 2)))
    )
    yield* timed(
      "floor list, last page",
      20,
      bareCall(() => list.all(count - 50))
    )
    bare.close()
  }).pipe(Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(Database.layer({ kind: "sqlite", file })))))
}).pipe(Effect.scoped)

await Effect.runPromise(program)
