/** How far each chain was in the last ten minutes, for the console's charts: in memory, sampled from the statuses. */
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** When (milliseconds since the Unix epoch), the last committed height, and the node's head. */
export type Sample = readonly [at: number, height: number, head: number]

/** Seconds between samples, and how many are kept: ten minutes. */
const sampleSeconds = 2
const kept = 300

/** Takes samples as long as the scope lives; gives the samples of a chain that were taken after a moment. */
export const make = Effect.gen(function* () {
  const statuses = yield* ChainStatus
  const samples = new Map<string, Array<Sample>>()

  const sample = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const { chain, head, height } of yield* statuses.all) {
      if (height === undefined) continue
      const name = Chain.nameOf(chain)
      const own = samples.get(name) ?? []
      samples.set(name, own)
      own.push([now, height, Math.max(head ?? height, height)])
      if (own.length > kept) own.shift()
    }
  })
  yield* sample.pipe(Effect.repeat(Schedule.spaced(`${sampleSeconds} seconds`)), Effect.forkScoped)

  return (name: string, after: number): ReadonlyArray<Sample> => {
    const own = samples.get(name) ?? []
    const first = own.findIndex(([at]) => at > after)
    return first === -1 ? [] : own.slice(first)
  }
})
