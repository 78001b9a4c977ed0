/**
 * What the console asks of a store with a million subscriptions, each of a hundred accounts with ten hosts, and as many
 * callbacks: milliseconds a request, over the routes and their JSON, without a socket. Where a port is named, the console
 * can be looked at there afterwards, until the program is stopped.
 *
 *     node bench/console.ts [subscriptions] [port]
 */
import { randomBytes, randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AddressBytes } from "@headwater/core/address/Address"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as ChainRow from "@headwater/indexer/store/database/ChainRow"
import { Database } from "@headwater/indexer/store/database/Database"
import * as Console from "@headwater/daemon/console/Console"
import * as Server from "@headwater/http/server/Server"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Fixture from "../packages/daemon/test/console/ConsoleFixture.ts"
import { median } from "./Samples.ts"

const [count = 1_000_000, port] = process.argv.slice(2).map(Number)
const [accountCount, hostCount, blockCount, rounds] = [100, 10, 50_000, 20]
const chain = Result.getOrThrow(Chain.find("ethereum", "devnet"))
const atOnce = 10_000

const bytes = (size: number) => new Uint8Array(randomBytes(size))
const hostOf = (i: number) => `hooks${i % hostCount}.account${i % accountCount}.example`

const fill = Effect.gen(function* () {
  const { insertMany, query } = yield* Database
  const accounts = yield* Accounts
  const ids: Array<number> = []
  for (let i = 0; i < accountCount; i++) ids.push((yield* accounts.create(`account ${i}`)).id)
  const { key } = yield* accounts.createKey(ids[1]!, { name: "bench" })
  const id = yield* ChainRow.make(chain)
  yield* query((db) =>
    db
      .updateTable("chain")
      .set({ height: blockCount, hash: bytes(32), first_height: 1 })
      .where("id", "=", id)
  )
  for (let from = 1; from <= blockCount; from += atOnce) {
    yield* insertMany(
      "block",
      Array.from({ length: Math.min(atOnce, blockCount + 1 - from) }, (_, i) => ({
        ...{ chain: id, height: from + i, hash: bytes(32), parent: bytes(32), time: 1_700_000_000 + from + i }
      }))
    )
  }
  const sample = { reference: "", key: "", address: bytes(20), transaction: "" }
  for (let from = 0; from < count; from += atOnce) {
    const places = Array.from({ length: Math.min(atOnce, count - from) }, (_, i) => from + i)
    const subscriptions = places.map((i) => ({
      ...{ id: i + 1, reference_id: randomUUID(), account: ids[i % accountCount]!, chain: id, revision: i, active: 1 },
      ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const, address: bytes(20), host: hostOf(i) },
      ...{ callback_url: `https://${hostOf(i)}/`, secret: null, confirmations: 1, created: 1, from_height: null }
    }))
    const callbacks = places.map((i) => ({
      ...{
        subscription: i + 1,
        host: hostOf(i),
        account: ids[i % accountCount]!,
        chain: id,
        height: (i % blockCount) + 1
      },
      ...{ idempotency_key: randomBytes(32).toString("hex"), event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", created: 1 },
      body: JSON.stringify({ data: { item: { transactionId: `0x${randomBytes(32).toString("hex")}` } } }),
      ...{ state: i % 100 === 0 ? ("due" as const) : ("delivered" as const), due: 1, sequence: 1, delivered: 1 },
      attempt_log: JSON.stringify([{ at: 1, duration: 20, status: 200 }])
    }))
    yield* insertMany("subscription", subscriptions)
    yield* insertMany("callback", callbacks)
    if (from === 0) {
      const [subscription, callback] = [subscriptions[1]!, callbacks[1]!]
      sample.reference = subscription.reference_id
      sample.address = subscription.address
      sample.key = callback.idempotency_key
      sample.transaction = JSON.parse(callback.body).data.item.transactionId
    }
  }
  const now = Date.now()
  for (let period = 0; period < 144; period++) {
    const at = now - (now % 600_000) - period * 600_000
    yield* insertMany(
      "delivery_count",
      ids.flatMap((account, i) =>
        Array.from({ length: hostCount }, (_, host) => ({
          ...{
            account,
            host: `hooks${host}.account${i}.example`,
            period: at,
            outcome: "accepted" as const,
            millis: 25,
            attempts: 9
          }
        }))
      )
    )
  }
  return { ...sample, apiKey: Redacted.value(key), address: Address.encode(chain, sample.address as AddressBytes)! }
})

