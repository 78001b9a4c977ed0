/**
 * The console's door: without a session nothing is answered but logins. What a session may ask is said by the routes.
 */
import * as NulCharacter from "@headwater/http/server/NulCharacter"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import { commandName } from "../CommandName.ts"
import * as Access from "./Access.ts"
import * as AccountPace from "./AccountPace.ts"
import { json, refused } from "./ConsoleReply.ts"
import * as Login from "./Login.ts"
import type { Sessions } from "./Sessions.ts"
import * as Visit from "./Visit.ts"

type Request = Access.Request

/** A page of another site can send no such request without asking first. */
const isJson = (request: Request) => request.headers["content-type"]?.split(";")[0]?.trim() === "application/json"
const notJson = refused(415, "The body must be application/json")

const safely = <E, R>(answer: Effect.Effect<Access.Response, E, R>) =>
  Effect.catchCause(answer, (cause) =>
    Effect.as(
      Effect.logError("The console could not answer", cause),
      refused(503, "The store did not answer; the log says why")
    )
  )

/** The door of `routes`, to be answered under `router`. */
export const make = Effect.fnUntraced(function* (sessions: Sessions, routes: ReadonlyArray<Access.Route>) {
  const accounts = yield* Accounts
  const { logIn, logOut } = yield* Login.make(sessions)
  const paced = AccountPace.make()

  const sessionOf = ({ may, visitor }: Visit.Visit) => ({
    ...{ user: visitor.actor.user, role: visitor.role, account: visitor.account?.name ?? null },
    // An account has no command line.
    command: visitor.account === undefined ? commandName : null,
    may: routes.filter(may).map(Access.nameOf)
  })

  /** Answers those who have a session that `allowed` lets in. */
  const guarded = (
    method: "GET" | "POST",
    allowed: (may: Visit.Visit["may"]) => boolean,
    handle: (request: Request, visit: Visit.Visit) => Effect.Effect<Access.Response, unknown, HttpRouter.RouteContext>
  ) =>
    Effect.fnUntraced(function* (request: Request) {
      const found = yield* Effect.provideService(Visit.of(sessions, request), Accounts, accounts)
      if (found === undefined) return refused(401, "Log in first")
      if (method === "POST" && !isJson(request)) return notJson
      const { account } = found.visitor
      const wait = account === undefined ? undefined : yield* paced(account.id)
      if (wait !== undefined) return AccountPace.tooMany("requests", wait)
      if (!allowed(found.may)) return refused(403, `${found.visitor.actor.user} may not do that`)
      const { params } = yield* HttpRouter.RouteContext
      const unusable = NulCharacter.parameterOf(request.url, params)
      if (unusable !== undefined) return refused(400, `${unusable} ${NulCharacter.rule}`)
      return yield* handle(request, found)
    }, safely)

  return Effect.fnUntraced(function* (router: HttpRouter.HttpRouter) {
    const anybody = () => true
    yield* router.add("POST", "/api/login", (request) =>
      isJson(request) ? safely(logIn(request)) : Effect.succeed(notJson)
    )
    yield* router.add(
      "POST",
      "/api/logout",
      guarded("POST", anybody, (request, { visitor }) => logOut(request, visitor))
    )
    yield* router.add(
      "GET",
      "/api/session",
      guarded("GET", anybody, (_, found) => Effect.sync(() => json(sessionOf(found))))
    )
    for (const route of routes) {
      yield* router.add(
        route.method,
        route.path,
        guarded(
          route.method,
          (may) => may(route),
          (request, { visitor }) => route.handle(request, visitor)
        )
      )
    }
  })
})
