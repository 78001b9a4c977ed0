/**
 * An Effect app that composes the indexer with layers of its own: a service that knows what each address has received, in
 * memory, from a consumer that is told all of the record again at each start; and a task that prints it.
 *
 * `node examples/effect-app.ts http://127.0.0.1:8545 app.db 0x7099…`
 */
import * as Amount from "@headwater/core/Amount"
import { type Event, Indexer } from "@headwater/indexer/embedded/Indexer"
import * as Console from "effect/Console"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"

const [url = "", store = "", ...addresses] = process.argv.slice(2)

/** Wei by address. */
type Sums = ReadonlyMap<string, bigint>

const add = (sums: Sums, events: ReadonlyArray<Event>, sign: bigint): Sums => {
  const changed = new Map(sums)
  for (const { item, kind } of events) {
    if ((kind !== "coin" && kind !== "internal") || item.direction !== "incoming") continue
    const wei = Result.getOrThrow(Amount.parse(item.amount, 18))
    changed.set(item.address, (changed.get(item.address) ?? 0n) + sign * wei)
  }
  return changed
}

class Received extends Context.Service<Received, SubscriptionRef.SubscriptionRef<Sums>>()("app/Received") {
  static readonly layer = Layer.effect(
    Received,
    Effect.gen(function* () {
      const indexer = yield* Indexer
      const received = yield* SubscriptionRef.make<Sums>(new Map())
      yield* indexer.forget("received")
      yield* indexer.events("received").pipe(
        Stream.runForEach(({ acknowledge, events, undone }) =>
          SubscriptionRef.update(received, (sums) => add(add(sums, undone.events, -1n), events, 1n)).pipe(
            Effect.andThen(acknowledge)
          )
        ),
        Effect.tapError((error) => Effect.logError(error.message)),
        Effect.forkScoped
      )
      return received
    })
  )
}

const print = Effect.gen(function* () {
  const changes = SubscriptionRef.changes(yield* Received)
  yield* Stream.runForEach(changes, (sums) =>
    Console.log(JSON.stringify([...sums].map(([address, wei]) => [address, Amount.format(wei, 18)])))
  )
})

const indexer = Indexer.layer({
  chains: { "ethereum/devnet": { nodes: [url], start: 0, pollMillis: 100 } },
  store: { sqlite: store },
  addresses
})

const app = Received.layer.pipe(Layer.provide(indexer))
await print.pipe(Effect.provide(app), Effect.provideService(Logger.LogToStderr, true), Effect.runPromise)
