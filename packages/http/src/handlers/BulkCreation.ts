/** Makes the subscriptions of one request, in steps between which others have their turn, and once however often it is sent. */
import type { EventType } from "@headwater/core/events/EventType"
import { chunksOf } from "@headwater/indexer/Chunks"
import { Database } from "@headwater/indexer/store/database/Database"
import * as BulkRequests from "@headwater/indexer/store/subscriptions/BulkRequests"
import { type NewSubscription, type Refusal, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CurrentAccount } from "../contract/Authentication.ts"
import { InsufficientCredits, InvalidData } from "../contract/Errors.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import * as CallbackUrlPolicy from "../server/CallbackUrlPolicy.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"
import * as BulkItems from "./BulkItems.ts"
import { inTurns, pause } from "./InTurns.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"

/** Items of one transaction: some dozens of milliseconds, for which other changes of subscriptions wait. */
export const stepSize = 200

const unpaid = new InsufficientCredits({ message: "The account has too few credits left for this subscription" })

/** An item that another release could not read, in a request that is asked again. */
const readSince = new InvalidData({ message: "The item was refused: ask for it under another key", details: [] })

/** Another answer to the same request has gone on with it meanwhile. */
class Overtaken extends Schema.TaggedError<Overtaken>()("Overtaken", {}) {}

export const make = Effect.gen(function* () {
  const configured = yield* ConfiguredChains
  const database = yield* Database
  const subscriptions = yield* Subscriptions
  const policy = yield* CallbackUrlPolicy.CallbackUrlPolicy

  /** What items ask of the store, each with the rules beyond its schema, or its error. */
  const checker = () => {
    const urls = CallbackUrlPolicy.oncePerHost(policy)
    const served = new Map<EventType, Result.Result<void, BulkItems.Refused>>()
    return Effect.fnUntraced(function* ({ event, item }: BulkItems.Asked) {
      let serves = served.get(event)
      if (serves === undefined) {
        const checked = Effect.provideService(NewSubscriptions.checkEvent(event), ConfiguredChains, configured)
        serves = yield* Effect.result(checked)
        served.set(event, serves)
      }
      yield* Effect.fromResult(serves)
      return yield* NewSubscriptions.read(urls, event, item)
    })
  }

  /** In a transaction: makes what can be made of those items that their schemas read, as far as the account can pay. */
  const makeStep = Effect.fnUntraced(function* (
    position: number,
    items: ReadonlyArray<Result.Result<NewSubscription, BulkItems.Refused> | undefined>
  ) {
    const chain = yield* CurrentChain
    const { id: account } = yield* CurrentAccount
    const { affordable, countUnpaid, payPart } = yield* Payment
    const wanted = items.flatMap((item) => (item !== undefined && Result.isSuccess(item) ? [item.success] : []))
    const made = yield* subscriptions.createMany(account, chain, wanted, affordable)
    const paid = made.filter(Result.isSuccess).length
    yield* payPart(String(position), paid)
    yield* countUnpaid(items.length - paid)
    const refused = (error: Refusal): BulkItems.Refused => {
      switch (error._tag) {
        case "DuplicateSubscription":
          return NewSubscriptions.refusals.DuplicateSubscription(error)
        case "LimitReached":
          return NewSubscriptions.refusals.LimitReached(error)
        case "Unpaid":
          return unpaid
      }
    }
    let next = 0
    return items.map(
      (item): BulkRequests.Outcome =>
        item === undefined
          ? null
          : Result.isFailure(item)
            ? BulkItems.outcomeOf(item.failure)
            : Result.match(made[next++]!, {
                onFailure: (error) => BulkItems.outcomeOf(refused(error)),
                onSuccess: (one) => one
              })
    )
  })

  const canPay = Effect.gen(function* () {
    const { affordable } = yield* Payment
    if ((yield* affordable(1)) === 0) return yield* unpaid
  })

  const attempt = Effect.fn("BulkCreation.create")(
    function* (key: string, items: ReadonlyArray<unknown>) {
      const chain = yield* CurrentChain
      const { id: account } = yield* CurrentAccount
      const check = checker()
      const { done, id } = yield* BulkRequests.begin({ account, key, digest: BulkItems.digestOf(chain, items) }, canPay)
      // What was done before is answered again, and costs nothing.
      yield* (yield* Payment).payPart("", 0)
      const outcomes = done === 0 ? [] : [...(yield* BulkRequests.outcomes(id))]
      yield* (yield* Payment).countUnpaid(outcomes.length)
      const answers: Array<object> = []
      for (const some of chunksOf(items, stepSize)) {
        const asked = yield* inTurns(some, (item) => Effect.succeed(BulkItems.decoded(item)))
        // Steps of another release may have had another size.
        const left = asked.slice(Math.max(0, outcomes.length - answers.length))
        if (left.length > 0) {
          const checked = yield* inTurns(left, (one) =>
            Result.isFailure(one) ? Effect.undefined : Effect.result(check(one.success))
          )
          const { committing } = yield* Payment
          const made = yield* committing(BulkRequests.step(id, outcomes.length, makeStep(outcomes.length, checked)))
          if (made === undefined) return yield* new Overtaken()
          outcomes.push(...made)
          yield* pause
        }
        yield* inTurns(asked, (one) =>
          Effect.sync(() => {
            const outcome = outcomes[answers.length]!
            if (outcome === null) answers.push(BulkItems.outcomeOf(Result.getOrElse(Result.flip(one), () => readSince)))
            else
              answers.push(
                "error" in outcome ? outcome : { item: BulkItems.created(chain, Result.getOrThrow(one), outcome) }
              )
          })
        )
      }
      return answers
    },
    Effect.provideService(Database, database)
  )
  /** What became of each item, in their order; `key` is the request's own. */
  return (key: string, items: ReadonlyArray<unknown>) =>
    Effect.retry(attempt(key, items), { while: ({ _tag }) => _tag === "Overtaken" })
})
