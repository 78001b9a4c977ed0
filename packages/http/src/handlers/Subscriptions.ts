/** Answers the operations on callback subscriptions. */
import * as Address from "@headwater/core/address/Address"
import { eventKinds } from "@headwater/core/events/EventKinds"
import { broadcastSubscription, EventType } from "@headwater/core/events/EventType"
import * as Hash from "@headwater/core/Hash"
import { type Subscription, Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { Conflict } from "../contract/Errors.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import type { NewItem } from "../contract/SubscriptionItems.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import { subscriptionFailures, subscriptionKey } from "../server/ReferenceId.ts"
import { ConfiguredChains } from "../server/RequestedChain.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"

const addressText = ({ address, chain }: Subscription) =>
  // Every address was decoded from text of the same chain.
  address === undefined ? "" : Address.encode(chain, address)!

const transactionText = ({ chain, transactionId }: Subscription) =>
  transactionId === undefined ? "" : Hash.encode(chain, transactionId)

const transactionOf = (subscription: Subscription) =>
  subscription.transactionId === undefined ? {} : { transactionId: transactionText(subscription) }

const filterOf = ({ filter }: Subscription) => (filter === undefined ? {} : { filter })

const secretOf = ({ secret }: Subscription) => (secret === undefined ? {} : { callbackSecretKey: secret })

/** A subscription as the answer to its creation: the contract drops the fields that the event does not have. */
const created = (eventType: EventType, subscription: Subscription) => ({
  ...filterOf(subscription),
  address: addressText(subscription),
  callbackSecretKey: subscription.secret ?? "",
  callbackUrl: subscription.callbackUrl,
  confirmationsCount: subscription.confirmations,
  createdTimestamp: subscription.created,
  eventType,
  isActive: subscription.active,
  receiveCallbackOn: subscription.confirmations,
  referenceId: subscription.referenceId,
  transactionId: transactionText(subscription)
})

const state = (subscription: Subscription) => ({
  ...secretOf(subscription),
  ...filterOf(subscription),
  ...transactionOf(subscription),
  callbackUrl: subscription.callbackUrl,
  createdTimestamp: subscription.created,
  ...(subscription.active ? {} : { deactivationReasons: subscription.deactivationReasons }),
  eventType: subscription.event,
  isActive: subscription.active,
  referenceId: subscription.referenceId
})

/** Whether a subscription to the event names a confirmation. */
const confirms = ({ event }: Subscription) =>
  event !== broadcastSubscription && eventKinds[event].confirmations !== "none"

export const listed = (subscription: Subscription) => ({
  ...state(subscription),
  address: addressText(subscription),
  confirmationsCount: confirms(subscription) ? subscription.confirmations : 0
})

/** As a key sees it: one that may only read signs nothing, and is shown no secret. */
export const visible = <A extends { readonly callbackSecretKey?: string }>(item: A) =>
  Effect.map(CurrentAccount, ({ readOnly }): A => {
    const { callbackSecretKey: _, ...rest } = item
    return readOnly ? (rest as A) : item
  })

/** A subscription in full. */
export const detailed = (subscription: Subscription) => ({
  ...state(subscription),
  ...(subscription.address === undefined ? {} : { address: addressText(subscription) }),
  ...(confirms(subscription) ? { confirmationsCount: subscription.confirmations } : {}),
  blockchain: subscription.chain.blockchain,
  network: subscription.chain.network
})

/** With the fields that it does not have, which are empty. */
const changed = (subscription: Subscription) => ({
  ...detailed(subscription),
  ...listed(subscription),
  callbackSecretKey: subscription.secret ?? "",
  transactionId: transactionText(subscription)
})

export const layer = HttpApiBuilder.group(
  Api,
  "subscriptions",
  Effect.fnUntraced(function* (handlers) {
    const configured = yield* ConfiguredChains
    const subscriptions = yield* Subscriptions
    const policy = yield* CallbackUrlPolicy

    const create = Effect.fn("SubscriptionsHandlers.create")(function* (event: EventType, item: NewItem) {
      yield* Effect.provideService(NewSubscriptions.checkEvent(event), ConfiguredChains, configured)
      const created = subscriptions.create(yield* NewSubscriptions.read(policy, event, item))
      const { paying } = yield* Payment
      return yield* paying(created, () => 1).pipe(
        Effect.catchTags({
          ...NewSubscriptions.refusals,
          DatabaseError: Effect.die
        })
      )
    })

    const subscribe =
      (event: EventType) =>
      ({ payload }: { readonly payload: { readonly data: { readonly item: NewItem } } }) =>
        Effect.map(create(event, payload.data.item), (subscription) => ({ item: created(event, subscription) }))
    const creates = Object.fromEntries(
      EventType.literals.map((event) => [eventKinds[event].path, subscribe(event)])
    ) as { readonly [E in EventType as (typeof eventKinds)[E]["path"]]: ReturnType<typeof subscribe> }

    return handlers.handleAll({
      ...creates,
      list: Effect.fnUntraced(function* ({ query }) {
        const chain = yield* CurrentChain
        const { id: account } = yield* CurrentAccount
        const { limit = 10, offset = 0 } = query
        const found = yield* Effect.orDie(subscriptions.list({ account, chain }, { limit, offset }))
        const items = yield* Effect.forEach(found.subscriptions.map(listed), visible)
        return { limit, offset, total: found.total, items }
      }),
      get: Effect.fnUntraced(function* ({ params }) {
        return {
          item: yield* visible(detailed(yield* subscriptions.get(yield* subscriptionKey(params.referenceId))))
        }
      }, Effect.catchTags(subscriptionFailures)),
      delete: Effect.fnUntraced(function* ({ params }) {
        return { item: changed(yield* subscriptions.remove(yield* subscriptionKey(params.referenceId))) }
      }, Effect.catchTags(subscriptionFailures)),
      activate: Effect.fnUntraced(
        function* ({ params }) {
          const { paying } = yield* Payment
          const activated = subscriptions.activate(yield* subscriptionKey(params.referenceId))
          return { item: changed(yield* paying(activated, () => 1)) }
        },
        Effect.catchTags({
          ...subscriptionFailures,
          SubscriptionActive: () => Effect.fail(new Conflict({ message: "The subscription is active already" }))
        })
      )
    })
  })
)
