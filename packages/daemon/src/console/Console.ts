/** The console: a page for the operator and the answers that the page asks for, behind a password. */
import * as Address from "@headwater/core/address/Address"
import * as Chain from "@headwater/core/chains/Chain"
import * as Hash from "@headwater/core/Hash"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as OperatorView from "@headwater/indexer/store/operator/OperatorView"
import { Database } from "@headwater/indexer/store/database/Database"
import * as CallbackBacklog from "@headwater/indexer/store/subscriptions/CallbackBacklog"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import * as Recovery from "@headwater/indexer/store/subscriptions/Recovery"
import * as UnresolvedEvents from "@headwater/indexer/store/subscriptions/UnresolvedEvents"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as FullAccounts from "../FullAccounts.ts"
import { catchingUpOf, notReady } from "../Health.ts"
import * as Settings from "../settings/Settings.ts"
import { OwnOutages } from "../supervision/OwnOutages.ts"
import * as ChainGaps from "./ChainGaps.ts"
import * as ChainHistory from "./ChainHistory.ts"
import { json, notFound, queryOf, refused, wholeNumber } from "./ConsoleReply.ts"
import * as Door from "./Door.ts"
import * as Page from "./Page.ts"
import * as Sessions from "./Sessions.ts"

type Request = HttpServerRequest.HttpServerRequest

/** The status of every configured chain, with the samples that the page does not have yet. */
const makeChains = Effect.gen(function* () {
  const settings = yield* Settings.Settings
  const statuses = yield* ChainStatus
  const outages = yield* OwnOutages
  const history = yield* ChainHistory.make
  const chainGaps = yield* ChainGaps.make
  return Effect.fnUntraced(function* (request: Request) {
    const now = yield* Clock.currentTimeMillis
    const after = wholeNumber(queryOf(request).get("after")) ?? 0
    const gapsOf = yield* chainGaps
    const chains = Settings.chains(settings).map(({ chain, settings: own }) => {
      const name = Chain.nameOf(chain)
      const status = statuses.get(chain)
      return {
        name,
        state: status?.state ?? "starting",
        problem: status === undefined ? null : (notReady(status, own.silentSeconds, now) ?? null),
        height: status?.height ?? null,
        head: status?.head ?? null,
        catchingUp: catchingUpOf(status),
        networkDoubt: status?.networkDoubt ?? null,
        committedAt: status?.committedAt ?? null,
        blockTime: status?.blockTime ?? null,
        gaps: gapsOf(chain, status),
        samples: history(name, after)
      }
    })
    return json({ now, chains, outages: yield* outages.lasting })
  })
})

/** Movements in doubt that are shown of a chain. */
const unresolvedLimit = 50

/** Syncs under way, and movements in doubt of each configured chain. */
const makeProgress = Effect.fnUntraced(function* (view: OperatorView.OperatorView) {
  const chains = Settings.chains(yield* Settings.Settings)
  const stored = Effect.provideService(Database, yield* Database)
  const inDoubt = Effect.forEach(chains, ({ chain }) =>
    Effect.map(UnresolvedEvents.list(chain, unresolvedLimit), (events) =>
      events.map(({ address, height, reason, transactionId }) => ({
        ...{ chain: Chain.nameOf(chain), height, reason, transactionId: Hash.encode(chain, transactionId) },
        address: Address.encode(chain, address) ?? ""
      }))
    )
  )
  return Effect.gen(function* () {
    const unresolved = (yield* inDoubt).flat()
    return json({ syncs: yield* view.syncs, unresolved, remedy: UnresolvedEvents.remedy })
  }).pipe(stored)
})

type Health = Effect.Success<typeof ReceiverHealth.make>

/** Hosts and failures that are shown. */
const [shownHosts, shownFailures] = [100, 50]

/** How deliveries go: what is to be sent, the last day, the hosts, those that fail first, and what fails and why. */
const makeDeliveries = Effect.fnUntraced(function* (health: Health) {
  const stored = Effect.provideService(Database, yield* Database)
  const full = Effect.provideService(FullAccounts.read, Settings.Settings, yield* Settings.Settings)
  return Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const { accepting: _, ...backlog } = yield* CallbackBacklog.read()
    const { counts, hosts } = yield* health.overview(shownHosts)
    return json({
      ...{ now, backlog, counts, hosts, periodMillis: ReceiverHealth.periodMillis },
      ...{ periods: yield* health.periods, failures: yield* health.failures(shownFailures) },
      ...{ recoveries: yield* Recovery.underWay(), full: yield* full }
    })
  }).pipe(stored)
})

/** Which callbacks are sent again: since a time in milliseconds since the Unix epoch, or all that are kept. */
const Again = Schema.Struct({ since: Schema.optionalKey(Schema.Int) })
const AgainOfAccount = Schema.Struct({
  ...Again.fields,
  account: Schema.String,
  host: Schema.optionalKey(Schema.String)
})
const decodeAgain = Schema.decodeUnknownEffect(Again)
const decodeAgainOfAccount = Schema.decodeUnknownEffect(AgainOfAccount)

