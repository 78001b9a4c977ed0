/**
 * Charges requests by the price on the endpoint, for the results in the answer. A failed request costs nothing.
 *
 * A request that only reads is charged when the answer is known, and is answered when the charge is stored; a request
 * that changes the store is charged in the same transaction, and where it fails after that, as a broadcast that the nodes
 * refuse, the charge is given back. Whatever it costs, each request counts for the account's rate: that bounds the work,
 * and the calls of nodes, for requests that fail.
 */
import * as Ledger from "@headwater/core/Credits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { CurrentAccount } from "../contract/Authentication.ts"
import { RequestInfo } from "../contract/Envelope.ts"
import { IsLongAnswer } from "../contract/MessageSize.ts"
import { Charging, Payment, Price } from "../contract/Price.ts"
import * as RequestPayment from "./internal/RequestPayment.ts"
import * as RateLimit from "./RateLimit.ts"

/** Whether credits are charged: an operator without customers has no use for credits. */
export const CreditsEnabled = Context.Reference<boolean>("@headwater/http/server/Charging/CreditsEnabled", {
  defaultValue: () => false
})

export const layer = Layer.effect(
  Charging,
  Effect.gen(function* () {
    const limit = yield* RateLimit.fromRate
    const atOnce = yield* RateLimit.atOnce
    const inTurn = yield* RateLimit.inTurn
    const charged = yield* RequestPayment.charged(limit)
    const paymentOf = (yield* CreditsEnabled) ? charged : RequestPayment.free

    return Charging.of((asked, { endpoint }) => {
      const operation = Context.get(endpoint.annotations, Price)
      const isLong = Context.get(endpoint.annotations, IsLongAnswer)
      return Effect.contextWith((context: Context.Context<CurrentAccount | HttpRouter.RouteContext>) => {
        const { id: account } = Context.get(context, CurrentAccount)
        const { params } = Context.get(context, HttpRouter.RouteContext)
        const perResult = operation === undefined ? 0 : Ledger.price(operation, params.blockchain)
        const request = Context.get(context, RequestInfo)
        const { countedResults, payment, settle } = paymentOf(request, account, perResult, endpoint.identifier)
        const handled = isLong ? inTurn(account)(asked) : asked
        const answered = settle(atOnce(account, Effect.provideService(handled, Payment, payment)))
        const spendCounted = Effect.suspend(() => limit.spendResults(account, perResult, countedResults()))
        return Effect.andThen(limit.admit(account, perResult), Effect.ensuring(answered, spendCounted))
      })
    })
  })
)
