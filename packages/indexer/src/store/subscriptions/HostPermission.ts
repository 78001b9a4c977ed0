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
