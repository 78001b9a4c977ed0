/** How a session of the console is opened, by a user's password or an account's API key, and closed. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Database } from "@headwater/indexer/store/database/Database"
import * as AuditLog from "@headwater/indexer/store/operator/AuditLog"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { consoleOperator } from "../settings/Settings.ts"
import type * as Access from "./Access.ts"
import * as AccountPace from "./AccountPace.ts"
import { bodyOf, json, refused, unreadable } from "./ConsoleReply.ts"
import * as Cookies from "./Cookies.ts"
import * as FailedLogins from "./FailedLogins.ts"
import * as Peer from "./Peer.ts"
import type { Holder, Sessions } from "./Sessions.ts"
import * as Visit from "./Visit.ts"

type Request = Access.Request

const short = Schema.String.check(Schema.isMaxLength(1_000))
const loginOf = bodyOf(
  Schema.Union([Schema.Struct({ key: short }), Schema.Struct({ user: Schema.optionalKey(short), password: short })]),
  "{password}, {user, password} or {key}"
)

/** Logins of one account in a minute. */
export const most = 20

/** Whose login fails where a key is wrong. */
const anyKey = "an API key"

export const make = Effect.fnUntraced(function* (sessions: Sessions) {
  const accounts = yield* Accounts
  const database = yield* Database
  const failed = yield* FailedLogins.make((user) => user === anyKey || sessions.isUser(user))
  const paced = AccountPace.make(most)

  /** Nobody is kept out, or in, because the store cannot be written. */
  const enter = (actor: AuditLog.Actor, deed: AuditLog.Deed) =>
    AuditLog.write(actor, deed).pipe(
      Effect.timeout("2 seconds"),
      Effect.provideService(Database, database),
      Effect.catch((error) =>
        Effect.logWarning(`A ${deed.action} could not be entered in the audit log: ${error.message}`)
      )
    )

  const entered = Effect.fnUntraced(function* (request: Request, holder: Holder, token: string, browser?: string) {
    const user = holder.role === "account" ? holder.account : holder.user
    const account = holder.role === "account" ? holder.account : undefined
    const actor = { user, role: holder.role, from: Peer.describe(request) }
    yield* enter(actor, { action: "login", subject: user, account })
    const answer = Cookies.setSession(request, json({ user, role: holder.role, account: account ?? null }), token)
    return browser === undefined ? answer : Cookies.setBrowser(request, answer, browser)
  })

  const byKey = Effect.fnUntraced(function* (request: Request, key: Redacted.Redacted) {
    const found = yield* Effect.provideService(Visit.accountOf(key), Accounts, accounts)
    if (found === undefined) {
      yield* failed(anyKey, Peer.describe(request))
      return refused(401, "The API key is wrong, revoked or expired")
    }
    // A key in a loop is neither to fill the audit log nor to end the account's sessions all the time.
    const wait = yield* paced(found.id)
    if (wait !== undefined) return AccountPace.tooMany("logins", wait)
    const holder: Holder = { role: "account", id: found.id, account: found.name, key }
    return yield* entered(request, holder, yield* sessions.admit(holder))
  })

  const byPassword = (request: Request, user: string, password: string) =>
    sessions.open(user, password, Cookies.browserOf(request), Peer.lineBehind(request)).pipe(
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

  const logIn = Effect.fnUntraced(function* (request: Request) {
    const login = yield* loginOf(request)
    return "key" in login
      ? yield* byKey(request, Redacted.make(login.key))
      : yield* byPassword(request, login.user ?? consoleOperator, login.password)
  }, Effect.catchTags(unreadable))

  const logOut = Effect.fnUntraced(function* (request: Request, { actor, account }: Access.Visitor) {
    yield* sessions.close(Cookies.sessionOf(request))
    yield* enter(actor, { action: "logout", subject: actor.user, account: account?.name })
    return Cookies.endSession(request, json({}))
  })

  return { logIn, logOut }
})
