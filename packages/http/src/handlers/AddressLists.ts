/** Answers the operations on lists of addresses. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import { Limits } from "@headwater/indexer/store/accounts/Limits"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AddressLists from "@headwater/indexer/store/subscriptions/AddressLists"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import { chunksOf } from "@headwater/indexer/Chunks"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as Result from "effect/Result"
import { Api } from "../contract/Api.ts"
import { CallbacksLimitReached, Conflict, InsufficientCredits } from "../contract/Errors.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import * as Pages from "../server/Pages.ts"
import { subscriptionFailures, subscriptionKey } from "../server/ReferenceId.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"
import { invalidData } from "../server/Validation.ts"
import { inTurns, pause } from "./InTurns.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"
import { detailed } from "./Subscriptions.ts"

/** So many addresses of a request count for the rate as one result, whatever comes of them. */
const addressesOfUnit = 10

/** Addresses that break a rule are named one by one, up to so many. */
const maxDetails = 20

const failures = {
  ...subscriptionFailures,
  NotAList: () => Effect.fail(new Conflict({ message: "The subscription is not on a list of addresses" }))
}

const editFailures = {
  ...failures,
  DerivedList: () =>
    Effect.fail(new Conflict({ message: "The addresses are those of the subscription's extended public key" }))
}

export const layer = HttpApiBuilder.group(
  Api,
  "addressLists",
  Effect.fnUntraced(function* (handlers) {
    const configured = yield* ConfiguredChains
    const database = yield* Database
    const limits = yield* Limits
    const policy = yield* CallbackUrlPolicy
    const subscriptions = yield* Subscriptions

    /** All addresses, or what is wrong with them. */
    const decoded = Effect.fnUntraced(function* (addresses: ReadonlyArray<string>) {
      const chain = yield* CurrentChain
      const all = yield* inTurns(addresses, (text) => Effect.sync(() => Address.decodeWithTag(chain, text)))
      const details = all.flatMap((one, i) =>
        Result.isFailure(one) ? [{ attribute: `addresses.${i}`, message: one.failure.message }] : []
      )
      if (details.length === 0) return all.filter(Result.isSuccess).map(({ success }) => success)
      return yield* invalidData(details.slice(0, maxDetails))
    })

    /** Edits a list in steps, each a transaction: what they have changed together. */
    const edit = Effect.fnUntraced(function* <E, R>(
      addresses: ReadonlyArray<string>,
      step: (some: ReadonlyArray<Address.AddressBytes>, number: number) => Effect.Effect<AddressLists.Edited, E, R>
    ) {
      const { committing, countUnpaid } = yield* Payment
      yield* countUnpaid(Math.ceil(addresses.length / addressesOfUnit))
      let changed = 0
      let total = 0
      for (const [number, some] of chunksOf(yield* decoded(addresses), AddressLists.atOnce).entries()) {
        const edited = yield* committing(database.transaction(step(some, number)))
        changed += edited.changed
        total = edited.total
        yield* pause
      }
      return { changed, total }
    })

    return handlers.handleAll({
      create: Effect.fnUntraced(
        function* ({ payload }) {
          const wanted = yield* NewSubscriptions.readList(policy, payload.data.item)
          const { paying } = yield* Payment
          return { item: detailed(yield* paying(subscriptions.createList(wanted), () => 1)) }
        },
        Effect.provideService(ConfiguredChains, configured),
        Effect.catchTags({
          DatabaseError: Effect.die,
          DuplicateSubscription: Effect.die,
          LimitReached: NewSubscriptions.refusals.LimitReached
        })
      ),
      add: Effect.fnUntraced(
        function* ({ params, payload }) {
          const key = yield* subscriptionKey(params.referenceId)
          const { affordable, payPart } = yield* Payment
          yield* payPart("", 0)
          const { changed, total } = yield* edit(payload.data.item.addresses, (some, number) =>
            AddressLists.add(key, some, (added) =>
              Effect.flatMap(affordable(added), (paid) =>
                paid === added
                  ? payPart(String(number), added)
                  : Effect.fail(new InsufficientCredits({ message: `${added} addresses cost more than is left` }))
              )
            )
          )
          return { item: { added: changed, total } }
        },
        Effect.provideService(Limits, limits),
        Effect.catchTags({
          ...editFailures,
          LimitReached: NewSubscriptions.refusals.LimitReached,
          ListFull: ({ message }) => Effect.fail(new CallbacksLimitReached({ message }))
        })
      ),
      remove: Effect.fnUntraced(function* ({ params, payload }) {
        const key = yield* subscriptionKey(params.referenceId)
        const { changed, total } = yield* edit(payload.data.item.addresses, (some) => AddressLists.remove(key, some))
        return { item: { removed: changed, total } }
      }, Effect.catchTags(editFailures)),
      list: Effect.fnUntraced(
        function* ({ params, query }) {
          const key = yield* subscriptionKey(params.referenceId)
          const name = ["address list", key.account, Chain.nameOf(key.chain), key.referenceId]
          const { page, rows } = yield* Pages.byId(name, query, 1_000, (page) =>
            Effect.map(AddressLists.list(key, page), ({ addresses }) => addresses)
          )
          const items = yield* inTurns(rows, ({ address, id: _, ...rest }) =>
            Effect.sync(() => ({ ...rest, address: Address.encode(key.chain, address)! }))
          )
          return { ...page, items }
        },
        Effect.provideService(Database, database),
        Effect.catchTags(failures)
      )
    })
  })
)
