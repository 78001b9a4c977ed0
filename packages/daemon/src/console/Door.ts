/**
 * The console's door: a password or an account's API key opens a session, a cookie carries the session, and without one
 * nothing is answered. What a session may ask is said by the routes.
 */
import * as AllowList from "@headwater/http/contract/AllowList"
import * as NulCharacter from "@headwater/http/server/NulCharacter"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { commandName } from "../CommandName.ts"
import { consoleOperator } from "../settings/Settings.ts"
import * as Access from "./Access.ts"
import * as AccountPace from "./AccountPace.ts"
import { json, refused } from "./ConsoleReply.ts"
import * as FailedLogins from "./FailedLogins.ts"
import * as Peer from "./Peer.ts"
import type { Holder, Sessions } from "./Sessions.ts"

type Request = Access.Request

const cookie = "headwater_console"
/** Stays in the browser, and opens nothing: others' wrong guesses are not counted against a browser that has it. */
const browserCookie = "headwater_browser"
const browserLasts = "365 days"

/** `HttpOnly`: no script reads the cookie. `SameSite=Strict`: no other site's page sends the cookie. */
const cookieOptions = (request: Request) =>
  ({
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    // The console speaks HTTP; a proxy in front of the console that speaks HTTPS says so.
    secure: request.headers["x-forwarded-proto"] === "https"
  }) as const

const short = Schema.String.check(Schema.isMaxLength(1_000))
const Login = Schema.Union([
  Schema.Struct({ key: short }),
  Schema.Struct({ user: Schema.optionalKey(short), password: short })
])
const decodeLogin = Schema.decodeUnknownEffect(Login)

/** A page of another site can send no such request without asking first. */
const isJson = (request: Request) => request.headers["content-type"]?.split(";")[0]?.trim() === "application/json"
const notJson = refused(415, "The body must be application/json")

/** Logins of one account in a minute. */
export const mostLogins = 20

const group = (operation: string) => operation.split(".") as [group: string, endpoint: string]

/** Whose login fails where a key is wrong. */
const anyKey = "an API key"

/** A visitor, and the routes that are open to the visitor at the moment. */
interface Visit {
  readonly visitor: Access.Visitor
  readonly may: (route: Access.Route) => boolean
}

