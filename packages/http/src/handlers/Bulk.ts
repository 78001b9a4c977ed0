/** Answers the operations on many subscriptions, in steps between which others have their turn. */
import * as Chain from "@headwater/core/chains/Chain"
import { chunksOf } from "@headwater/indexer/Chunks"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api } from "../contract/Api.ts"
import { CurrentAccount } from "../contract/Authentication.ts"
import { conflictingField } from "../contract/Errors.ts"
import { Payment } from "../contract/Price.ts"
import { CurrentChain } from "../contract/RequestedChain.ts"
import * as Pages from "../server/Pages.ts"
import { isReferenceId, subscriptionNotFound } from "../server/ReferenceId.ts"
import * as BulkCreation from "./BulkCreation.ts"
import * as BulkItems from "./BulkItems.ts"
import { inTurns, pause } from "./InTurns.ts"
import * as NewSubscriptions from "./NewSubscriptions.ts"
import { listed, visible } from "./Subscriptions.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "bulk",
  Effect.fnUntraced(function* (handlers) {
    const subscriptions = yield* Subscriptions
    const create = yield* BulkCreation.make

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
        for (const some of chunksOf(referenceIds, BulkCreation.stepSize)) {
          const distinct = new Set(some.filter(isReferenceId))
          yield* countUnpaid(some.length)
          const removed = yield* Effect.orDie(subscriptions.removeMany({ account, chain }, [...distinct]))
          for (const referenceId of some) {
            // Named twice, it is gone the second time.
            const isRemoved = removed.has(referenceId) && distinct.delete(referenceId)
            answers.push(isRemoved ? { item: { referenceId } } : BulkItems.outcomeOf(subscriptionNotFound))
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
