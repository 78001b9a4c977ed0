/** Stories that are played one after another until one of them breaks a promise, which then fails a test. */
import { assert } from "@effect/vitest"
import * as Simulation from "./Simulation.ts"
import { turn } from "../Turn.ts"
import type { StoreTemplate } from "./StoreTemplate.ts"

const asked = process.env.HEADWATER_SIMULATION_SEEDS

/** How many stories the tests of both files play: `HEADWATER_SIMULATION_SEEDS`; few, since CI plays many more by themselves. */
export const count = Number(asked ?? 8)

/** The first seed: few stories are others in each turn. */
export const first = asked === undefined ? 1 + turn * count : 1

/** A day, for the longest runs. */
export const timeout = 86_400_000

/** Plays the stories of `count` seeds, `from` and those that follow. */
export const play = async (template: StoreTemplate, from: number, count: number) => {
  const simulation = await Simulation.make(template)
  const began = process.hrtime.bigint()
  try {
    for (let seed = from; seed < from + count; seed++) {
      const outcome = await simulation.run(seed)
      if (outcome.broken.length > 0) assert.fail(Simulation.describe(await simulation.shrink(outcome)))
    }
  } finally {
    await simulation.end()
  }
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  const pace = Math.round((count / seconds) * 60)
  console.log(`${count} stories on ${template.name}, by the seeds from ${from} on: ${pace} a minute`)
}
