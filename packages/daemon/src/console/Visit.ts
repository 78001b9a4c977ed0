/** Who asks with a session: a user, or whoever has shown an account's API key, as long as that key is one. */
import * as AllowList from "@headwater/http/contract/AllowList"
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Access from "./Access.ts"
import * as Cookies from "./Cookies.ts"
import * as Peer from "./Peer.ts"
import type { Sessions } from "./Sessions.ts"

/** A visitor, and the routes that are open to the visitor at the moment. */
export interface Visit {
  readonly visitor: Access.Visitor
  readonly may: (route: Access.Route) => boolean
}

const group = (operation: string) => operation.split(".") as [group: string, endpoint: string]

/** The account of an API key, and what the key may; undefined where the key is wrong, revoked or expired. */
export const accountOf = Effect.fnUntraced(function* (key: Redacted.Redacted) {
  const accounts = yield* Accounts
  const caller = yield* accounts.authenticate(key)
  if (caller === undefined) return undefined
  const account = yield* accounts.get(caller.account)
  return account === undefined ? undefined : { id: account.id, name: account.name, caller }
})

/** Who has the session of a request now, and which routes the visitor may call: an API key may have ended meanwhile. */
export const of = Effect.fnUntraced(function* (sessions: Sessions, request: Access.Request) {
  const token = Cookies.sessionOf(request)
  const holder = yield* sessions.holderOf(token)
  if (holder === undefined) return undefined
  const from = Peer.describe(request)
  if (holder.role !== "account") {
    const { role, user } = holder
    const visitor = { role, actor: { user, role, from }, account: undefined, reads: () => true }
    return { visitor, may: (route) => route.roles.includes(role) } satisfies Visit as Visit
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
      operation === undefined ? caller.endpoints === undefined : AllowList.allows(caller.endpoints, ...group(operation))
  }
  const may = ({ method, operation }: Access.Route) =>
    operation !== undefined && visitor.reads(operation) && (!caller.readOnly || AllowList.readsOnly({ method }))
  return { visitor, may } satisfies Visit as Visit
})
