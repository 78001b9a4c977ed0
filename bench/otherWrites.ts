/**
 * How long another account's request waits at the longest, while very much of one account is changed: a subscription is
 * created on the same chain, again and again.
 *
 *     node bench/otherWrites.ts [removal | retractions | undo | rewind | replaced] [callbacks] [sqlite | a postgres:// URL]
 *
 * removal: an account with a thousand subscriptions goes, with as many pending confirmations and credit entries as callbacks.
 * retractions, undo: a block leaves with its callbacks, which were sent, and are retracted or not.
 * rewind: the operator takes back a block whose callbacks were not sent yet. replaced: one that were sent, and another block
 * comes in its place, behind one that is as it was.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as AccountRemoval from "@headwater/indexer/store/accounts/AccountRemoval"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database, type Location } from "@headwater/indexer/store/database/Database"
import { rows } from "@headwater/indexer/store/database/Statements"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { sql } from "kysely"

const [kind = "removal", size = "100000", where = "sqlite"] = process.argv.slice(2)
const count = Number(size)
const subscriptionCount = 1000
const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const folder = mkdtempSync(join(tmpdir(), "headwater-bench-"))
const location: Location =
  where === "sqlite"
    ? { kind: "sqlite", file: join(folder, "store.db") }
    : {
        ...{ kind: "postgres", url: Redacted.make(where), connections: 5 },
        secretKeys: Redacted.make(Buffer.alloc(32, 7).toString("base64"))
      }

const hash = (byte: number) => new Uint8Array(32).fill(byte)
const block = (height: number, own: number, parent: number): Block => ({
  ...{ height, hash: hash(own), parent: hash(parent), time: height },
  ...{ transactions: [], transfers: [], spends: [] }
})

/** In small parts, so that nothing of the filling is left to what is measured. */
const inParts = <E, R>(total: number, insert: (from: number, to: number) => Effect.Effect<unknown, E, R>) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(total / 1000) }, (_, i) => i * 1000),
    (from) => insert(from, Math.min(total, from + 1000)),
    { discard: true }
  )

const range = <A>(from: number, to: number, make: (i: number) => A) =>
  Array.from({ length: to - from }, (_, i) => make(from + i))

const fill = Effect.gen(function* () {
  const { insertMany, query } = yield* Database
  const [own] = yield* query((db) =>
    db
      .insertInto("account")
      .values({ name: "own", created: 1, retractions: kind === "retractions" || kind === "replaced" ? 1 : 0 })
      .returning("id")
  )
  const account = own!.id
  yield* insertMany(
    "subscription",
    range(0, subscriptionCount, (i) => ({
      ...{ reference_id: crypto.randomUUID(), account, chain: 1, revision: 1, host: "busy.test", secret: null },
      ...{
        event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const,
        address: hash(i % 250).subarray(0, 20),
        confirmations: 1
      },
      ...{ active: 1, callback_url: "https://busy.test/", created: 0 }
    }))
  )
  const subscriptions = yield* query((db) =>
    db.selectFrom("subscription").select(["id", "reference_id"]).where("account", "=", account).orderBy("id")
  )
  const sent = kind !== "rewind" && kind !== "removal"
  yield* inParts(count, (from, to) =>
    insertMany(
      "callback",
      range(from, to, (i) => {
        const { id, reference_id: referenceId } = subscriptions[i % subscriptionCount]!
        const key = `${referenceId}-${i}`
        const item = {
          height: 3,
          address: `0x${"ab".repeat(20)}`,
          transactionId: `0x${"cd".repeat(32)}`,
          amount: "1.5"
        }
        const data = {
          product: "BLOCKCHAIN_EVENTS",
          event: "ADDRESS_COINS_TRANSACTION_CONFIRMED",
          item: { ...item, padding: "x".repeat(200) }
        }
        return {
          ...{
            subscription: id,
            account,
            host: "busy.test",
            chain: 1,
            height: 3,
            idempotency_key: key,
            event: data.event
          },
          ...{
            body: JSON.stringify({ apiVersion: "2024-12-12", referenceId, idempotencyKey: key, data }),
            due: 1,
            created: 1
          },
          ...{
            state: sent ? ("delivered" as const) : ("due" as const),
            sequence: sent ? Math.floor(i / subscriptionCount) + 1 : null
          }
        }
      })
    )
  )
  if (kind === "removal") {
    yield* inParts(count, (from, to) =>
      insertMany(
        "waiting",
        range(from, to, (i) => ({
          ...{ subscription: subscriptions[i % subscriptionCount]!.id, account, chain: 1, height: 3, due_height: 9 },
          ...{
            confirmation: 7,
            target: 7,
            each_confirmation: 0,
            block_hash: hash(3),
            occurrence: String(i),
            item: "{}"
          }
        }))
      )
    )
    yield* inParts(count, (from, to) =>
      insertMany(
        "credit_entry",
        range(from, to, (i) => ({
          ...{ account, entry_key: `${i}`, at: i, kind: "grant" as const, amount: 1, results: 0, detail: "paid" }
        }))
      )
    )
  }
  return account
})

