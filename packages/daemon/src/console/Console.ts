/** The console: a page for the operator and the answers that it asks for, behind a password. */
import * as Chain from "@headwater/core/chains/Chain"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import * as OperatorView from "@headwater/indexer/store/OperatorView"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { notReady } from "../Health.ts"
import * as Settings from "../settings/Settings.ts"
import * as ChainHistory from "./ChainHistory.ts"
import * as Page from "./Page.ts"
import * as Sessions from "./Sessions.ts"

type Request = HttpServerRequest.HttpServerRequest

const cookie = "headwater_console"

/** `HttpOnly`: no script reads it. `SameSite=Strict`: no other site's page sends it. */
const cookieOptions = (request: Request) =>
  ({
    httpOnly: true,
    sameSite: "strict",
    path: "/",
    // The console speaks HTTP; what stands in front of it, and speaks HTTPS, says so.
    secure: request.headers["x-forwarded-proto"] === "https"
  }) as const

const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status, headers: { ...Page.headers, ...headers } })

const failed = (status: number, error: string, headers?: Record<string, string>) => json({ error }, status, headers)

const notFound = failed(404, "There is no such thing")

const Login = Schema.Struct({ password: Schema.String.check(Schema.isMaxLength(1_000)) })
const decodeLogin = Schema.decodeUnknownEffect(Login)

const queryOf = ({ url }: Request) => {
  const query = url.indexOf("?")
  return new URLSearchParams(query === -1 ? "" : url.slice(query))
}

/** A whole number of a query; undefined where it is none. */
const wholeNumber = (text: string | null) => (text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined)

/** The routes, for whoever knows `password`. */
export const routes = (password: Redacted.Redacted) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const settings = yield* Settings.Settings
      const statuses = yield* ChainStatus
      const callbacks = yield* Callbacks
      const view = yield* OperatorView.make
      const history = yield* ChainHistory.make
      const sessions = Sessions.make(password)

      /** An answer for whoever has logged in. A page of another site can make no request of this type. */
      const answer = <E>(
        method: "GET" | "POST",
        path: `/${string}`,
        handle: (request: Request) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, HttpRouter.RouteContext>
      ) =>
        router.add(method, path, (request) =>
          Effect.gen(function* () {
            if (!(yield* sessions.isOpen(request.cookies[cookie]))) return failed(401, "Log in first")
            if (method === "POST" && request.headers["content-type"] !== "application/json") {
              return failed(415, "The body must be application/json")
            }
            return yield* handle(request)
          }).pipe(
            Effect.catchCause((cause) =>
              Effect.as(
                Effect.logError("The console could not answer", cause),
                failed(500, "The store did not answer; the log says why")
              )
            )
          )
        )

      for (const [path, page] of Page.answers) yield* router.add("GET", path, page)

      yield* router.add("POST", "/api/login", (request) =>
        Effect.gen(function* () {
          const { password } = yield* Effect.flatMap(request.json, decodeLogin)
          const token = yield* sessions.open(
            password,
            Option.getOrElse(request.peerAddress, () => "")
          )
          return HttpServerResponse.setCookieUnsafe(json({}), cookie, token, cookieOptions(request))
        }).pipe(
          Effect.catchTags({
            WrongPassword: () =>
              Effect.as(Effect.logWarning("A wrong password at the console"), failed(401, "That is not the password")),
            TooManyGuesses: ({ retryAfter }) =>
              Effect.succeed(
                failed(429, `Too many attempts: try again in ${retryAfter} s`, { "retry-after": String(retryAfter) })
              )
          }),
          Effect.orElseSucceed(() => failed(400, "The body must be {password}"))
        )
      )
      yield* answer("POST", "/api/logout", (request) =>
        Effect.as(
          sessions.close(request.cookies[cookie]),
          HttpServerResponse.expireCookieUnsafe(json({}), cookie, cookieOptions(request))
        )
      )

      yield* answer(
        "GET",
        "/api/chains",
        Effect.fnUntraced(function* (request) {
          const now = yield* Clock.currentTimeMillis
          const after = wholeNumber(queryOf(request).get("after")) ?? 0
          const chains = Settings.chains(settings).map(({ chain, settings }) => {
            const name = Chain.nameOf(chain)
            const status = statuses.get(chain)
            return {
              name,
              state: status?.state ?? "starting",
              problem: status === undefined ? null : (notReady(status, settings.silentSeconds, now) ?? null),
              height: status?.height ?? null,
              head: status?.head ?? null,
              committedAt: status?.committedAt ?? null,
              blockTime: status?.blockTime ?? null,
              samples: history(name, after)
            }
          })
          return json({ now, chains })
        })
      )
      yield* answer("GET", "/api/reorganisations", () => Effect.map(view.reorganisations(), (items) => json({ items })))
      yield* answer("GET", "/api/subscriptions", (request) =>
        Effect.map(view.subscriptions((queryOf(request).get("search") ?? "").trim().slice(0, 200)), (page) =>
          json(page)
        )
      )
      yield* answer(
        "GET",
        "/api/subscriptions/:reference",
        Effect.fnUntraced(function* (request) {
          const { reference = "" } = yield* HttpRouter.params
          const found = yield* view.subscription(reference)
          if (found === undefined) return notFound
          const { id, shown } = found
          const page = yield* view.callbacks(id, wholeNumber(queryOf(request).get("before")))
          return json({ subscription: shown, callbacks: page.items, hasMore: page.hasMore })
        })
      )
      yield* answer(
        "POST",
        "/api/subscriptions/:reference/callbacks/:key/redeliver",
        Effect.fnUntraced(
          function* () {
            const { key = "", reference = "" } = yield* HttpRouter.params
            const found = yield* view.subscription(reference)
            if (found === undefined) return notFound
            const { account, chain } = found
            yield* callbacks.redeliver({ account, chain, referenceId: reference }, key)
            return json({})
          },
          Effect.catchTags({
            CallbackNotFound: () => Effect.succeed(notFound),
            CallbackNotSendable: ({ message }) => Effect.succeed(failed(409, message)),
            SubscriptionNotFound: () => Effect.succeed(notFound)
          })
        )
      )
      yield* answer("GET", "/api/accounts", () => Effect.map(view.accounts, (items) => json({ items })))
      yield* answer("GET", "/api/credits", (request) =>
        Effect.map(view.credits(queryOf(request).get("account") ?? ""), (credits) => json(credits))
      )
      yield* answer("GET", "/api/domains", () => Effect.map(view.domains(), (items) => json({ items })))
    })
  )
