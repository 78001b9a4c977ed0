/** Events of internal transactions: served where the settings want them and the nodes give traces. */
import { eventsOfClass } from "@headwater/core/events/EventType"
import * as Effect from "effect/Effect"
import * as Capability from "./Capability.ts"
import type { Family } from "./Family.ts"

const internalEvents = eventsOfClass("internal")

/** `Family.unserved` of families that have internal transactions. */
export const unserved: NonNullable<Family["unserved"]> = (event, { internalTransactions }, capabilities) => {
  if (!internalEvents.has(event)) return Effect.undefined
  if (!internalTransactions) return Effect.succeed("Internal transactions are switched off by the settings")
  return Effect.map(capabilities, (all) => {
    const traces = Capability.lacking(all, Capability.internalTransactions)
    return traces && `Internal transactions: ${traces.detail}`
  })
}
