/** What a call costs. The price of an operation stands on its endpoint, and what it takes to be paid with it. */
import type { Operation } from "@headwater/core/Credits"
import type { DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { CurrentAccount } from "./Authentication.ts"
import { Failures, type InsufficientCredits } from "./Errors.ts"

/** The row of the price tables that an endpoint costs by, as an annotation on it; undefined where it is free. */
export const Price = Context.Reference<Operation | undefined>("@headwater/http/contract/Price", {
  defaultValue: () => undefined
})

/** How the present request is paid for. */
export class Payment extends Context.Service<
  Payment,
  {
    /**
     * Runs what changes the store and pays for it in one transaction: either both are done or neither. Requests that
     * only read need not call it: they are charged when their answer is known.
     */
    readonly paying: <A, E, R>(
      change: Effect.Effect<A, E, R>,
      results: (changed: A) => number
    ) => Effect.Effect<A, E | InsufficientCredits | DatabaseError, R>
  }
>()("@headwater/http/contract/Price/Payment") {}

/** Charges every request by its price, within the account's rate, and provides {@link Payment}. */
export class Charging extends HttpApiMiddleware.Service<Charging, { provides: Payment; requires: CurrentAccount }>()(
  "@headwater/http/contract/Price/Charging",
  { error: [Failures.insufficientCredits, Failures.requestLimitReached] }
) {}
