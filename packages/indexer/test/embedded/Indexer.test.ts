import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Indexer } from "@headwater/indexer/embedded/Indexer"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import * as Anvil from "../../../../test/Anvil.ts"
import * as Folder from "../../../../test/Folder.ts"

/** Between two amounts. */
const blocks = 500
const to = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

const ether = (wei: number) => `0.${String(wei).padStart(18, "0")}`

const file = Effect.map(Folder.scoped, (folder) => join(folder, "store.db"))

/** Threads read however little is left. */
const atOnce = Layer.effect(
  ReaderThreads.Bounds,
  Effect.map(ReaderThreads.Bounds, (bounds) => ({ ...bounds, worthMillis: 0, paceBlocks: 0 }))
)

describe("Indexer", () => {
  it.live("reads the past by threads, where the program wants some, and tells every event", () =>
    Effect.gen(function* () {
      const anvil = yield* Anvil.start()
      const [from] = yield* anvil.rpc<ReadonlyArray<string>>("eth_accounts", [])
      const pay = Effect.fnUntraced(function* (value: number) {
        yield* anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`])
        yield* anvil.rpc("eth_sendTransaction", [{ from, to, value: `0x${value.toString(16)}` }])
      })
      const readByThreads = Effect.map(Metric.snapshot, (metrics) => {
        const read = metrics.find(({ id }) => id === "headwater_blocks_read_by_threads_total")
        return read?.type === "Counter" ? Number(read.state.count) : 0
      })
      yield* pay(1)
      yield* pay(2)
      let paid = 2
      const amounts = yield* Indexer.use((indexer) =>
        indexer.events("one").pipe(
          Stream.mapEffect(({ acknowledge, events }) =>
            Effect.as(
              acknowledge,
              events.map(({ item, kind }) => (kind === "coin" ? item.amount : kind))
            )
          ),
          Stream.flattenIterable,
          // All blocks may have been read before a thread is ready.
          Stream.tap((amount) =>
            Effect.gen(function* () {
              if (amount === ether(paid) && (yield* readByThreads) === 0) yield* pay(++paid)
            })
          ),
          Stream.takeUntil((amount) => amount === ether(paid)),
          Stream.runCollect
        )
      ).pipe(
        Effect.provide(
          Indexer.layer({
            chains: { "ethereum/devnet": { nodes: [anvil.url], start: 0, pollMillis: 50 } },
            store: { sqlite: yield* file },
            addresses: [to],
            threads: 1
          }).pipe(Layer.provide(atOnce))
        )
      )
      assert.deepStrictEqual(
        [...amounts],
        Array.from({ length: paid }, (_, index) => ether(index + 1))
      )
      assert.isAbove(yield* readByThreads, 0)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()), Effect.scoped)
  )
})
