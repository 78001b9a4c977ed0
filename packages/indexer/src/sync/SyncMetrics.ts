/** The metrics of following chains. */
import * as Chain from "@headwater/core/chains/Chain"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"

const blocks = Metric.counter("headwater_blocks_total", {
  description: "Blocks committed",
  incremental: true
})

const reorganisations = Metric.histogram("headwater_reorganisation_depth_blocks", {
  description: "Blocks undone by each reorganisation",
  boundaries: [1, 2, 3, 6, 12, 32, 64, 128, 512]
})

/** The updates of one chain: synchronous, since they are made for every commit. */
export const make = (chain: Chain.Chain) =>
  Effect.map(Effect.context<never>(), (context) => {
    const attributes = { chain: Chain.nameOf(chain) }
    const committed = Metric.withAttributes(blocks, attributes)
    const undone = Metric.withAttributes(reorganisations, attributes)
    committed.updateUnsafe(0, context)
    // A histogram appears once it is asked for: that there was no reorganisation yet is a fact too.
    undone.valueUnsafe(context)
    return {
      committed: (count: number) => committed.updateUnsafe(count, context),
      reorganised: (depth: number) => undone.updateUnsafe(depth, context)
    }
  })

export type SyncMetrics = Effect.Success<ReturnType<typeof make>>
