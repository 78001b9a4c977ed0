/**
 * What one account, or a busy address, does to the others: a block with 100 payments to an address with a thousand
 * duplicates of one account, and to one with the subscriptions of ten thousand accounts. Beside it blocks go on, each with
 * a payment to another account; a second process receives the callbacks, and asks the first one for its health. The figures
 * are beside those of the same blocks without the address.
 *
 *     node bench/fairness.ts [duplicates | subscribers] [subscriptions] [payments] [own | shared] [milliseconds]
 *
 * `shared`: the callbacks of all go to one host. `milliseconds`: how long the receiver takes for each of the busy ones. On a busy machine `chrt -r 10` before the command keeps other programs from
 * being measured.
 */
import { fork } from "node:child_process"
import { createServer as createHttpServer } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import * as DevelopmentCertificate from "@headwater/daemon/demo/DevelopmentCertificate"
import * as ChainStore from "@headwater/indexer/store/chain/ChainStore"
import { Database } from "@headwater/indexer/store/database/Database"
import { RecurringTasks } from "@headwater/indexer/store/database/RecurringTasks"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as FanOutTask from "@headwater/indexer/sync/FanOutTask"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Folder from "../test/Folder.ts"
import * as HttpsDelivery from "./HttpsDelivery.ts"
import { percentile } from "./Samples.ts"

const [
  kind = "duplicates",
  count = kind === "duplicates" ? "1000" : "10000",
  payments = "100",
  hosts = "own",
  wait = "0"
] = process.argv.slice(2)
const other = "other.test"
const busy = hosts === "shared" ? other : "busy.test"
const blockMillis = 100
const quietBlocks = 100
const busyBlocks = 250
const healthMillis = 10

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))
const busyAddress = new Uint8Array(20).fill(1) as AddressBytes
const otherAddress = new Uint8Array(20).fill(2) as AddressBytes

/** What the other process has measured: milliseconds of `/health`, and when each callback came, by its amount. */
interface Seen {
  readonly health: ReadonlyArray<number>
  readonly callbacks: ReadonlyArray<readonly [amount: string, at: number]>
  readonly busy: number
}

/** The receiver, and the client that asks for the health, in a process of their own. */
const receive = () => {
  process.once("disconnect", () => process.exit())
  process.once("message", ({ certificate, health }: { certificate: { cert: string; key: string }; health: number }) => {
    const callbacks: Array<readonly [string, number]> = []
    const healths: Array<number> = []
    let others = 0
    const server = createServer(certificate, (request, response) => {
      const parts: Array<Buffer> = []
      request.on("data", (part) => parts.push(part))
      request.on("end", () => {
        if (request.url !== "/other") {
          others++
          setTimeout(() => response.end(), Number(wait))
          return
        }
        response.end()
        const { data } = JSON.parse(Buffer.concat(parts).toString())
        callbacks.push([data.item.amount, Date.now()])
      })
    })
    server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
    setInterval(async () => {
      const begin = performance.now()
      const answer = await fetch(`http://127.0.0.1:${health}/health`).catch(() => undefined)
      await answer?.text()
      healths.push(performance.now() - begin)
    }, healthMillis)
    process.on("message", () => {
      process.send!({ health: healths.splice(0), callbacks: callbacks.splice(0), busy: others } satisfies Seen)
    })
  })
}

let nonce = 0
const bytes32 = () => {
  const made = new Uint8Array(32)
  new DataView(made.buffer).setUint32(0, ++nonce)
  return made
}
const ether = 10n ** 18n

