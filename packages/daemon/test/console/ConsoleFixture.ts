/** The console's routes on a store, without a socket: sessions of every role, and requests of each. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import type * as Access from "@headwater/daemon/console/Access"
import * as Console from "@headwater/daemon/console/Console"
import * as Settings from "@headwater/daemon/settings/Settings"
import * as SettingsFile from "@headwater/daemon/settings/SettingsFile"
import { OwnOutages } from "@headwater/daemon/supervision/OwnOutages"
import { ChainStatus } from "@headwater/indexer/families/node/ChainStatus"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import { Callbacks } from "@headwater/indexer/store/subscriptions/Callbacks"
import * as Domains from "@headwater/indexer/store/subscriptions/Domains"
import { Outbox } from "@headwater/indexer/store/subscriptions/Outbox"
import { Subscriptions } from "@headwater/indexer/store/subscriptions/Subscriptions"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { stores } from "../../../../test/Stores.ts"

export const passwords = {
  operator: "the operator's password",
  support: "the support's password",
  "read-only": "the reader's password"
} as const

const secret = (text: string) => Redacted.make(text)
export const consoleSettings = {
  host: "127.0.0.1",
  port: 0,
  password: secret(passwords.operator),
  users: {
    sue: { password: secret(passwords.support), role: "support" as const },
    rob: { password: secret(passwords["read-only"]), role: "read-only" as const }
  }
}
const userOf = { operator: "operator", support: "sue", "read-only": "rob" } as const

const settings = Layer.effect(
  Settings.Settings,
  Effect.map(
    SettingsFile.load(undefined, { HEADWATER_CHAINS_ETHEREUM_DEVNET_NODES: "http://127.0.0.1:1" }),
    (read) => ({ ...read, console: consoleSettings })
  )
).pipe(Layer.provide(NodeServices.layer))

/** A verifier that finds the token of every domain but those that begin with `wrong`. */
const verifier = Layer.effect(
  Domains.DomainVerifier,
  Effect.map(Domains.Domains, (domains) => ({
    verify: Effect.fnUntraced(function* (account, name, also) {
      const domain = yield* domains.get(account, name)
      if (domain.verified !== undefined) return domain
      return name.startsWith("wrong")
        ? yield* new Domains.DomainNotVerified({ name, dns: "no TXT record", file: "answered 404" })
        : yield* domains.setVerified(account, name, also)
    })
  }))
)

/** What the console needs, on a store. */
export const services = (store: (typeof stores)[number]["layer"]) =>
  Layer.mergeAll(Accounts.layer, Callbacks.layer, ChainStatus.layer, Credits.layer, OwnOutages.layer, verifier).pipe(
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(Subscriptions.layer),
    Layer.provideMerge(Domains.hostPermission(new Set())),
    Layer.provideMerge(Domains.Domains.layer),
    Layer.provideMerge(settings),
    Layer.provideMerge(store)
  )

export type Who = Access.StaffRole | { readonly key: string } | undefined

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly body: any
}

/** Asks the console; `who` logs in first, once. */
export const make = Effect.gen(function* () {
  const context = yield* Effect.context<Layer.Success<ReturnType<typeof services>>>()
  const { dispose, handler } = HttpRouter.toWebHandler(
    Console.routes(consoleSettings).pipe(Layer.provide(Layer.succeedContext(context))),
    { disableLogger: true }
  )
  yield* Effect.addFinalizer(() => Effect.promise(dispose))
  const cookies = new Map<string, string>()

  const send = (method: string, path: string, body: unknown, headers: Record<string, string>) =>
    Effect.promise(async (): Promise<Answer> => {
      const json = { "content-type": "application/json", ...headers }
      const request = new Request(`http://console.test${path}`, {
        method,
        headers: method === "POST" ? json : headers,
        ...(method === "POST" ? { body: JSON.stringify(body) } : {})
      })
      const response = await handler(request, undefined as never)
      const text = await response.text()
      const parsed = response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : undefined
      return { status: response.status, headers: response.headers, text, body: parsed }
    })

  const loginOf = (who: NonNullable<Who>) =>
    typeof who === "string" ? { user: userOf[who], password: passwords[who] } : who
  const logIn = Effect.fnUntraced(function* (who: NonNullable<Who>) {
    const answer = yield* send("POST", "/api/login", loginOf(who), {})
    if (answer.status !== 200) return yield* Effect.die(new Error(`${answer.status}: ${answer.text}`))
    return answer.headers.getSetCookie()[0]!.split(";")[0]!
  })
  const ask = Effect.fnUntraced(function* (who: Who, method: "GET" | "POST", path: string, body: unknown = {}) {
    if (who === undefined) return yield* send(method, path, body, {})
    const name = JSON.stringify(who)
    const cookie = cookies.get(name) ?? (yield* logIn(who))
    cookies.set(name, cookie)
    return yield* send(method, path, body, { cookie })
  })
  return { ask, send }
})
