/** Writes the callbacks that a chain's commits have left to small steps, as soon as a commit has, until none is left. */
import { type Chain, nameOf } from "@headwater/core/chains/Chain"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type { ChainStore } from "../store/chain/ChainStore.ts"
import * as RetryForever from "./RetryForever.ts"

/** Between two steps others come to the store and to the processor, for as long as a step takes, at least so many milliseconds. */
const leastPause = 2

const fullAccounts = Metric.gauge("headwater_chain_full_accounts", {
  description: "Accounts that are told no more of busy addresses, since as many of their callbacks wait as may"
})

/** How often is looked for what another process has left, or a kill. */
const lookInterval = "5 seconds"

/** Runs for good. */
export const run = (chain: Chain, store: ChainStore): Effect.Effect<never> => {
  const full = Metric.withAttributes(fullAccounts, { chain: nameOf(chain) })
  const all = Effect.gen(function* () {
    while (true) {
      const [took, step] = yield* Effect.timed(store.fanOut)
      const { more } = step
      yield* Metric.update(full, step.full)
      if (!more) return
      yield* Effect.sleep(Duration.max(took, Duration.millis(leastPause)))
    }
  })
  const round = Effect.gen(function* () {
    const wanted = yield* store.fanOutWanted
    yield* all
    yield* Effect.raceFirst(wanted, Effect.sleep(lookInterval))
  })
  return RetryForever.retryForever(chain, "Writing callbacks", { pollInterval: Duration.zero }, round)
}
