/**
 * Charges requests by the price on the endpoint, for the results in the answer. A failed request costs nothing.
 *
 * A request that only reads is charged when the answer is known, and is answered when the charge is stored; a request
 * that changes the store is charged in the same transaction, and where it fails after that, as a broadcast that the nodes
 * refuse, the charge is given back. Whatever it costs, each request counts for the account's rate: that bounds the work,
 * and the calls of nodes, for requests that fail.
 */
import * as Ledger from "@headwater/core/Credits"
import { CreditRules, Credits, type InsufficientCredits as TooFew } from "@headwater/indexer/store/accounts/Credits"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CurrentAccount } from "../contract/Authentication.ts"
import { RequestInfo } from "../contract/Envelope.ts"
import { InsufficientCredits } from "../contract/Errors.ts"
import { IsLongAnswer } from "../contract/MessageSize.ts"
import { Charging, Payment, Price } from "../contract/Price.ts"
import * as RateLimit from "./RateLimit.ts"

/** Whether credits are charged: an operator without customers has no use for credits. */
export const CreditsEnabled = Context.Reference<boolean>("@headwater/http/server/Charging/CreditsEnabled", {
  defaultValue: () => false
})

const refused = <A>(charged: Effect.Effect<A, TooFew | DatabaseError>) =>
  Effect.catchTag(charged, "InsufficientCredits", ({ message }) => Effect.fail(new InsufficientCredits({ message })))

const set = (request: RequestInfo, consumed: number, available: number) => {
  request.headers["x-credits-consumed"] = String(consumed)
  request.headers["x-credits-available"] = String(available)
}

const isDatabaseError = Schema.is(DatabaseError)

export const layer = Layer.effect(
  Charging,
  Effect.gen(function* () {
    const credits = yield* Credits
    const database = yield* Database
    const enabled = yield* CreditsEnabled
    const limit = yield* RateLimit.fromRate
    const atOnce = yield* RateLimit.atOnce
    const inTurn = yield* RateLimit.inTurn
    const rules = yield* CreditRules

    return Charging.of((asked, { endpoint }) => {
      const operation = Context.get(endpoint.annotations, Price)
      const isLong = Context.get(endpoint.annotations, IsLongAnswer)
      return Effect.contextWith((context: Context.Context<CurrentAccount | HttpRouter.RouteContext>) => {
        const request = Context.get(context, RequestInfo)
        const { id: account } = Context.get(context, CurrentAccount)
        const handled = isLong ? inTurn(account)(asked) : asked
        const { params } = Context.get(context, HttpRouter.RouteContext)
        const perResult = operation === undefined ? 0 : Ledger.price(operation, params.blockchain)
        const admitted = limit.admit(account, perResult)
        /** Results that were paid in parts, and those that nobody pays for: all count for the rate, however the request ends. */
        let parts = 0
        let unpaid = 0
        const countUnpaid = (results: number) =>
          Effect.sync(() => {
            unpaid += results
          })
        const spendParts = Effect.suspend(() => limit.spendResults(account, perResult, parts + unpaid))
        if (!enabled) {
          const free = Payment.of({
            paying: (change) => change,
            affordable: Effect.succeed,
            payPart: (_, results) => countUnpaid(results),
            committing: (transaction) => transaction,
            countUnpaid
          })
          const answered = atOnce(account, Effect.provideService(handled, Payment, free))
          return Effect.andThen(admitted, Effect.ensuring(answered, spendParts))
        }

        const chargeOf = (results: number) => ({
          account,
          key: `request:${request.id}`,
          amount: Ledger.ofCall(rules, perResult, results),
          results: Math.max(1, results),
          detail: endpoint.identifier
        })
        let paid = false
        /** Results that were paid in a transaction which may still fail, and what was left then. */
        let uncommitted: { readonly results: number; readonly available: number } | undefined
        /** What was paid at once, for as long as the request may fail. */
        let charged: ReturnType<typeof chargeOf> | undefined
        const payment = Payment.of({
          countUnpaid,
          affordable: (wanted) =>
            Effect.map(Effect.orDie(credits.lockBalance(account)), (balance) =>
              Ledger.affordable(balance, perResult, wanted)
            ),
          payPart: (part, results) =>
            Effect.suspend(() => {
              paid = true
              const amount = perResult * results
              const charge = { ...chargeOf(results), key: `request:${request.id}:${part}`, amount, results }
              // The balance was locked when the results were found to be affordable.
              const left = results === 0 ? credits.balance(account) : credits.chargeInTransaction(charge)
              return Effect.map(Effect.orDie(left), (available) => {
                if (results === 0) set(request, parts * perResult, available)
                else uncommitted = { results, available }
              })
            }),
          committing: (transaction) =>
            Effect.onExit(transaction, (exit) =>
              Effect.sync(() => {
                if (uncommitted === undefined) return
                const { available, results } = uncommitted
                uncommitted = undefined
                if (Exit.isFailure(exit)) {
                  unpaid += results
                  return
                }
                parts += results
                set(request, parts * perResult, available)
              })
            ),
          paying: (change, results) =>
            Effect.gen(function* () {
              const changed = yield* change
              const charge = chargeOf(results(changed))
              const available = yield* refused(credits.chargeInTransaction(charge))
              return { changed, charge, available }
            }).pipe(
              database.transaction,
              Effect.catchIf(isDatabaseError, Effect.die),
              Effect.map(({ available, changed, charge }) => {
                paid = true
                charged = charge
                set(request, charge.amount, available)
                return changed
              })
            )
        })
        const answered = atOnce(account, Effect.provideService(handled, Payment, payment)).pipe(
          Effect.tap((response): Effect.Effect<void, InsufficientCredits> => {
            // The framework answers some errors itself, without a failure.
            if (paid || response.status >= 400) return Effect.void
            const charge = chargeOf(request.results)
            const left =
              charge.amount === 0
                ? Effect.orDie(credits.balance(account))
                : Effect.catchTag(refused(credits.charge(charge)), "DatabaseError", Effect.die)
            return Effect.flatMap(left, (available) => {
              set(request, charge.amount, available)
              return limit.spend(account, charge.amount - perResult)
            })
          }),
          Effect.tapError(() =>
            Effect.map(
              Effect.orDie(charged === undefined ? credits.balance(account) : credits.giveBack(charged)),
              (left) => set(request, parts * perResult, left)
            )
          ),
          Effect.tapCauseIf(Cause.hasDies, () =>
            charged === undefined ? Effect.void : Effect.ignore(credits.giveBack(charged))
          ),
          Effect.ensuring(spendParts)
        )
        return Effect.andThen(admitted, answered)
      })
    })
  })
)
