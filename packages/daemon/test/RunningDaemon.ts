import * as Placements from "@headwater/indexer/store/placement/Placements"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** Enters a daemon that says each second that it runs, until the scope ends: a command may take longer than a daemon may be silent. */
export const enter = (daemon: Parameters<typeof Placements.register>[0]) =>
  Placements.register(daemon, { restarted: true }).pipe(
    Effect.flatMap((id) => Effect.forkScoped(Effect.repeat(Placements.beat(id), Schedule.spaced("1 second"))))
  )
