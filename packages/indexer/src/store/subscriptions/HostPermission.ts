/**
 * Whether callbacks of an account may go to a host, asked inside the transaction that activates a subscription there or
 * leases its callbacks. Domain verification provides the answer; without it every host may receive.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { DatabaseError } from "../database/Database.ts"

export const HostPermission = Context.Reference<
  (account: number, host: string) => Effect.Effect<boolean, DatabaseError>
>("@headwater/indexer/store/subscriptions/HostPermission", {
  defaultValue: () => () => Effect.succeed(true)
})

/** A host of an account. */
export interface Target {
  readonly account: number
  readonly host: string
}

/** As {@link HostPermission}, of many hosts by few statements: whether each may receive, in their order. */
export const HostPermissions = Context.Reference<
  (targets: ReadonlyArray<Target>) => Effect.Effect<ReadonlyArray<boolean>, DatabaseError>
>("@headwater/indexer/store/subscriptions/HostPermission/HostPermissions", {
  defaultValue: () => (targets) =>
    Effect.flatMap(HostPermission, (mayReceive) =>
      Effect.forEach(targets, ({ account, host }) => mayReceive(account, host))
    )
})