const notUnderstood = Effect.succeed(refused(400, "The body must be {since?}, of an account {account, host?, since?}"))
const unread = { HttpServerError: () => notUnderstood, SchemaError: () => notUnderstood }

/** Sends all callbacks of an account, or of one of its hosts, again. */
const makeRecover = Effect.gen(function* () {
  const accounts = yield* Accounts
  const stored = Effect.provideService(Database, yield* Database)
  return (request: Request) =>
    Effect.gen(function* () {
      const { account, host, since } = yield* Effect.flatMap(request.json, decodeAgainOfAccount)
      const { id } = yield* accounts.find(account)
      return json({ subscriptions: yield* Recovery.beginAll(id, { host: host?.toLowerCase(), time: since }) })
    }).pipe(
      Effect.catchTags({
        ...unread,
        AccountNotFound: () => Effect.succeed(refused(404, "There is no such account"))
      }),
      stored
    )
})

const keyOf = (
  { chain, row }: { readonly chain: Chain.Chain; readonly row: { readonly account: number } },
  reference: string
) => ({ account: row.account, chain, referenceId: reference })

const makeSubscriptions = (
  view: OperatorView.OperatorView,
  callbacks: Callbacks["Service"],
  health: Health,
  database: Database["Service"]
) => ({
  search: Effect.fnUntraced(function* (request: Request) {
    const page = yield* view.subscriptions((queryOf(request).get("search") ?? "").trim().slice(0, 200))
    const items = yield* Effect.forEach(page.items, ({ row, shown }) =>
      Effect.map(health.ofSubscription(row), (of) => ({ ...shown, health: of }))
    )
    return json({ ...page, items })
  }),
  show: Effect.fnUntraced(function* (request: Request) {
    const { reference = "" } = yield* HttpRouter.params
    const found = yield* view.subscription(reference)
    if (found === undefined) return notFound
    const { row, shown } = found
    const page = yield* view.callbacks(row.id, wholeNumber(queryOf(request).get("before")))
    const subscription = { ...shown, health: yield* health.ofSubscription(row) }
    const recovery = yield* Effect.provideService(Recovery.of(row.id), Database, database)
    return json({ subscription, recovery, callbacks: page.items, hasMore: page.hasMore })
  }),
  recover: Effect.fnUntraced(
    function* (request: Request) {
      const { reference = "" } = yield* HttpRouter.params
      const { since } = yield* Effect.flatMap(request.json, decodeAgain)
      const found = yield* view.subscription(reference)
      if (found === undefined) return notFound
      yield* callbacks.recover(keyOf(found, reference), { time: since })
      return json({})
    },
    Effect.catchTags({ ...unread, SubscriptionNotFound: () => Effect.succeed(notFound) })
  ),
  redeliver: Effect.fnUntraced(
    function* () {
      const { key = "", reference = "" } = yield* HttpRouter.params
      const found = yield* view.subscription(reference)
      if (found === undefined) return notFound
      yield* callbacks.redeliver(keyOf(found, reference), key)
      return json({})
    },
    Effect.catchTags({
      CallbackNotFound: () => Effect.succeed(notFound),
      CallbackNotSendable: ({ message }) => Effect.succeed(refused(409, message)),
      SubscriptionNotFound: () => Effect.succeed(notFound)
    })
  )
})

/** The routes of the console, which `password` opens. */
export const routes = (password: Redacted.Redacted) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const view = yield* OperatorView.make
      const chains = yield* makeChains
      const progress = yield* makeProgress(view)
      const health = yield* ReceiverHealth.make
      const deliveries = yield* makeDeliveries(health)
      const subscriptions = makeSubscriptions(view, yield* Callbacks, health, yield* Database)
      const sessions = Sessions.make(password)
      const items =
        <A, E>(list: Effect.Effect<A, E>) =>
        () =>
          Effect.map(list, (items) => json({ items }))
      const get = <E>(path: `/${string}`, handle: Door.Handle<E>) => Door.answer(router, sessions, "GET", path, handle)
      const post = <E>(path: `/${string}`, handle: Door.Handle<E>) =>
        Door.answer(router, sessions, "POST", path, handle)

      for (const [path, page] of Page.answers) yield* router.add("GET", path, page)
      yield* Door.routes(router, sessions)
      yield* get("/api/chains", chains)
      yield* get("/api/deliveries", () => deliveries)
      yield* get("/api/progress", () => progress)
      yield* get("/api/reorganisations", items(view.reorganisations))
      yield* get("/api/subscriptions", subscriptions.search)
      yield* get("/api/subscriptions/:reference", subscriptions.show)
      yield* post("/api/subscriptions/:reference/recover", subscriptions.recover)
      yield* post("/api/subscriptions/:reference/callbacks/:key/redeliver", subscriptions.redeliver)
      yield* post("/api/recoveries", yield* makeRecover)
      yield* get("/api/accounts", items(view.accounts))
      yield* get("/api/credits", (request) =>
        Effect.map(view.credits(queryOf(request).get("account") ?? ""), (credits) => json(credits))
      )
      yield* get("/api/domains", items(view.domains))
    })
  )
