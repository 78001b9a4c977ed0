/** Accounts, their API keys and their domains: shown and changed by the services that the command line has too. */
import * as AllowList from "@headwater/http/contract/AllowList"
import { CallbackUrlPolicy } from "@headwater/http/server/CallbackUrlPolicy"
import { type Account, AccountNotFound, Accounts } from "@headwater/indexer/store/accounts/Accounts"
import { Credits } from "@headwater/indexer/store/accounts/Credits"
import * as Limits from "@headwater/indexer/store/accounts/Limits"
import { Database } from "@headwater/indexer/store/database/Database"
import type { OperatorView } from "@headwater/indexer/store/operator/OperatorView"
import {
  challengeRecord,
  challengeUrl,
  type Domain,
  Domains,
  DomainVerifier
} from "@headwater/indexer/store/subscriptions/Domains"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as Settings from "../settings/Settings.ts"
import * as Access from "./Access.ts"
import type * as Audited from "./Audited.ts"
import { bodyOf, json, noAccount, noSuch, refused, textOf, unreadable } from "./ConsoleReply.ts"

const noDomain = noSuch("domain")

const nameOf = bodyOf(Schema.Struct({ name: Schema.String }), "{name}")
const newKeyOf = bodyOf(
  Schema.Struct({
    name: Schema.String,
    endpoints: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(1_000))),
    readOnly: Schema.optionalKey(Schema.Boolean),
    expires: Schema.optionalKey(Schema.Int)
  }),
  "{name, endpoints?, readOnly?, expires?}: a name, names of operations, and a time in milliseconds"
)

/** The account that a route names; an account's own alone where the visitor is one. */
const makeNamed = Effect.map(Accounts, (accounts) =>
  Effect.fnUntraced(function* ({ account }: Access.Visitor) {
    const { account: encoded = "" } = yield* HttpRouter.params
    const found = yield* accounts.find(encoded)
    return account === undefined || account.id === found.id ? found : yield* new AccountNotFound({ name: encoded })
  })
)

/** The token, where the owner publishes it, is for those who may add domains. */
const shown = ({ created, name, token, verified }: Domain, withToken: boolean) => ({
  ...{ name, created, verified: verified ?? null },
  ...(withToken ? { token, record: challengeRecord(name), url: challengeUrl(name) } : {})
})

const makeAccounts = Effect.fnUntraced(function* (view: OperatorView, audited: Audited.Audited) {
  const accounts = yield* Accounts
  const credits = yield* Credits
  const domains = yield* Domains
  const { limits } = yield* Settings.Settings
  const stored = Effect.provideService(Database, yield* Database)
  const named = yield* makeNamed

  const show = Effect.fnUntraced(
    function* (_: Access.Request, visitor: Access.Visitor) {
      const { created, id, name, retractions } = yield* named(visitor)
      const used = yield* stored(Limits.usage(id, limits))
      const withToken = visitor.role === "operator" || visitor.role === "account"
      const { reads } = visitor
      return json({
        account: { name, created, retractions },
        balance: reads("credits.balance") ? yield* credits.balance(id) : undefined,
        keys: reads(undefined) ? yield* accounts.listKeys(id) : undefined,
        domains: reads("domains.list")
          ? (yield* domains.list(id)).map((domain) => shown(domain, withToken))
          : undefined,
        limits: Struct.keys(used).map((limit) => ({ name: limit, used: used[limit], most: limits[limit] })),
        subscriptions: reads("subscriptions.list") ? yield* view.subscriptionCounts(id) : undefined
      })
    },
    Effect.catchTags({ AccountNotFound: () => Effect.succeed(noAccount) })
  )

  const create = Effect.fnUntraced(
    function* (request: Access.Request, visitor: Access.Visitor) {
      const { name } = yield* nameOf(request)
      const deed = { action: "account.create", subject: name, account: name }
      yield* audited.change(visitor, deed, accounts.create(name))
      return json({ name })
    },
    Effect.catchTags({
      ...unreadable,
      InvalidAccountName: ({ message }) => Effect.succeed(refused(400, message)),
      DuplicateAccount: ({ message }) => Effect.succeed(refused(409, message))
    })
  )

  return [
    Access.get("/api/accounts", Access.readers, () => Effect.map(view.accounts, (found) => json(found))),
    Access.post("/api/accounts", Access.operators, create),
    Access.get("/api/accounts/:account", Access.readers, show, "limits.get"),
    Access.get(
      "/api/credits",
      Access.readers,
      (request, { account }) =>
        Effect.map(view.credits(account?.name ?? textOf(request, "account")), (found) => json(found)),
      "credits.statement"
    )
  ]
})

