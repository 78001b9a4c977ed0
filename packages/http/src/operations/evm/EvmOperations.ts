/** The operations of an EVM chain, over its record and its node. */
import type { Chain } from "@headwater/core/chains/Chain"
import { type EventType, eventsOfClass } from "@headwater/core/events/EventType"
import { ConnectedNodes } from "@headwater/indexer/families/node/ConnectedNodes"
import * as ChainReader from "@headwater/indexer/store/chain/ChainReader"
import * as Effect from "effect/Effect"
import { Unimplemented } from "../../contract/Errors.ts"
import * as Freshness from "../Freshness.ts"
import type { ChainOperations } from "../Operations.ts"
import * as AddressHistory from "./AddressHistory.ts"
import * as Assets from "./Assets.ts"
import * as Logs from "./Logs.ts"
import { nodeOf } from "./NodeOf.ts"
import * as Prepare from "./Prepare.ts"

export interface Options extends Assets.Options {
  /** Whether internal transactions are recorded at all. */
  readonly internalTransactions: boolean
}

export const make = Effect.fnUntraced(function* (chain: Chain, options: Options) {
  const record = yield* ChainReader.make(chain)
  const freshness = yield* Freshness.make(record)
  const { internalTransactions, tokensTransfers } = AddressHistory.make(record, freshness, options)
  return {
    ...(options.internalTransactions ? { internalTransactions } : {}),
    tokensTransfers,
    evmAssets: Assets.make(record, freshness, nodeOf, options),
    logs: Logs.make(record, freshness, nodeOf),
    prepare: Prepare.make(record, freshness, nodeOf)
  } satisfies Partial<ChainOperations>
})

const internalEvents = eventsOfClass("internal")

/**
 * Refuses subscriptions that would stay silent: to internal transactions where none are read. A node that is not
 * connected at the moment is taken for one that can.
 */
export const serves = Effect.fnUntraced(function* (chain: Chain, options: Pick<Options, "internalTransactions">) {
  const nodes = yield* ConnectedNodes
  return Effect.fnUntraced(function* (event: EventType) {
    if (!internalEvents.has(event)) return
    if (!options.internalTransactions) {
      return yield* new Unimplemented({ message: "Internal transactions are switched off by the settings" })
    }
    const abilities = yield* Effect.orElseSucceed(
      Effect.flatMap(nodes.of(chain), ({ source }) => source.capabilities),
      () => []
    )
    const traces = abilities.find(({ name }) => name === "internal transactions")
    if (traces?.available === false) {
      return yield* new Unimplemented({ message: `Internal transactions: ${traces.detail}` })
    }
  })
})
