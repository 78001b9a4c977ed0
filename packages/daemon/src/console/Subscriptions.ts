/** Subscriptions and their callbacks: found, shown, and what is done to them. */
import type * as Chain from "@headwater/core/chains/Chain"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import type { OperatorView } from "@headwater/indexer/store/operator/OperatorView"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import type * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Schema from "effect/Schema"
import * as Access from "./Access.ts"
import type * as AccountPace from "./AccountPace.ts"
import type * as Audited from "./Audited.ts"
import { bodyOf, json, noAccount, noSuch, queryOf, refused, textOf, unreadable, wholeNumber } from "./ConsoleReply.ts"

type Health = Effect.Success<typeof ReceiverHealth.make>

/** The last millisecond since the Unix epoch that a date can be of. */
const lastMillis = 8_640_000_000_000_000
/** Which callbacks are sent again: since a time in milliseconds since the Unix epoch, or all that are kept. */
const Again = Schema.Struct({
  since: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: lastMillis })))
})
const againOf = bodyOf(Again, "{since?}, a time in milliseconds")
const againOfAccount = bodyOf(
  Schema.Struct({ ...Again.fields, account: Schema.String, host: Schema.optionalKey(Schema.String) }),
  "{account, host?, since?}, the time in milliseconds"
)
const reasonOf = bodyOf(
  Schema.Struct({ reason: Schema.optionalKey(Schema.String.check(Schema.isBetweenLength(1, 200))) }),
  "{reason?}, a text of 1 to 200 characters"
)

/** What the account reads where no other reason is given. */
const deactivated = "deactivated_by_operator"

const notFound = noSuch("subscription")

interface Found {
  readonly chain: Chain.Chain
  readonly row: { readonly id: number; readonly account: number }
  readonly shown: { readonly account: string }
}

const makeReads = Effect.fnUntraced(function* (view: OperatorView, health: Health) {
  const stored = Effect.provideService(Database, yield* Database)
  /** A subscription with how its receiver does, and what was sent, if the visitor may read that. */
  const withStatus = Effect.fnUntraced(function* <A>(
    { row, shown }: { readonly row: Parameters<Health["ofSubscription"]>[0]; readonly shown: A },
    reads: Access.Visitor["reads"]
  ) {
    return reads("callbacks.status")
      ? { ...shown, health: yield* health.ofSubscription(row) }
      : { ...shown, lastSequence: undefined }
  })
  return {
    search: Effect.fnUntraced(function* (request: Access.Request, { account, reads }: Access.Visitor) {
      const page = yield* view.subscriptions(textOf(request, "search"), account?.id)
      const items = yield* Effect.forEach(page.items, (found) => withStatus(found, reads))
      return json({ ...page, items })
    }),
    show: Effect.fnUntraced(function* (request: Access.Request, { account, reads }: Access.Visitor) {
      const { reference = "" } = yield* HttpRouter.params
      const found = yield* view.subscription(reference, account?.id)
      if (found === undefined) return notFound
      const { row, shown } = found
      const page = yield* view.callbacks(row.id, wholeNumber(queryOf(request).get("before")))
      const { account: name, chain, event, referenceId } = shown
      const isInFull = reads("subscriptions.get") || reads("subscriptions.list")
      const subscription = yield* withStatus(
        { row, shown: isInFull ? shown : { referenceId, account: name, chain, event } },
        reads
      )
      const recovery = reads("callbacks.status") ? yield* Recovery.of(row.id) : undefined
      return json({ subscription, recovery, callbacks: page.items, hasMore: page.hasMore })
    }, stored)
  }
})

/** Sends all callbacks of an account, or of one of its hosts, again. */
const makeRecoveries = Effect.fnUntraced(function* (audited: Audited.Audited) {
  const accounts = yield* Accounts
  const stored = Effect.provideService(Database, yield* Database)
  return Effect.fnUntraced(
    function* (request: Access.Request, visitor: Access.Visitor) {
      const { account, host: named, since } = yield* againOfAccount(request)
      const { id } = yield* accounts.find(account)
      const host = named?.toLowerCase()
      const deed = {
        ...{ action: "account.recover", subject: host ?? account, account },
        detail: since === undefined ? undefined : `since ${new Date(since).toISOString()}`
      }
      const subscriptions = yield* audited.changeWith(visitor, deed, (also) =>
        stored(Recovery.beginAll(id, { host, time: since }, also))
      )
      return json({ subscriptions })
    },
    Effect.catchTags({ ...unreadable, AccountNotFound: () => Effect.succeed(noAccount) })
  )
})

