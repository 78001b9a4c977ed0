/** The console's door: a password opens a session, a cookie carries the session, and without one nothing is answered. */
import * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import { json, refused } from "./ConsoleReply.ts"
import type { Sessions } from "./Sessions.ts"

type Request = HttpServerRequest.HttpServerRequest

export type Handle<E> = (
  request: Request
) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpRouter.RouteContext>

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

const Login = Schema.Struct({ password: Schema.String.check(Schema.isMaxLength(1_000)) })
const decodeLogin = Schema.decodeUnknownEffect(Login)

const logIn = (sessions: Sessions, request: Request) =>
  Effect.gen(function* () {
    const { password } = yield* Effect.flatMap(request.json, decodeLogin)
    const { browser, token } = yield* sessions.open(password, request.cookies[browserCookie])
    const options = cookieOptions(request)
    return json({}).pipe(
      HttpServerResponse.setCookieUnsafe(cookie, token, options),
      HttpServerResponse.setCookieUnsafe(browserCookie, browser, { ...options, maxAge: browserLasts })
    )
  }).pipe(
    Effect.catchTags({
      WrongPassword: () =>
        Effect.as(Effect.logWarning("A wrong password at the console"), refused(401, "Wrong password")),
      TooManyGuesses: ({ retryAfter }) =>
        Effect.succeed(
          refused(429, `Too many attempts: try again in ${retryAfter} s`, { "retry-after": String(retryAfter) })
        )
    }),
    Effect.orElseSucceed(() => refused(400, "The body must be {password}"))
  )

const logOut = (sessions: Sessions, request: Request) =>
  Effect.as(
    sessions.close(request.cookies[cookie]),
    HttpServerResponse.expireCookieUnsafe(json({}), cookie, cookieOptions(request))
  )

/** Adds a route that answers requests with an open session only. A page of another site can make no such POST. */
export const answer = <E>(
  router: HttpRouter.HttpRouter,
  sessions: Sessions,
  method: "GET" | "POST",
  path: `/${string}`,
  handle: Handle<E>
) =>
  router.add(method, path, (request) =>
    Effect.gen(function* () {
      if (!(yield* sessions.isOpen(request.cookies[cookie]))) return refused(401, "Log in first")
      if (method === "POST" && request.headers["content-type"] !== "application/json") {
        return refused(415, "The body must be application/json")
      }
      return yield* handle(request)
    }).pipe(
      Effect.catchCause((cause) =>
        Effect.as(
          Effect.logError("The console could not answer", cause),
          refused(503, "The store did not answer; the log says why")
        )
      )
    )
  )

/** The routes that open and close a session. */
export const routes = (router: HttpRouter.HttpRouter, sessions: Sessions) =>
  Effect.andThen(
    router.add("POST", "/api/login", (request) => logIn(sessions, request)),
    answer(router, sessions, "POST", "/api/logout", (request) => logOut(sessions, request))
  )
