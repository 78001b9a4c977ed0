/** Refuses subscriptions to events that a chain does not serve at present. */
import type { Chain } from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import type { NodeSettings } from "@headwater/indexer/families/Family"
import * as Families from "@headwater/indexer/families/families"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import * as Effect from "effect/Effect"
import { Unimplemented } from "../contract/Errors.ts"

/** The check for a chain. A node that is not connected at present is taken for one that lacks nothing. */
export const make = Effect.fnUntraced(function* (chain: Chain, settings: Pick<NodeSettings, "internalTransactions">) {
  const nodes = yield* ConnectedNodes
  const capabilities = Effect.orElseSucceed(
    Effect.flatMap(nodes.of(chain), ({ source }) => source.capabilities),
    () => []
  )
  const { unserved } = Families.of(chain)
  return Effect.fnUntraced(function* (event: EventType) {
    const reason = unserved === undefined ? undefined : yield* unserved(event, settings, capabilities)
    if (reason !== undefined) return yield* new Unimplemented({ message: reason })
  })
})