const measure = Effect.gen(function* () {
  const certificate = yield* DevelopmentCertificate.make([other, busy])
  const folder = yield* Folder.scoped
  const health = createHttpServer((_, response) => response.end("ok"))
  yield* Effect.promise(() => new Promise<void>((resolve) => health.listen(0, "127.0.0.1", resolve)))
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(import.meta.url), ["receive", count, payments, hosts, wait])),
    (child) => Effect.sync(() => child.kill())
  )
  const answer = <A>(question: unknown) =>
    Effect.promise(() => {
      const answered = new Promise<A>((resolve) => child.once("message", (value) => resolve(value as A)))
      child.send(question as object)
      return answered
    })
  const port = yield* answer<number>({ certificate, health: (health.address() as AddressInfo).port })

  const store = Layer.merge(Outbox.layer, RecurringTasks.layer).pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer({ kind: "sqlite", file: join(folder, "store.db") }))
  )
  const delivery = HttpsDelivery.layer([other, busy], certificate.ca)
  const context = yield* Layer.build(delivery.pipe(Layer.provideMerge(store)))
  const database = Context.get(context, Database)
  const subscriptions = Context.get(context, Subscriptions)
  yield* subscriptions.create({
    ...{ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: otherAddress, secret: "s" },
    ...{ callbackUrl: `https://${other}:${port}/other`, confirmations: 1, allowDuplicates: false }
  })
  yield* database.insertMany(
    "subscription",
    Array.from({ length: Number(count) }, (_, i) => ({
      ...{ reference_id: crypto.randomUUID(), account: kind === "duplicates" ? 2 : 2 + i, chain: 1, revision: 1 },
      ...{ event: "ADDRESS_COINS_TRANSACTION_CONFIRMED" as const, address: busyAddress, confirmations: 1, active: 1 },
      ...{ callback_url: `https://${busy}:${port}/`, host: busy, secret: "s", created: 0 }
    }))
  )
  const opened = yield* Effect.provide(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), context)
  yield* Effect.forkScoped(FanOutTask.run(chain, opened))

  let last: Block | undefined
  const sent = new Map<string, number>()
  const commit = Effect.fnUntraced(function* (payments: number) {
    const height = (last?.height ?? 0) + 1
    const transfers = Array.from({ length: payments + 1 }, (_, transaction): Transfer => {
      const to = transaction === payments ? otherAddress : busyAddress
      return { kind: "coin", transaction, position: 0, from: undefined, to, amount: BigInt(height) * ether }
    })
    const block = {
      ...{ height, hash: bytes32(), parent: last?.hash ?? bytes32(), time: height, spends: [] },
      ...{ transactions: transfers.map(bytes32), transfers }
    }
    sent.set(String(height), Date.now())
    yield* opened.commit([block])
    last = block
  })
  const phase = Effect.fnUntraced(function* (name: string, blocks: number, payments: number) {
    let memory = 0
    const watching = setInterval(() => {
      memory = Math.max(memory, process.memoryUsage.rss())
    }, 20)
    yield* answer("begin")
    for (let i = 0; i < blocks; i++) {
      const next = performance.now() + blockMillis
      yield* commit(i === 0 ? payments : 0)
      yield* Effect.sleep(Math.max(0, next - performance.now()))
    }
    yield* Effect.sleep(500)
    clearInterval(watching)
    const seen = yield* answer<Seen>("end")
    const late = seen.callbacks.map(([amount, at]) => at - sent.get(amount)!)
    const of = (values: ReadonlyArray<number>) =>
      `half within ${percentile(values, 0.5).toFixed(0)} ms, 99 of 100 ${percentile(values, 0.99).toFixed(0)} ms, ` +
      `all ${Math.max(...values).toFixed(0)} ms`
    const written = yield* database.read((db) =>
      db
        .selectFrom("callback")
        .select(({ fn }) => fn.countAll<number>().as("rows"))
        .where("account", "<>", 1)
    )
    console.log(
      `${name}: /health ${of(seen.health)} (${seen.health.length}); another account's callbacks ${of(late)} ` +
        `(${late.length} of ${blocks}); memory ${(memory / 1e6).toFixed(0)} MB; busy callbacks: ` +
        `${written[0]!.rows} written, ${seen.busy} received`
    )
  })
  yield* phase("warming up", 10, 0)
  yield* phase("quiet", quietBlocks, 0)
  yield* phase(`${count} ${kind}, ${payments} payments`, busyBlocks, Number(payments))
  health.close()
  health.closeAllConnections()
})

if (kind === "receive") receive()
else await Effect.runPromise(Effect.scoped(measure))
