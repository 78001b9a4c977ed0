/** Answers the operations on a subscription's callbacks. */

import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { Database } from "@headwater/indexer/store/database/Database"
import type { CallbackCopy } from "@headwater/indexer/store/subscriptions/CallbackCopies"
import { Callbacks, type FeedCallback } from "@headwater/indexer/store/subscriptions/Callbacks"
import type { Recovery } from "@headwater/indexer/store/subscriptions/Recovery"
import * as SecretRotation from "@headwater/indexer/store/subscriptions/SecretRotation"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import { Conflict, invalidField, ResourceNotFound } from "../contract/Errors.ts"
import { CallbackUrlPolicy } from "../server/CallbackUrlPolicy.ts"
import * as FeedCursor from "../server/FeedCursor.ts"
import { subscriptionFailures, subscriptionKey } from "../server/ReferenceId.ts"
import * as Stopping from "../server/Stopping.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"
import { shown as healthOf, optional } from "./Receivers.ts"
import { detailed } from "./Subscriptions.ts"

const defaultOverlapSeconds = 86_400

/** A callback as the contract has it, without its place in a feed. */
export const shown = (callback: FeedCallback) => ({
  ...optional("sequence", callback.sequence),
  idempotencyKey: callback.idempotencyKey,
  event: callback.event,
  state: callback.state,
  createdTimestamp: callback.created,
  ...optional("deliveredTimestamp", callback.delivered),
  ...optional("nextAttemptTimestamp", callback.nextAttempt),
  attempts: callback.attempts.map(({ at, duration, error, status }) => ({
    timestamp: at,
    duration,
    ...optional("statusCode", status),
    ...optional("error", error)
  })),
  body: callback.body
})

const recovering = ({ after, callbacks, last }: Recovery) => ({ afterSequence: after, lastSequence: last, callbacks })

const copying = ({ callbackUrl, due, error, ...copy }: CallbackCopy) => ({
  ...{ ...recovering(copy), callbackUrl },
  ...optional("error", error),
  ...optional("nextAttemptTimestamp", due)
})

export const layer = HttpApiBuilder.group(
  Api,
  "callbacks",
  Effect.fnUntraced(function* (handlers) {
    const callbacks = yield* Callbacks
    const policy = yield* CallbackUrlPolicy
    const database = yield* Database
    const subscriptions = yield* Subscriptions
    const stopping = yield* Stopping.Stopping

    const rotate = (...change: Parameters<typeof SecretRotation.rotate>) =>
      SecretRotation.rotate(...change).pipe(
        Effect.provideService(Database, database),
        Effect.provideService(Subscriptions, subscriptions)
      )
    const unresolved = (...asked: Parameters<typeof UnresolvedEvents.ofSubscription>) =>
      Effect.provideService(UnresolvedEvents.ofSubscription(...asked), Database, database)

    return handlers.handleAll({
      list: Effect.fnUntraced(
        function* ({ params, query }) {
          const { limit = 50, startingAfter, wait = 0 } = query
          const key = yield* subscriptionKey(params.referenceId)
          const name = ["callbacks", key.account, Chain.nameOf(key.chain), key.referenceId]
          const position = yield* FeedCursor.decode(name, startingAfter)
          const feed = yield* Stopping.waiting(
            stopping,
            (waitMillis) => callbacks.list(key, { ...position, limit }, waitMillis),
            wait * 1000
          )
          const items = feed.callbacks.map((callback) => ({
            ...shown(callback),
            // What a feed shows has a number.
            position: FeedCursor.encode(name, callback.sequence!, feed.epoch)
          }))
          return {
            limit,
            ...optional("startingAfter", startingAfter === undefined ? undefined : String(startingAfter)),
            hasMore: feed.hasMore,
            ...optional("nextStartingAfter", items.at(-1)?.position),
            items
          }
        },
        Effect.catchTags({
          ...subscriptionFailures,
          PositionRefused: FeedCursor.refused
        })
      ),
      redeliver: Effect.fnUntraced(
        function* ({ params }) {
          const key = yield* subscriptionKey(params.referenceId)
          return { item: shown(yield* callbacks.redeliver(key, params.idempotencyKey)) }
        },
        Effect.catchTags({
          ...subscriptionFailures,
          CallbackNotFound: () =>
            Effect.fail(new ResourceNotFound({ message: "The subscription has no callback with this key" })),
          CallbackNotSendable: ({ message }) => Effect.fail(new Conflict({ message }))
        })
      ),
      recover: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { afterSequence: after, callbackUrl, sinceTimestamp: time } = payload.data.item
          const key = yield* subscriptionKey(params.referenceId)
          if (callbackUrl === undefined) return { item: recovering(yield* callbacks.recover(key, { after, time })) }
          yield* policy.check(callbackUrl)
          return { item: copying(yield* callbacks.copy(key, callbackUrl, { after, time })) }
        },
        Effect.catchTags({
          ...subscriptionFailures,
          InvalidCallbackUrl: ({ rule }) => Effect.fail(invalidField("callbackUrl", rule)),
          LimitReached: NewSubscriptions.refusals.LimitReached
        })
      ),
      test: Effect.fnUntraced(function* ({ params }) {
        return { item: shown(yield* callbacks.test(yield* subscriptionKey(params.referenceId))) }
      }, Effect.catchTags(subscriptionFailures)),
      rotateSecret: Effect.fnUntraced(function* ({ params, payload }) {
        const key = yield* subscriptionKey(params.referenceId)
        const { callbackSecretKey, overlapSeconds = defaultOverlapSeconds } = payload.data.item
        return { item: detailed(yield* rotate(key, callbackSecretKey, overlapSeconds * 1000)) }
      }, Effect.catchTags(subscriptionFailures)),
      unresolved: Effect.fnUntraced(function* ({ params, query }) {
        const { limit = 50, offset = 0 } = query
        const { chain, id } = yield* subscriptions.get(yield* subscriptionKey(params.referenceId))
        const { events, total } = yield* unresolved(id, { limit, offset })
        const items = events.map(({ address, height, reason, transactionId }) => ({
          // Every address was decoded from text of the same chain.
          address: Address.encode(chain, address)!,
          transactionId: Hash.encode(chain, transactionId),
          minedInBlockHeight: height,
          reason,
          remedy: UnresolvedEvents.remedy
        }))
        return { limit, offset, total, items }
      }, Effect.catchTags(subscriptionFailures)),
      status: Effect.fnUntraced(function* ({ params }) {
        const key = yield* subscriptionKey(params.referenceId)
        const { active, created, event, id } = yield* subscriptions.get(key)
        const status = yield* callbacks.status(key)
        const { total } = yield* unresolved(id, { limit: 1, offset: 0 })
        return {
          item: {
            eventType: event,
            isActive: active,
            createdTimestamp: created,
            ...optional("evaluatedHeight", status.evaluatedHeight),
            ...optional("lastMatchTimestamp", status.lastMatch),
            ...optional("lastDeliveryTimestamp", status.lastDelivery),
            lastSequence: status.lastSequence,
            waiting: status.waiting,
            retrying: status.retrying,
            unresolved: total,
            held: status.parked,
            ...optional("heldSinceTimestamp", status.parkedSince),
            ...optional("gapFromHeight", status.gapFrom),
            ...optional("recovery", status.recovery && recovering(status.recovery)),
            ...optional("copy", status.copy && copying(status.copy)),
            delivery: healthOf(status.health),
            heldSecondsLimit: Math.floor(status.parkedMillis / 1000),
            heldCountLimit: status.parkedCount
          }
        }
      }, Effect.catchTags(subscriptionFailures))
    })
  })
)
