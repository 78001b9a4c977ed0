/**
 * Who may ask what of the console. Each route says where it is declared which roles may call it, and as which operation of
 * the interface an account's API key may; what says nothing of a role is refused to the role.
 */
import type { Actor } from "@headwater/indexer/store/operator/AuditLog"
import type { Parts } from "@headwater/indexer/store/operator/OperatorView"
import type * as Effect from "effect/Effect"
import type * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Settings from "../settings/Settings.ts"

/**
 * - `operator`: everything
 * - `support`: reads everything; sends callbacks again, tests and activates subscriptions
 * - `read-only`: reads everything but the audit log
 */
export type StaffRole = typeof Settings.ConsoleRole.Type
export type Role = StaffRole | "account"

export const readers: ReadonlyArray<StaffRole> = ["operator", "support", "read-only"]
export const supporters: ReadonlyArray<StaffRole> = ["operator", "support"]
export const operators: ReadonlyArray<StaffRole> = ["operator"]

/** Who asks. */
export interface Visitor {
  readonly role: Role
  readonly actor: Actor
  /** The account whose key was shown: what is answered is the account's own alone. Undefined for users. */
  readonly account: { readonly id: number; readonly name: string } | undefined
  /**
   * Whether the visitor may read what an operation of the interface answers, as `group.endpoint`: a route that says more than its
   * own operation leaves out the parts that the key may not read. Undefined: what no operation answers, which is for keys without
   * an allow-list.
   */
  readonly reads: (operation: string | undefined) => boolean
}

/** The parts of the store that the visitor may see. */
export const partsOf = ({ reads }: Visitor): Parts => ({
  broadcasts: reads("broadcasts.broadcastOutcome"),
  callbacks: reads("callbacks.list"),
  domains: reads("domains.list"),
  subscriptions: reads("subscriptions.list"),
  syncedAddresses: reads("addresses.syncedAddresses"),
  wallets: reads("hdWallets.syncedWallets")
})

export type Request = HttpServerRequest.HttpServerRequest
export type Response = HttpServerResponse.HttpServerResponse

export interface Route<E = unknown> {
  readonly method: "GET" | "POST"
  readonly path: `/${string}`
  readonly roles: ReadonlyArray<StaffRole>
  /** The operation that an account's key has to be allowed, as `group.endpoint`; undefined where no account may call the route. */
  readonly operation: string | undefined
  readonly handle: (request: Request, visitor: Visitor) => Effect.Effect<Response, E, HttpRouter.RouteContext>
}

type Handle<E> = Route<E>["handle"]

export const get = <E>(
  path: Route["path"],
  roles: ReadonlyArray<StaffRole>,
  handle: Handle<E>,
  operation?: string
): Route<E> => ({ method: "GET", path, roles, operation, handle })

export const post = <E>(
  path: Route["path"],
  roles: ReadonlyArray<StaffRole>,
  handle: Handle<E>,
  operation?: string
): Route<E> => ({ method: "POST", path, roles, operation, handle })

/** As the session of the page names it. */
export const nameOf = ({ method, path }: Route) => `${method} ${path}`
