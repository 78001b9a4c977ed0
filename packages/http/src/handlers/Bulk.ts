/** Answers the operations on many subscriptions, in steps between which others have their turn. */
import { createHash } from "node:crypto"
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as CallbackUrl from "@headwater/core/events/CallbackUrl"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { EventType } from "@headwater/core/events/EventType"
import * as Hash from "@headwater/core/Hash"
import { Database } from "@headwater/indexer/store/database/Database"
import * as BulkRequests from "@headwater/indexer/store/subscriptions/BulkRequests"
import { type NewSubscription, type Refusal, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { chunksOf } from "@headwater/indexer/Chunks"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { conflictingField, InsufficientCredits, InvalidData } from "../contract/Errors.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import { type NewItem, requestOf } from "../contract/SubscriptionItems.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import * as Pages from "../server/Pages.ts"
import { isReferenceId, subscriptionNotFound } from "../server/ReferenceId.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"
import { detailsOf, invalidData } from "../server/Validation.ts"
import { inTurns, pause } from "./InTurns.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"
import { listed, visible } from "./Subscriptions.ts"

/** Items of one transaction: some dozens of milliseconds, for which other changes of subscriptions wait. */
const stepSize = 200
/** Hosts of callbacks that one request may name: each is looked up. */
const maxHosts = 100

interface Refused {
  readonly _tag: string
  readonly message: string
  readonly details?: ReadonlyArray<{ readonly attribute: string; readonly message: string }>
}

const outcomeOf = ({ _tag, details, message }: Refused): Exclude<BulkRequests.Outcome, null> => ({
  error: { code: _tag, message, ...(details === undefined ? {} : { details }) }
})

interface Asked {
  readonly event: EventType
  readonly item: NewItem
}

/** An item by the schema of its event. */
const decoded = (item: unknown): Result.Result<Asked, InvalidData> => {
  const event = Predicate.isObject(item) && "eventType" in item ? item.eventType : undefined
  if (!Schema.is(EventType)(event)) {
    const message = `must be one of ${EventType.literals.join(", ")}`
    return Result.fail(invalidData([{ attribute: "eventType", message }]))
  }
  return Result.mapBoth(Schema.decodeUnknownResult(requestOf(event), { errors: "all" })(item), {
    onFailure: ({ issue }) => invalidData(detailsOf(issue)),
    onSuccess: (item) => ({ event, item })
  })
}

/** What a request asks for. Whether a secret is meant counts, and not which: what is stored of it could be guessed. */
const digestOf = (chain: Chain.Chain, items: ReadonlyArray<unknown>) =>
  createHash("sha256")
    .update(JSON.stringify([Chain.nameOf(chain), items], (key, value) => (key === "callbackSecretKey" ? true : value)))
    .digest()

/** Checks URLs as `policy` does, which looks at each host once in a request. */
const oncePerHost = (policy: CallbackUrlPolicy): CallbackUrlPolicy => {
  const hosts = new Map<string, Result.Result<URL, CallbackUrl.InvalidCallbackUrl>>()
  return {
    check: Effect.fnUntraced(function* (text) {
      // The text by itself, wherever it leads.
      const url = Result.flatMap(
        Result.try(() => new URL(text)),
        ({ hostname }) => CallbackUrl.parse(text, new Set([hostname]))
      )
      if (Result.isFailure(url)) return yield* policy.check(text)
      const { host } = url.success
      let checked = hosts.get(host)
      if (checked === undefined) {
        if (hosts.size === maxHosts) {
          return yield* new CallbackUrl.InvalidCallbackUrl({ rule: `must be on one of ${maxHosts} hosts in a request` })
        }
        checked = yield* Effect.result(policy.check(text))
        hosts.set(host, checked)
      }
      return yield* Effect.fromResult(Result.map(checked, () => url.success))
    })
  }
}

/** A subscription that was made, from what was asked for. */
const created = (
  chain: Chain.Chain,
  { event, item }: Asked,
  { created, referenceId }: Exclude<BulkRequests.Outcome, null | { readonly error: unknown }>
) => {
  const { confirmations: name } = eventKinds[event]
  const filter = NewSubscriptions.filterOf(chain, item)
  const address = item.address === undefined ? undefined : Address.decodeWithTag(chain, item.address)
  const transactionId = NewSubscriptions.transactionOf(item)
  return {
    ...(address === undefined ? {} : { address: Address.encode(chain, Result.getOrThrow(address))! }),
    ...(filter === undefined ? {} : { filter }),
    ...(transactionId === undefined ? {} : { transactionId: Hash.encode(chain, transactionId) }),
    ...(name === "none" ? {} : { [name]: item.confirmationsCount ?? item.receiveCallbackOn ?? 1 }),
    ...{ callbackUrl: item.callbackUrl, createdTimestamp: created, eventType: event, isActive: true, referenceId }
  }
}

const unpaid = new InsufficientCredits({ message: "The account has too few credits left for this subscription" })

/** An item that another release could not read, in a request that is asked again. */
const readSince = new InvalidData({ message: "The item was refused: ask for it under another key", details: [] })

/** Another answer to the same request has gone on with it meanwhile. */
class Overtaken extends Schema.TaggedError<Overtaken>()("Overtaken", {}) {}

export const layer = HttpApiBuilder.group(
  Api,
  "bulk",
  Effect.fnUntraced(function* (handlers) {
    const configured = yield* ConfiguredChains
    const database = yield* Database
    const subscriptions = yield* Subscriptions
    const policy = yield* CallbackUrlPolicy

    /** What items ask of the store, each with the rules beyond its schema, or its error. */
    const checker = () => {
      const urls = oncePerHost(policy)
      const served = new Map<EventType, Result.Result<void, Refused>>()
      return Effect.fnUntraced(function* ({ event, item }: Asked) {
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
    const make = Effect.fnUntraced(function* (
      position: number,
      items: ReadonlyArray<Result.Result<NewSubscription, Refused> | undefined>
    ) {
      const chain = yield* CurrentChain
      const { id: account } = yield* CurrentAccount
      const { affordable, countUnpaid, payPart } = yield* Payment
      const wanted = items.flatMap((item) => (item !== undefined && Result.isSuccess(item) ? [item.success] : []))
      const made = yield* subscriptions.createMany(account, chain, wanted, affordable)
      const paid = made.filter(Result.isSuccess).length
      yield* payPart(String(position), paid)
      yield* countUnpaid(items.length - paid)
      const refused = (error: Refusal): Refused => {
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
              ? outcomeOf(item.failure)
              : Result.match(made[next++]!, {
                  onFailure: (error) => outcomeOf(refused(error)),
                  onSuccess: (one) => one
                })
      )
    })

    const canPay = Effect.gen(function* () {
      const { affordable } = yield* Payment
      if ((yield* affordable(1)) === 0) return yield* unpaid
    })

    const attempt = Effect.fn("BulkHandlers.create")(
      function* (key: string, items: ReadonlyArray<unknown>) {
        const chain = yield* CurrentChain
        const { id: account } = yield* CurrentAccount
        const check = checker()
        const { done, id } = yield* BulkRequests.begin({ account, key, digest: digestOf(chain, items) }, canPay)
        // What was done before is answered again, and costs nothing.
        yield* (yield* Payment).payPart("", 0)
        const outcomes = done === 0 ? [] : [...(yield* BulkRequests.outcomes(id))]
        yield* (yield* Payment).countUnpaid(outcomes.length)
        const answers: Array<object> = []
        for (const some of chunksOf(items, stepSize)) {
          const asked = yield* inTurns(some, (item) => Effect.succeed(decoded(item)))
          // Steps of another release may have had another size.
          const left = asked.slice(Math.max(0, outcomes.length - answers.length))
          if (left.length > 0) {
            const checked = yield* inTurns(left, (one) =>
              Result.isFailure(one) ? Effect.undefined : Effect.result(check(one.success))
            )
            const { committing } = yield* Payment
            const made = yield* committing(BulkRequests.step(id, outcomes.length, make(outcomes.length, checked)))
            if (made === undefined) return yield* new Overtaken()
            outcomes.push(...made)
            yield* pause
          }
          yield* inTurns(asked, (one) =>
            Effect.sync(() => {
              const outcome = outcomes[answers.length]!
              if (outcome === null) answers.push(outcomeOf(Result.getOrElse(Result.flip(one), () => readSince)))
              else
                answers.push("error" in outcome ? outcome : { item: created(chain, Result.getOrThrow(one), outcome) })
            })
          )
        }
        return answers
      },
      Effect.provideService(Database, database)
    )
    const create = (...asked: Parameters<typeof attempt>) =>
      Effect.retry(attempt(...asked), { while: ({ _tag }) => _tag === "Overtaken" })

    return handlers.handleAll({
      create: Effect.fnUntraced(
        function* ({ payload }) {
          const { idempotencyKey, items } = payload.data.item
          return { items: yield* create(idempotencyKey, items) }
        },
        Effect.catchTags({
          BulkKeyUsed: () =>
            Effect.fail(
              conflictingField("idempotencyKey", "was used for another request of this account; choose a new one")
            ),
          LimitReached: NewSubscriptions.refusals.LimitReached,
          Overtaken: Effect.die,
          DatabaseError: Effect.die
        })
      ),
      delete: Effect.fnUntraced(function* ({ payload }) {
        const chain = yield* CurrentChain
        const { id: account } = yield* CurrentAccount
        const { referenceIds } = payload.data.item
        const { countUnpaid } = yield* Payment
        const answers: Array<object> = []
        for (const some of chunksOf(referenceIds, stepSize)) {
          const distinct = new Set(some.filter(isReferenceId))
          yield* countUnpaid(some.length)
          const removed = yield* Effect.orDie(subscriptions.removeMany({ account, chain }, [...distinct]))
          for (const referenceId of some) {
            // Named twice, it is gone the second time.
            const isRemoved = removed.has(referenceId) && distinct.delete(referenceId)
            answers.push(isRemoved ? { item: { referenceId } } : outcomeOf(subscriptionNotFound))
          }
          yield* pause
        }
        return { items: answers }
      }),
      list: Effect.fnUntraced(function* ({ query }) {
        const chain = yield* CurrentChain
        const { id: account } = yield* CurrentAccount
        const name = ["bulk subscriptions", account, Chain.nameOf(chain)]
        const { page, rows } = yield* Pages.byId(name, query, 1_000, (page) =>
          Effect.orDie(subscriptions.listAfter({ account, chain }, page))
        )
        return { ...page, items: yield* inTurns(rows.map(listed), visible) }
      })
    })
  })
)