const makeKeys = Effect.fnUntraced(function* (audited: Audited.Audited) {
  const accounts = yield* Accounts
  const named = yield* makeNamed

  const create = Effect.fnUntraced(
    function* (request: Access.Request, visitor: Access.Visitor) {
      const options = yield* newKeyOf(request)
      const unknown = options.endpoints?.filter((name) => !AllowList.patterns.includes(name)) ?? []
      if (unknown.length > 0) return refused(400, `endpoints: no operation is called ${unknown.join(", ")}`)
      if (options.expires !== undefined && options.expires <= (yield* Clock.currentTimeMillis)) {
        return refused(400, "expires must be a time to come")
      }
      const { id: account, name } = yield* named(visitor)
      const deed = { action: "key.create", subject: options.name, account: name }
      const { id, key } = yield* audited.change(visitor, deed, accounts.createKey(account, options))
      return json({ id, key: Redacted.value(key) })
    },
    Effect.catchTags({
      ...unreadable,
      AccountNotFound: () => Effect.succeed(noAccount),
      InvalidKeyName: ({ message }) => Effect.succeed(refused(400, message))
    })
  )

  const revoke = Effect.fnUntraced(
    function* (_: Access.Request, visitor: Access.Visitor) {
      const { id = "" } = yield* HttpRouter.params
      const account = yield* named(visitor)
      const deed = { action: "key.revoke", subject: id, account: account.name }
      yield* audited.change(visitor, deed, accounts.revokeKey(account.id, id))
      return json({})
    },
    Effect.catchTags({
      AccountNotFound: () => Effect.succeed(noAccount),
      KeyNotFound: ({ message }) => Effect.succeed(refused(404, message))
    })
  )

  return [
    Access.get("/api/operations", Access.operators, () => Effect.sync(() => json({ operations: AllowList.patterns }))),
    Access.post("/api/accounts/:account/keys", Access.operators, create),
    Access.post("/api/accounts/:account/keys/:id/revoke", Access.operators, revoke)
  ]
})

const makeDomains = Effect.fnUntraced(function* (view: OperatorView, audited: Audited.Audited) {
  const domains = yield* Domains
  const verifier = yield* DomainVerifier
  const policy = yield* CallbackUrlPolicy
  const named = yield* makeNamed
  const deedOf = (action: string, account: Account, subject: string) => ({ action, subject, account: account.name })
  const domainOf = Effect.map(HttpRouter.params, ({ domain = "" }) => domain.toLowerCase())

  /** The host that callback URLs of this domain have; undefined where the text is none. */
  const hostOf = (domain: string) =>
    Effect.match(policy.check(`https://${domain}/`), {
      onFailure: () => undefined,
      onSuccess: ({ host, hostname }) => (host === hostname && /^[^/?:]+$/.test(domain) ? hostname : undefined)
    })

  const add = Effect.fnUntraced(
    function* (request: Access.Request, visitor: Access.Visitor) {
      const { name } = yield* nameOf(request)
      const host = yield* hostOf(name)
      if (host === undefined) return refused(400, "name must be a host name alone, as callback URLs have it")
      const account = yield* named(visitor)
      const domain = yield* audited.change(visitor, deedOf("domain.add", account, host), domains.add(account.id, host))
      return json(shown(domain, true))
    },
    Effect.catchTags({
      ...unreadable,
      AccountNotFound: () => Effect.succeed(noAccount),
      LimitReached: ({ message }) => Effect.succeed(refused(409, message))
    })
  )

  const verify = Effect.fnUntraced(
    function* (_: Access.Request, visitor: Access.Visitor) {
      const account = yield* named(visitor)
      const name = yield* domainOf
      yield* domains.get(account.id, name)
      yield* domains.countVerification(account.id)
      const domain = yield* audited.changeWith(visitor, deedOf("domain.verify", account, name), (also) =>
        verifier.verify(account.id, name, also)
      )
      return json(shown(domain, true))
    },
    Effect.catchTags({
      AccountNotFound: () => Effect.succeed(noAccount),
      DomainNotFound: () => Effect.succeed(noDomain),
      DomainNotVerified: ({ message }) => Effect.succeed(refused(409, message)),
      LimitReached: ({ message }) => Effect.succeed(refused(409, message))
    })
  )

  const approve = Effect.fnUntraced(
    function* (_: Access.Request, visitor: Access.Visitor) {
      const account = yield* named(visitor)
      const name = yield* domainOf
      const domain = yield* audited.changeWith(visitor, deedOf("domain.approve", account, name), (also) =>
        domains.setVerified(account.id, name, also)
      )
      return json(shown(domain, true))
    },
    Effect.catchTags({
      AccountNotFound: () => Effect.succeed(noAccount),
      DomainNotFound: () => Effect.succeed(noDomain)
    })
  )

  const { get, operators, post, readers } = Access
  const ofAccount = "/api/accounts/:account/domains" as const
  return [
    get(
      "/api/domains",
      readers,
      (_, { account }) => Effect.map(view.domains(account?.id), (found) => json(found)),
      "domains.list"
    ),
    post(ofAccount, operators, add, "domains.add"),
    post(`${ofAccount}/:domain/verify`, operators, verify, "domains.verify"),
    post(`${ofAccount}/:domain/approve`, operators, approve)
  ]
})

export const routes = Effect.fnUntraced(function* (view: OperatorView, audited: Audited.Audited) {
  return [
    ...(yield* makeAccounts(view, audited)),
    ...(yield* makeKeys(audited)),
    ...(yield* makeDomains(view, audited))
  ]
})
