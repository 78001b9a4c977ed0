/** The chain that a request names in its path. */
import type { Chain, Family } from "@headwater/core/chains/Chain"
import type { EventType } from "@headwater/core/events/EventType"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { ChainOperations } from "../operations/Operations.ts"
import { Failures, type Unimplemented } from "./Errors.ts"

/** A chain that the operator has configured a node for, with what it can answer. */
export interface ConfiguredChain {
  readonly chain: Chain
  /** Operations that this chain's services answer; those that are absent answer 501. */
  readonly operations?: Partial<ChainOperations>
  /** Fails where the chain's node cannot serve an event that chains of its kind have. */
  readonly serves?: (event: EventType) => Effect.Effect<void, Unimplemented>
}

/** The chain of the present request. */
export class CurrentChain extends Context.Service<CurrentChain, ConfiguredChain>()(
  "@headwater/http/contract/RequestedChain/CurrentChain"
) {}

/** Families that an endpoint is for, as an annotation on it; undefined for all. */
export const Families = Context.Reference<ReadonlyArray<Family> | undefined>(
  "@headwater/http/contract/RequestedChain/Families",
  { defaultValue: () => undefined }
)

/** Provides {@link CurrentChain} to the handlers of a group. */
export class RequestedChain extends HttpApiMiddleware.Service<RequestedChain, { provides: CurrentChain }>()(
  "@headwater/http/contract/RequestedChain",
  { error: [Failures.invalidBlockchain, Failures.invalidNetwork] }
) {}
