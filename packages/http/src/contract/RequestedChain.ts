/** The chain that a request names in its path. */
import type { Chain } from "@headwater/core/chains/Chain"
import type { FamilyName } from "@headwater/core/families/families"
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { Failures } from "./Errors.ts"

/** The chain of the present request, one that the server is configured for. */
export class CurrentChain extends Context.Service<CurrentChain, Chain>()(
  "@headwater/http/contract/RequestedChain/CurrentChain"
) {}

/** Families that an endpoint is for, as an annotation on the endpoint; undefined for all. */
export const Families = Context.Reference<ReadonlyArray<FamilyName> | undefined>(
  "@headwater/http/contract/RequestedChain/Families",
  { defaultValue: () => undefined }
)

/** Provides {@link CurrentChain} to the handlers of a group. */
export class RequestedChain extends HttpApiMiddleware.Service<RequestedChain, { provides: CurrentChain }>()(
  "@headwater/http/contract/RequestedChain",
  { error: [Failures.invalidBlockchain, Failures.invalidNetwork] }
) {}