const measure = Effect.gen(function* () {
  const begin = performance.now()
  const of = yield* fill
  console.log(`${count} subscriptions and callbacks entered in ${Math.round((performance.now() - begin) / 1000)} s`)
  const { ask } = yield* Fixture.make
  const timed = Effect.fnUntraced(function* (name: string, who: Fixture.Who, path: string) {
    const taken: Array<number> = []
    let bytes = 0
    for (let i = 0; i < rounds; i++) {
      const begin = performance.now()
      const { status, text } = yield* ask(who, "GET", path)
      taken.push(performance.now() - begin)
      bytes = text.length
      if (status !== 200) return yield* Effect.die(new Error(`${path}: ${status} ${text}`))
    }
    const [typical, worst] = [median(taken), Math.max(...taken)].map((millis) => millis.toFixed(1).padStart(8))
    console.log(`${name.padEnd(44)} ${typical} ms  worst ${worst} ms  first ${taken[0]!.toFixed(1)} ms  ${bytes} bytes`)
  })
  const operator = "operator" as const
  const account = { key: of.apiKey }
  const search = (text: string) => `/api/search?q=${encodeURIComponent(text)}`
  yield* timed("overview", operator, "/api/overview")
  yield* timed("search: reference", operator, search(of.reference))
  yield* timed("search: beginning of a reference", operator, search(of.reference.slice(0, 6)))
  yield* timed("search: address", operator, search(of.address))
  yield* timed("search: host", operator, search("hooks1.account1.example"))
  yield* timed("search: callback key", operator, search(of.key))
  yield* timed("search: transaction", operator, search(of.transaction))
  yield* timed("search: height", operator, search("25000"))
  yield* timed("search: account name", operator, search("account 7"))
  yield* timed("search: nothing", operator, search("zzzz"))
  yield* timed("subscriptions", operator, "/api/subscriptions")
  yield* timed("subscriptions of a host", operator, "/api/subscriptions?search=hooks1.account1.example")
  yield* timed("subscriptions of an account's name", operator, "/api/subscriptions?search=account%207")
  yield* timed("a subscription", operator, `/api/subscriptions/${of.reference}`)
  yield* timed("story of a block", operator, "/api/stories/block?chain=ethereum/devnet&block=2")
  yield* timed("story of a callback", operator, `/api/stories/callback?key=${of.key}`)
  yield* timed(
    "story of a transaction",
    operator,
    `/api/stories/transaction?chain=ethereum/devnet&id=${of.transaction}`
  )
  yield* timed("story of an address", operator, `/api/stories/address?chain=ethereum/devnet&address=${of.address}`)
  yield* timed("deliveries", operator, "/api/deliveries")
  yield* timed("accounts", operator, "/api/accounts")
  yield* timed("an account", operator, "/api/accounts/account%201")
  yield* timed("audit log", operator, "/api/audit")
  yield* timed("account: overview", account, "/api/overview")
  yield* timed("account: subscriptions", account, "/api/subscriptions")
  yield* timed("account: search, address", account, search(of.address))
  yield* timed("account: search, reference", account, search(of.reference))
  yield* timed(
    "account: story of a transaction",
    account,
    `/api/stories/transaction?chain=ethereum/devnet&id=${of.transaction}`
  )
  if (port === undefined) return
  console.log(`http://127.0.0.1:${port} as ${JSON.stringify(Fixture.passwords.operator)}: ${JSON.stringify(of)}`)
  const { consoleSettings } = Fixture
  return yield* Layer.launch(
    Server.serve(Console.routes(consoleSettings), { host: "127.0.0.1", port, stopTimeoutMillis: 1_000 })
  )
})

const folder = mkdtempSync(join(tmpdir(), "headwater-bench-console-"))
await Effect.runPromise(
  measure.pipe(
    Effect.scoped,
    Effect.provide(Fixture.services(Database.layer({ kind: "sqlite", file: join(folder, "store.db") }))),
    Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  )
)
