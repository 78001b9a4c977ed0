/** Answers to random histories of a chain, beside examples, on each store that is taken: what runs a history compares them. */
import { assert, describe, it } from "@effect/vitest"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import type { Database } from "@headwater/indexer/store/database/Database"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { Wallets } from "@headwater/indexer/store/wallets/Wallets"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { takenStores } from "../../../../test/Stores.ts"

interface Compared<History, Count extends string> {
  readonly histories: fc.Arbitrary<History>
  readonly examples: ReadonlyArray<History>
  /** Dies where an answer is wrong. */
  readonly run: (
    history: History
  ) => Effect.Effect<void, unknown, ChainStatus | ConnectedNodes | Database | Outbox | Subscriptions | Wallets>
  /** The answers that were compared, which `run` counts. */
  readonly counts: Record<Count, number>
  /** A few histories have one of these at least. */
  readonly usual: ReadonlyArray<Count>
}

/** Random histories beside the examples. HEADWATER_PROPERTY_RUNS makes it longer. */
const runs = Number(process.env.HEADWATER_PROPERTY_RUNS ?? 2)

/** `file`: the test's, for its turn. */
export const compare = <History, Count extends string>(
  name: string,
  file: string,
  { counts, examples, histories, run, usual }: Compared<History, Count>
) => {
  for (const store of takenStores(file)) {
    describe(`Answers of ${name} on ${store.name}`, () => {
      it(
        "differ in nothing from the whole chain, or are refused",
        async () => {
          const answers = Object.keys(counts) as Array<Count>
          for (const answer of answers) counts[answer] = 0
          const layer = Layer.mergeAll(Outbox.layer, Wallets.layer).pipe(
            Layer.provideMerge(Subscriptions.layer),
            Layer.provideMerge(store.layer),
            Layer.provideMerge(Layer.mergeAll(ConnectedNodes.layer, ChainStatus.layer))
          )
          const property = fc.asyncProperty(histories, (history) =>
            Effect.runPromise(run(history).pipe(Effect.provide(layer)))
          )
          await fc.assert(property, {
            numRuns: examples.length + (store.name === "sqlite" ? runs : Math.ceil(runs / 2)),
            examples: examples.map((history) => [history]),
            // Before the test is over: a history that is wrong would be shrunk until then, and never told.
            ...(runs < 30 && { interruptAfterTimeLimit: 240_000, markInterruptAsFailure: true })
          })
          console.log(`${name}: ${JSON.stringify(counts)} answers compared, 0 wrong`)
          // A property that nothing is answered would hold as well. A few histories need not have every answer.
          if (runs >= 30) for (const answer of answers) assert.isAbove(counts[answer], 0, answer)
          else assert.isTrue(usual.some((answer) => counts[answer] > 0))
        },
        // As many minutes as a busy machine may need.
        Math.max(300_000, runs * 30_000)
      )
    })
  }
}
