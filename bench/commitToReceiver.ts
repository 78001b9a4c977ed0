/**
 * How long after the commit of a block its callbacks are at their receiver, over HTTPS on this machine with the default
 * settings: of a block with one callback, and of one with a thousand of as many subscriptions to one host. Beside each
 * large block a bare loop signs and posts as many over as many connections.
 *
 *     node bench/commitToReceiver.ts [blocks] [subscriptions] [callbacks of a large block] [sqlite | postgres]
 */
import type { AddressBytes } from "@headwater/core/address/Address"
import type { Block, Transfer } from "@headwater/core/Block"
import * as Chain from "@headwater/core/chains/Chain"
import { ReceiverClientOptions } from "@headwater/daemon/delivery/ReceiverClient"
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
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as BareSender from "./BareSender.ts"
import * as CallbackReceiver from "./CallbackReceiver.ts"
import * as HttpsDelivery from "./HttpsDelivery.ts"
import * as MachineTime from "./MachineTime.ts"
import { percentile } from "./Samples.ts"
import * as Scratch from "./Scratch.ts"

const [blocks = 100, subscriptionCount = 10_000, large = 1_000] = process.argv.slice(2, 5).map(Number)
const store = process.argv[5] ?? "sqlite"
const host = "receiver.test"
const secret = "a secret of the benchmark's own"
const rowsAtOnce = 10_000

const chain = Result.getOrThrow(Chain.find("ethereum", "mainnet"))

const addressOf = (number: number) => {
  const address = new Uint8Array(20)
  new DataView(address.buffer).setUint32(8, Math.imul(number + 1, 2_654_435_761) >>> 0)
  new DataView(address.buffer).setUint32(0, number + 1)
  return address as AddressBytes
}

let nonce = 0
const bytes32 = () => {
  const made = new Uint8Array(32)
  new DataView(made.buffer).setUint32(0, ++nonce)
  return made
}

const share = (values: ReadonlyArray<number>, part: number) => percentile(values, part).toFixed(1)
const shares = (values: ReadonlyArray<number>) =>
  `p50 ${share(values, 0.5)} ms, p99 ${share(values, 0.99)} ms, last ${share(values, 1)} ms`

const measure = Effect.gen(function* () {
  const certificate = yield* DevelopmentCertificate.make([host])
  const { arrivals, port } = yield* CallbackReceiver.start(certificate)
  const secretKeys = Redacted.make(Buffer.alloc(32, 7).toString("base64"))
  const services = Layer.merge(Outbox.layer, RecurringTasks.layer).pipe(
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Database.layer({ ...(yield* Scratch.location(store)), secretKeys }))
  )
  const delivery = HttpsDelivery.layer([host], certificate.ca)
  const context = yield* Layer.build(delivery.pipe(Layer.provideMerge(services)))
  const { insertMany, query } = Context.get(context, Database)
  yield* Context.get(context, Subscriptions).create({
    ...{ account: 1, chain, event: "ADDRESS_COINS_TRANSACTION_CONFIRMED", address: addressOf(0), secret },
    ...{ callbackUrl: `https://${host}:${port}/0`, confirmations: 1, allowDuplicates: false }
  })
  const [first] = yield* query((db) => db.selectFrom("subscription").selectAll())
  const { id: _, ...row } = first!
  for (let from = 1; from < subscriptionCount; from += rowsAtOnce) {
    yield* insertMany(
      "subscription",
      Array.from({ length: Math.min(rowsAtOnce, subscriptionCount - from) }, (_, i) => ({
        ...{ ...row, reference_id: crypto.randomUUID(), address: addressOf(from + i), secret: null },
        callback_url: `https://${host}:${port}/${from + i}`
      }))
    )
  }
  const opened = yield* Effect.provide(ChainStore.open(chain, { record: "watched", undoDepth: 64 }), context)
  yield* Effect.forkScoped(FanOutTask.run(chain, opened))
  const { connections } = Context.get(Context.empty(), ReceiverClientOptions)
  const post = yield* BareSender.make({ ...{ certificate, host, port, secret }, connections })

  let last: Block | undefined
  let next = 0
  /** Commits a block with so many callbacks: how long after the commit's begin, and end, each of them came. */
  const commit = Effect.fnUntraced(function* (callbacks: number) {
    const height = (last?.height ?? 0) + 1
    const transfers = Array.from({ length: callbacks }, (_, transaction): Transfer => {
      const to = addressOf(next++ % subscriptionCount)
      return { kind: "coin", transaction, position: 0, from: undefined, to, amount: BigInt(height) * 10n ** 18n }
    })
    last = {
      ...{ height, hash: bytes32(), parent: last?.hash ?? bytes32(), time: height, spends: [] },
      ...{ transactions: transfers.map(bytes32), transfers }
    }
    const begun = MachineTime.millis()
    yield* opened.commit([last])
    const ended = MachineTime.millis()
    const came = yield* arrivals(callbacks)
    return { fromBegin: came.map((at) => at - begun), fromEnd: came.map((at) => at - ended) }
  })
  const sample = Effect.fnUntraced(function* (callbacks: number, count: number) {
    const begin: Array<number> = []
    const end: Array<number> = []
    const bare: Array<number> = []
    const posts = Array.from({ length: callbacks }, (_, i) => ({ path: `/${i}`, id: `${i}`, body: "x".repeat(530) }))
    // The first ones make connections.
    for (let i = -5; i < count; i++) {
      // Long enough, and at any moment, so that delivery which only looks has found nothing for a while.
      yield* Effect.sleep(300 + Math.random() * 200)
      const { fromBegin, fromEnd } = yield* commit(callbacks)
      const at = performance.now()
      if (callbacks > 1) {
        yield* post(posts)
        yield* arrivals(callbacks)
      }
      if (i < 0) continue
      bare.push(performance.now() - at)
      begin.push(...fromBegin)
      end.push(...fromEnd)
    }
    console.log(`${count} blocks of ${callbacks} callbacks, ${subscriptionCount} subscriptions, ${store}`)
    console.log(`  from the commit's begin: ${shares(begin)}`)
    console.log(`  from the commit's end:   ${shares(end)}`)
    if (callbacks > 1) console.log(`  a bare loop takes for them: ${shares(bare)}`)
  })
  yield* sample(1, blocks)
  yield* sample(large, Math.ceil(blocks / 4))
})

Effect.runPromise(Effect.scoped(measure))