/** The door of `routes`, to be answered under `router`. */
export const make = Effect.fnUntraced(function* (sessions: Sessions, routes: ReadonlyArray<Access.Route>) {
  const accounts = yield* Accounts
  const database = yield* Database
  const failed = yield* FailedLogins.make((user) => user === anyKey || sessions.isUser(user))
  const paced = AccountPace.make()
  const pacedLogins = AccountPace.make(mostLogins)

  /** Nobody is kept out, or in, because the store cannot be written. */
  const enter = (actor: AuditLog.Actor, deed: AuditLog.Deed) =>
    AuditLog.write(actor, deed).pipe(
      Effect.timeout("2 seconds"),
      Effect.provideService(Database, database),
      Effect.catch((error) => Effect.logWarning(`A ${deed.action} could not be entered in the audit log`, error))
    )

  const accountOf = Effect.fnUntraced(function* (key: Redacted.Redacted) {
    const caller = yield* accounts.authenticate(key)
    if (caller === undefined) return undefined
    const account = yield* accounts.get(caller.account)
    return account === undefined ? undefined : { id: account.id, name: account.name, caller }
  })

  /** Who has the session of a request now, and which routes the visitor may call: an API key may have ended meanwhile. */
  const visitOf = Effect.fnUntraced(function* (request: Request) {
    const token = request.cookies[cookie]
    const holder = yield* sessions.holderOf(token)
    if (holder === undefined) return undefined
    const from = Peer.describe(request)
    if (holder.role !== "account") {
      const { role, user } = holder
      const visitor = { role, actor: { user, role, from }, account: undefined, reads: () => true }
      return { visitor, may: (route) => route.roles.includes(role) } satisfies Visit
    }
    const found = yield* accountOf(holder.key)
    if (found === undefined) {
      yield* sessions.close(token)
      return undefined
    }
    const { caller, id, name } = found
    const visitor: Access.Visitor = {
      role: "account",
      actor: { user: name, role: "account", from },
      account: { id, name },
      reads: (operation) =>
        operation === undefined
          ? caller.endpoints === undefined
          : AllowList.allows(caller.endpoints, ...group(operation))
    }
    const may = ({ method, operation }: Access.Route) =>
      operation !== undefined && visitor.reads(operation) && (!caller.readOnly || AllowList.readsOnly({ method }))
    return { visitor, may }
  })

  const sessionOf = ({ may, visitor }: Visit) => ({
    ...{ user: visitor.actor.user, role: visitor.role, account: visitor.account?.name ?? null },
    // An account has no command line.
    command: visitor.account === undefined ? commandName : null,
    may: routes.filter(may).map(Access.nameOf)
  })

  const entered = Effect.fnUntraced(function* (request: Request, holder: Holder, token: string, browser?: string) {
    const user = holder.role === "account" ? holder.account : holder.user
    const account = holder.role === "account" ? holder.account : undefined
    const actor = { user, role: holder.role, from: Peer.describe(request) }
    yield* enter(actor, { action: "login", subject: user, account })
    const options = cookieOptions(request)
    const answer = HttpServerResponse.setCookieUnsafe(
      json({ user, role: holder.role, account: account ?? null }),
      cookie,
      token,
      options
    )
    return browser === undefined
      ? answer
      : HttpServerResponse.setCookieUnsafe(answer, browserCookie, browser, { ...options, maxAge: browserLasts })
  })

  const byKey = Effect.fnUntraced(function* (request: Request, key: Redacted.Redacted) {
    const found = yield* accountOf(key)
    if (found === undefined) {
      yield* failed(anyKey, Peer.describe(request))
      return refused(401, "The API key is wrong, revoked or expired")
    }
    // A key in a loop is neither to fill the audit log nor to end the account's sessions all the time.
    const wait = yield* pacedLogins(found.id)
    if (wait !== undefined) return AccountPace.tooMany("logins", wait)
    const holder: Holder = { role: "account", id: found.id, account: found.name, key }
    return yield* entered(request, holder, yield* sessions.admit(holder))
  })

  const byPassword = (request: Request, user: string, password: string) =>
    sessions.open(user, password, request.cookies[browserCookie], Peer.lineBehind(request)).pipe(
      Effect.flatMap(({ browser, holder, token }) => entered(request, holder, token, browser)),
      Effect.catchTags({
        WrongPassword: () =>
          Effect.logWarning("A wrong password at the console").pipe(
            Effect.andThen(failed(user, Peer.describe(request))),
            Effect.as(refused(401, "Wrong user or password"))
          ),
        TooManyGuesses: ({ retryAfter }) =>
          Effect.as(
            failed(user, Peer.describe(request)),
            refused(429, `Too many attempts: try again in ${retryAfter} s`, { "retry-after": String(retryAfter) })
          )
      })
    )

  const logIn = Effect.fnUntraced(
    function* (request: Request) {
      if (!isJson(request)) return notJson
      const login = yield* Effect.flatMap(request.json, decodeLogin)
      return "key" in login
        ? yield* byKey(request, Redacted.make(login.key))
        : yield* byPassword(request, login.user ?? consoleOperator, login.password)
    },
    Effect.catchTags({
      HttpServerError: () => Effect.succeed(unread),
      SchemaError: () => Effect.succeed(unread)
    })
  )

  const logOut = Effect.fnUntraced(function* (request: Request, { actor, account }: Access.Visitor) {
    yield* sessions.close(request.cookies[cookie])
    yield* enter(actor, { action: "logout", subject: actor.user, account: account?.name })
    return HttpServerResponse.expireCookieUnsafe(json({}), cookie, cookieOptions(request))
  })

  const safely = <E, R>(answer: Effect.Effect<Access.Response, E, R>) =>
    Effect.catchCause(answer, (cause) =>
      Effect.as(
        Effect.logError("The console could not answer", cause),
        refused(503, "The store did not answer; the log says why")
      )
    )

  /** Answers those who have a session that `allowed` lets in. */
  const guarded = (
    method: "GET" | "POST",
    allowed: (may: Visit["may"]) => boolean,
    handle: (request: Request, visit: Visit) => Effect.Effect<Access.Response, unknown, HttpRouter.RouteContext>
  ) =>
    Effect.fnUntraced(function* (request: Request) {
      const found = yield* visitOf(request)
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
    yield* router.add("POST", "/api/login", (request) => safely(logIn(request)))
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

const unread = refused(400, "The body must be {password}, {user, password} or {key}")
