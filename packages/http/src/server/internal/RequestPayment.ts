/** How one request is paid for: what its handler pays, what its answer costs, and what is given back where it fails. */
import * as Ledger from "@headwater/core/Credits"
import { CreditRules, Credits, type InsufficientCredits as TooFew } from "@headwater/indexer/store/accounts/Credits"
import { Database, DatabaseError } from "@headwater/indexer/store/database/Database"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type { RequestInfo } from "../../contract/Envelope.ts"
import { InsufficientCredits } from "../../contract/Errors.ts"
import { Payment } from "../../contract/Price.ts"
import type { RateLimit } from "../RateLimit.ts"

export interface RequestPayment {
  /** For the handler of the request. */
  readonly payment: Payment["Service"]
  /** Charges a request that has only read for its answer, and gives back what a request that fails has paid at once. */
  readonly settle: <E, R>(
    answered: Effect.Effect<HttpServerResponse, E, R>
  ) => Effect.Effect<HttpServerResponse, E | InsufficientCredits, R>
  /** Results that were paid in parts, and those that nobody pays for: all count for the rate, however the request ends. */
  readonly countedResults: () => number
}

const isDatabaseError = Schema.is(DatabaseError)

const refused = <A>(charged: Effect.Effect<A, TooFew | DatabaseError>) =>
  Effect.catchTag(charged, "InsufficientCredits", ({ message }) => Effect.fail(new InsufficientCredits({ message })))

/** Of a request for which nobody pays. */
export const free = (): RequestPayment => {
  let unpaid = 0
  const countUnpaid = (results: number) =>
    Effect.sync(() => {
      unpaid += results
    })
  return {
    payment: Payment.of({
      paying: (change) => change,
      affordable: Effect.succeed,
      payPart: (_, results) => countUnpaid(results),
      committing: (transaction) => transaction,
      countUnpaid
    }),
    settle: (answered) => answered,
    countedResults: () => unpaid
  }
}

/** Of requests whose account pays for them, within its rate. */
export const charged = Effect.fnUntraced(function* (limit: RateLimit) {
  const rules = yield* CreditRules
  const credits = yield* Credits
  const database = yield* Database

  /** `perResult`: the price of a result, in credits; `detail`: the operation, as the account's ledger names it. */
  return (request: RequestInfo, account: number, perResult: number, detail: string): RequestPayment => {
    const chargeOf = (results: number) => ({
      account,
      key: `request:${request.id}`,
      amount: Ledger.ofCall(rules, perResult, results),
      results: Math.max(1, results),
      detail
    })
    const tell = (consumed: number, available: number) => {
      request.headers["x-credits-consumed"] = String(consumed)
      request.headers["x-credits-available"] = String(available)
    }
    let isPaid = false
    /** Results that were paid in parts, and those that nobody pays for. */
    let parts = 0
    let unpaid = 0
    /** Results that were paid in a transaction which may still fail, and what was left then. */
    let uncommitted: { readonly results: number; readonly available: number } | undefined
    /** What was paid at once, for as long as the request may fail. */
    let atOnce: ReturnType<typeof chargeOf> | undefined

    const paying: Payment["Service"]["paying"] = (change, results) =>
      Effect.gen(function* () {
        const changed = yield* change
        const charge = chargeOf(results(changed))
        const available = yield* refused(credits.chargeInTransaction(charge))
        return { changed, charge, available }
      }).pipe(
        database.transaction,
        Effect.catchIf(isDatabaseError, Effect.die),
        Effect.map(({ available, changed, charge }) => {
          isPaid = true
          atOnce = charge
          tell(charge.amount, available)
          return changed
        })
      )

    const payPart = Effect.fnUntraced(function* (part: string, results: number) {
      isPaid = true
      if (results === 0) return tell(parts * perResult, yield* credits.balance(account))
      // The balance was locked when the results were found to be affordable.
      const available = yield* credits.chargeInTransaction({
        ...chargeOf(results),
        ...{ key: `request:${request.id}:${part}`, amount: perResult * results, results }
      })
      uncommitted = { results, available }
    }, Effect.orDie)

    const committing: Payment["Service"]["committing"] = (transaction) =>
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
          tell(parts * perResult, available)
        })
      )

    const chargeAnswer = Effect.fnUntraced(function* (response: HttpServerResponse) {
      // The framework answers some errors itself, without a failure.
      if (isPaid || response.status >= 400) return
      const charge = chargeOf(request.results)
      const available =
        charge.amount === 0
          ? yield* Effect.orDie(credits.balance(account))
          : yield* Effect.catchTag(refused(credits.charge(charge)), "DatabaseError", Effect.die)
      tell(charge.amount, available)
      yield* limit.spend(account, charge.amount - perResult)
    })

    const tellRefund = Effect.suspend(() =>
      Effect.orDie(atOnce === undefined ? credits.balance(account) : credits.giveBack(atOnce))
    ).pipe(Effect.map((available) => tell(parts * perResult, available)))

    const giveBack = Effect.suspend(() =>
      atOnce === undefined ? Effect.void : Effect.ignore(credits.giveBack(atOnce))
    )

    return {
      payment: Payment.of({
        paying,
        affordable: (wanted) =>
          Effect.map(Effect.orDie(credits.lockBalance(account)), (balance) =>
            Ledger.affordable(balance, perResult, wanted)
          ),
        payPart,
        committing,
        countUnpaid: (results) =>
          Effect.sync(() => {
            unpaid += results
          })
      }),
      settle: (answered) =>
        answered.pipe(
          Effect.tap(chargeAnswer),
          Effect.tapError(() => tellRefund),
          Effect.tapCauseIf(Cause.hasDies, () => giveBack)
        ),
      countedResults: () => parts + unpaid
    }
  }
})
