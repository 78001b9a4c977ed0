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

/** The least time until a step that no commit of this process has asked for. */
const lookInterval = "5 seconds"

/** Runs for good. `waiting` waits for what another process has left, or a kill. */
export const run = (
  chain: Chain,
  store: ChainStore,
  waiting: Effect.Effect<void> = Effect.void
): Effect.Effect<never> => {
  const full = Metric.withAttributes(fullAccounts, { chain: nameOf(chain) })
  const all = Effect.gen(function* () {
    while (true) {
      const [took, step] = yield* Effect.timed(store.fanOut)
      const { more } = step
      yield* Metric.update(full, step.full)
      if (!more) return step
      yield* Effect.sleep(Duration.max(took, Duration.millis(leastPause)))
    }
  })
  const round = Effect.gen(function* () {
    const wanted = yield* store.fanOutWanted
    const last = yield* all
    // Until no account is full, steps say how many are.
    const rest = Effect.andThen(Effect.sleep(lookInterval), last.full > 0 ? Effect.void : waiting)
    yield* Effect.raceFirst(wanted, rest)
  })
  return RetryForever.retryForever(chain, "Writing callbacks", { pollInterval: Duration.zero }, round)
}