export const routes = Effect.fnUntraced(function* (
  view: OperatorView,
  health: Health,
  audited: Audited.Audited,
  paced: AccountPace.Searches
) {
  const callbacks = yield* Callbacks
  const subscriptions = yield* Subscriptions
  const { search, show } = yield* makeReads(view, health)

  /** Does something to the subscription that a route names, of the visitor's own account if there is one. */
  const toOne = <A extends object, E>(
    change: (request: Access.Request, visitor: Access.Visitor, found: Found, reference: string) => Effect.Effect<A, E>
  ) =>
    Effect.fnUntraced(function* (request: Access.Request, visitor: Access.Visitor) {
      const { reference = "" } = yield* HttpRouter.params
      const found = yield* view.subscription(reference, visitor.account?.id)
      if (found === undefined) return notFound
      return json(yield* change(request, visitor, found, reference))
    })
  const keyOf = ({ chain, row }: Found, referenceId: string) => ({ account: row.account, chain, referenceId })
  const deed = (action: string, { shown }: Found, subject: string) => ({ action, subject, account: shown.account })
  const done = {}
  const missing = { SubscriptionNotFound: () => Effect.succeed(notFound) }

  const recover = toOne((request, visitor, found, reference) =>
    Effect.gen(function* () {
      const { since } = yield* againOf(request)
      const change = callbacks.recover(keyOf(found, reference), { time: since })
      yield* audited.change(visitor, deed("subscription.recover", found, reference), change)
      return done
    })
  )
  const redeliver = Effect.fnUntraced(
    function* (_: Access.Request, visitor: Access.Visitor) {
      const { key = "", reference = "" } = yield* HttpRouter.params
      const found = yield* view.subscription(reference, visitor.account?.id)
      if (found === undefined) return notFound
      yield* audited.change(
        visitor,
        deed("callback.redeliver", found, key),
        callbacks.redeliver(keyOf(found, reference), key)
      )
      return json(done)
    },
    Effect.catchTags({
      ...missing,
      CallbackNotFound: () => Effect.succeed(noSuch("callback")),
      CallbackNotSendable: ({ message }) => Effect.succeed(refused(409, message))
    })
  )
  const test = toOne((_, visitor, found, reference) =>
    Effect.gen(function* () {
      const change = callbacks.test(keyOf(found, reference))
      const { idempotencyKey } = yield* audited.change(visitor, deed("subscription.test", found, reference), change)
      return { idempotencyKey }
    })
  )
  const activate = toOne((_, visitor, found, reference) =>
    Effect.as(
      audited.changeWith(visitor, deed("subscription.activate", found, reference), (also) =>
        subscriptions.activate(keyOf(found, reference), also)
      ),
      done
    )
  )
  const deactivate = toOne((request, visitor, found, reference) =>
    Effect.gen(function* () {
      const { reason = deactivated } = yield* reasonOf(request)
      const change = subscriptions.deactivate(found.row.id, reason)
      yield* audited.change(visitor, { ...deed("subscription.deactivate", found, reference), detail: reason }, change)
      return done
    })
  )
  const remove = toOne((_, visitor, found, reference) =>
    Effect.as(
      audited.changeWith(visitor, deed("subscription.delete", found, reference), (also) =>
        subscriptions.remove(keyOf(found, reference), also)
      ),
      done
    )
  )

  const { get, operators, post, readers, supporters } = Access
  const one = "/api/subscriptions/:reference" as const
  return [
    get("/api/subscriptions", readers, paced(search), "subscriptions.list"),
    get(one, readers, show, "callbacks.list"),
    post(
      `${one}/recover`,
      supporters,
      (...asked) => Effect.catchTags(recover(...asked), { ...unreadable, ...missing }),
      "callbacks.recover"
    ),
    post(`${one}/callbacks/:key/redeliver`, supporters, redeliver, "callbacks.redeliver"),
    post(`${one}/test`, supporters, (...asked) => Effect.catchTags(test(...asked), missing), "callbacks.test"),
    post(
      `${one}/activate`,
      supporters,
      (...asked) =>
        Effect.catchTags(activate(...asked), {
          ...missing,
          SubscriptionActive: () => Effect.succeed(refused(409, "The subscription is active already"))
        }),
      "subscriptions.activate"
    ),
    post(`${one}/deactivate`, operators, (...asked) => Effect.catchTags(deactivate(...asked), unreadable)),
    post(`${one}/delete`, operators, (...asked) => Effect.catchTags(remove(...asked), missing)),
    post("/api/recoveries", supporters, yield* makeRecoveries(audited))
  ]
})
