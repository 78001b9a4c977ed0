/** The credits of accounts: balances, charges and statements. */
import { defaultRules, type Rules } from "@headwater/core/Credits"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database, type DatabaseError } from "../database/Database.ts"
import { RecurringTasks } from "../database/RecurringTasks.ts"
import * as CallbackCharges from "./internal/CallbackCharges.ts"
import * as CreditLedger from "./internal/CreditLedger.ts"
import * as DailyCharges from "./internal/DailyCharges.ts"
import * as RequestCharges from "./internal/RequestCharges.ts"

export { type CreditEntry, DuplicateEntry } from "./internal/CreditLedger.ts"
export { type Charge, InsufficientCredits } from "./internal/RequestCharges.ts"

/** How often the clock is looked at for days that are over. */
const dailyMillis = 60_000

/** The operator's rules of charging. */
export const CreditRules = Context.Reference<Rules>("@headwater/indexer/store/accounts/Credits/CreditRules", {
  defaultValue: () => defaultRules
})

export class Credits extends Context.Service<
  Credits,
  {
    readonly balance: (account: number) => Effect.Effect<number, DatabaseError>
    /** The balance, which nobody else changes until the surrounding transaction ends. */
    readonly lockBalance: (account: number) => Effect.Effect<number, DatabaseError>
    /** Adds credits and gives the new balance. */
    readonly grant: (grant: CreditLedger.Grant) => Effect.Effect<number, CreditLedger.DuplicateEntry | DatabaseError>
    /** Entries of an account, newest or oldest first. */
    readonly statement: (
      account: number,
      page: CreditLedger.StatementPage
    ) => Effect.Effect<ReadonlyArray<CreditLedger.CreditEntry>, DatabaseError>
    /** Takes credits and gives the balance after that, once the entry is written. */
    readonly charge: (
      charge: RequestCharges.Charge
    ) => Effect.Effect<number, RequestCharges.InsufficientCredits | DatabaseError>
    /** As `charge`, as a part of the surrounding transaction: the credits are taken if that commits. */
    readonly chargeInTransaction: (
      charge: RequestCharges.Charge
    ) => Effect.Effect<number, RequestCharges.InsufficientCredits | DatabaseError>
    /** Gives a charge back whose request failed after it had been paid for; the balance after that. */
    readonly giveBack: (charge: RequestCharges.Charge) => Effect.Effect<number, DatabaseError>
    /** In the transaction that notes that callbacks were sent: takes their price, at most the balance. */
    readonly chargeCallbacks: (sent: ReadonlyArray<CallbackCharges.Sent>) => Effect.Effect<void, DatabaseError>
    /**
     * Takes the price of the days that are over, each day once however often this is run. Subscriptions that an account
     * cannot pay for are deactivated, the newest first.
     */
    readonly chargeDays: Effect.Effect<DailyCharges.Charged, DatabaseError>
  }
>()("@headwater/indexer/store/accounts/Credits") {
  static readonly layer = Layer.effect(
    Credits,
    Effect.suspend(() => make)
  )

  /**
   * Charges the days that are over, at the start and whenever another one is. The clock is looked at each minute, with no
   * sleep until midnight: a machine that was suspended is charged for when it wakes.
   */
  static readonly daily = Layer.effectDiscard(
    Effect.gen(function* () {
      const { chargeDays } = yield* Credits
      const { whenDue } = yield* RecurringTasks
      const charge = chargeDays.pipe(
        Effect.tap(({ credits, days, deactivated }) =>
          days === 0
            ? Effect.void
            : Effect.logInfo(`Charged ${credits} credits for ${days} days, deactivated ${deactivated} subscriptions`)
        )
      )
      yield* whenDue("daily charges", dailyMillis, charge).pipe(
        Effect.catchCause((cause) =>
          Effect.as(Effect.logError("Daily charges failed, tried again in a minute", cause), dailyMillis)
        ),
        Effect.flatMap((millis) => Effect.sleep(millis)),
        Effect.forever,
        Effect.forkScoped
      )
    })
  )
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const rules = yield* CreditRules
  const charge = yield* RequestCharges.make

  const onDatabase = Effect.provideService(Database, database)

  return Credits.of({
    balance: (account) => onDatabase(CreditLedger.balance(account)),
    lockBalance: (account) => onDatabase(CreditLedger.lock(account)),
    grant: Effect.fn("Credits.grant")(CreditLedger.grant, onDatabase),
    statement: Effect.fn("Credits.statement")(CreditLedger.statement, onDatabase),
    charge,
    chargeInTransaction: (charge) => onDatabase(RequestCharges.chargeInTransaction(charge)),
    giveBack: Effect.fn("Credits.giveBack")(RequestCharges.giveBack, onDatabase),
    chargeCallbacks: (sent) => onDatabase(CallbackCharges.charge(rules, sent)),
    chargeDays: onDatabase(DailyCharges.charge(rules))
  })
})
