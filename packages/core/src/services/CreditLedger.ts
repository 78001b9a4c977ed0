/** Prices and payments as a service, by an operator's rules. The pure functions are those of `Credits`. */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import * as Credits from "../Credits.ts"

export class CreditLedger extends Context.Service<
  CreditLedger,
  {
    /** Credits of one call of an operation with so many results. */
    readonly price: (operation: Credits.Operation, results: number, blockchain?: string) => number
    /** Pays amounts one after another out of a balance. */
    readonly settle: (balance: number, amounts: ReadonlyArray<number>) => Credits.Settled
  }
>()("@headwater/core/services/CreditLedger") {
  static readonly layer = (rules: Credits.Rules = Credits.defaultRules) =>
    Layer.succeed(CreditLedger, {
      price: (operation: Credits.Operation, results: number, blockchain?: string) =>
        Credits.ofCall(rules, Credits.price(operation, blockchain), results),
      settle: Credits.settle
    })
}
