/** The console: a page for operators and accounts, and the answers that the page asks for, behind a password or an API key. */
import { Database } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as OperatorView from "@headwater/indexer/store/operator/OperatorView"
import * as ReceiverHealth from "@headwater/indexer/store/subscriptions/ReceiverHealth"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { consoleOperator, type Settings } from "../settings/Settings.ts"
import * as Access from "./Access.ts"
import * as AccountPace from "./AccountPace.ts"
import * as Audited from "./Audited.ts"
import * as Chains from "./Chains.ts"
import { json, queryOf, textOf, wholeNumber } from "./ConsoleReply.ts"
import * as Door from "./Door.ts"
import * as Management from "./Management.ts"
import * as Overview from "./Overview.ts"
import * as Page from "./Page.ts"
import * as Sessions from "./Sessions.ts"
import * as Stories from "./Stories.ts"
import * as Subscriptions from "./Subscriptions.ts"

type ConsoleSettings = NonNullable<Settings["Service"]["console"]>

/** Those who may log in by a password. */
export const usersOf = ({ password, users }: ConsoleSettings): ReadonlyArray<Sessions.User> => [
  ...(password === undefined ? [] : [{ name: consoleOperator, role: "operator" as const, password }]),
  ...Object.entries(users).map(([name, user]) => ({ name, ...user }))
]

const auditLog = Effect.map(Database, (database) =>
  Access.get("/api/audit", Access.operators, (request) =>
    Effect.map(
      AuditLog.read({
        before: wholeNumber(queryOf(request).get("before")),
        account: textOf(request, "account") || undefined,
        user: textOf(request, "user") || undefined
      }).pipe(Effect.provideService(Database, database)),
      (page) => json(page)
    )
  )
)

/** Every route that a session opens, each with who may call it. */
export const declared = Effect.gen(function* () {
  const view = yield* OperatorView.make
  const health = yield* ReceiverHealth.make
  const standings = yield* Chains.makeStandings
  const audited = yield* Audited.make
  const searches = AccountPace.makeSearches()
  return [
    ...(yield* Overview.routes(health, standings)),
    ...(yield* Chains.routes(view, standings, audited)),
    ...Stories.routes(view, searches),
    ...(yield* Subscriptions.routes(view, health, audited, searches)),
    ...(yield* Management.routes(view, audited)),
    yield* auditLog
  ] satisfies ReadonlyArray<Access.Route>
})

/** The routes of the console. */
export const routes = (settings: ConsoleSettings) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const door = yield* Door.make(Sessions.make(usersOf(settings)), yield* declared)
      for (const [path, page] of Page.answers) yield* router.add("GET", path, page)
      yield* door(router)
    })
  )
