/**
 * Threads that read blocks long past, in the program's own process: their messages take time, and now and then a thread ends as
 * one does whose memory does not suffice.
 */
import { Connections } from "@headwater/indexer/families/node/NodeHttp"
import { ReaderMachine } from "@headwater/indexer/sync/internal/ReaderMachine"
import * as ReaderThreads from "@headwater/indexer/sync/ReaderThreads"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as InProcessReader from "../../packages/indexer/test/sync/InProcessReader.ts"
import type { Chance } from "./Chance.ts"

/** Blocks are long past, and threads idle, soon enough to see both in a story. */
const bounds = { distance: 0, worthMillis: 0, paceBlocks: 0, cpuMillis: () => 0, idleMillis: 20_000 }

export const layer = (
  chance: Chance,
  connections: typeof Connections.Service,
  random: typeof Random.Random.Service
): Layer.Layer<never> => {
  const context = Context.make(Connections, connections).pipe(
    Context.add(Random.Random, random)
  ) as Context.Context<never>
  const start = () => {
    const thread = InProcessReader.start(context, (message) => {
      if (chance.happens(0.002)) thread.crash()
      else setTimeout(message, chance.next())
    })
    return thread
  }
  return Layer.merge(Layer.succeed(ReaderMachine, { start }), Layer.succeed(ReaderThreads.Bounds, bounds))
}
