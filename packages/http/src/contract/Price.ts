/** The price of a call, which stands on the endpoint. */
import type { Operation } from "@headwater/core/Credits"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import type { CurrentAccount } from "./Authentication.ts"
import { Failures, type InsufficientCredits } from "./Errors.ts"

/** The row of the price tables for an endpoint, as an annotation on the endpoint; undefined for a free endpoint. */
export const Price = Context.Reference<Operation | undefined>("@headwater/http/contract/Price", {
  defaultValue: () => undefined
})

/** The payment of the present request. */
export class Payment extends Context.Service<
  Payment,
  {
    /**
     * Runs a change of the store and pays for the change in one transaction: either both are done or neither. A request
     * that only reads need not call it: the request is charged when its answer is known. A store that fails is a defect.
     */
    readonly paying: <A, E, R>(
      change: Effect.Effect<A, E, R>,
      results: (changed: A) => number
    ) => Effect.Effect<A, E | InsufficientCredits, R>
    /** For a request that changes the store in several transactions, in each of them: how many of so many results can be paid. */
    readonly affordable: (results: number) => Effect.Effect<number>
    /** Pays for results that are affordable, in the same transaction; `part` tells it from the others of the request. */
    readonly payPart: (part: string, results: number) => Effect.Effect<void>
    /** Runs one of these transactions: what is paid in it is told to have been consumed once it has committed. */
    readonly committing: <A, E, R>(transaction: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    /** Counts results for the account's rate that are not paid for in parts: failed ones, or those of a free operation. */
    readonly countUnpaid: (results: number) => Effect.Effect<void>
  }
>()("@headwater/http/contract/Price/Payment") {}

/** Charges every request by its price, within the account's rate, and provides {@link Payment}. */
export class Charging extends HttpApiMiddleware.Service<Charging, { provides: Payment; requires: CurrentAccount }>()(
  "@headwater/http/contract/Price/Charging",
  { error: [Failures.insufficientCredits, Failures.requestLimitReached] }
) {}