const measure = Effect.gen(function* () {
  const { query, flush } = yield* Database
  const subscriptions = yield* Subscriptions
  const opened = yield* ChainStore.open(chain, { record: "watched", undoDepth: 64 })
  yield* opened.commit([block(1, 1, 0), block(2, 2, 1), block(3, 3, 2)])
  const account = yield* fill
  if (where !== "sqlite") yield* query(rows(sql`analyze`))
  yield* flush

  const all: Array<number> = []
  let stood = 0
  let made = 0
  const request = Effect.gen(function* () {
    const begin = performance.now()
    const address = new Uint8Array(20) as AddressBytes
    new DataView(address.buffer).setUint32(0, ++made)
    yield* subscriptions.create({
      ...{ account: 1_000_000, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address, confirmations: 1 },
      ...{ secret: undefined, callbackUrl: "https://example.com/", allowDuplicates: false }
    })
    all.push(performance.now() - begin)
    yield* Effect.sleep("2 millis")
  })
  const steps = Effect.gen(function* () {
    while (true) {
      const [took, { more }] = yield* Effect.timed(opened.fanOut)
      if (!more) return
      yield* Effect.sleep(took)
    }
  })
  /** Blocks leave and others come: until the last of these is there, the chain stands still. */
  const change = (self: Effect.Effect<unknown, unknown>, ...then: ReadonlyArray<Block>) =>
    Effect.gen(function* () {
      const begin = performance.now()
      yield* self
      if (then.length > 0) yield* opened.commit(then)
      stood = performance.now() - begin
      yield* steps
    })
  const run: Effect.Effect<unknown, unknown, Database> = {
    removal: AccountRemoval.remove(account),
    retractions: change(opened.undo(2), block(3, 4, 2)),
    undo: change(opened.undo(2), block(3, 4, 2)),
    rewind: change(opened.rewind(2)),
    replaced: change(opened.rewind(1), block(2, 2, 1), block(3, 4, 2))
  }[kind as "removal"]
  for (let i = 0; i < 100; i++) yield* request
  const quiet = Math.max(...all.splice(0))
  const begin = performance.now()
  const changing = yield* Effect.forkChild(run)
  // The last one began before the end.
  while (changing.pollUnsafe() === undefined) yield* request
  yield* Fiber.join(changing)
  const took = performance.now() - begin
  all.sort((a, b) => b - a)
  console.log(
    `${kind} of ${count} on ${where === "sqlite" ? where : "postgres"}: another account's request waits at most ` +
      `${all[0]!.toFixed(0)} ms (then ${all
        .slice(1, 5)
        .map((ms) => ms.toFixed(0))
        .join(", ")}; quiet ${quiet.toFixed(0)}), ` +
      `of ${all.length}; ${(took / 1000).toFixed(1)} s in all${stood > 0 ? `, new blocks wait ${stood.toFixed(0)} ms` : ""}`
  )
})

await Effect.runPromise(
  measure.pipe(Effect.scoped, Effect.provide(Subscriptions.layer.pipe(Layer.provideMerge(Database.layer(location)))))
)
rmSync(folder, { recursive: true })
