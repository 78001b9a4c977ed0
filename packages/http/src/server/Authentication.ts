/** Finds the account of an API key, and the operations that the key may call. */
import { Accounts, type Caller } from "@headwater/indexer/store/accounts/Accounts"
import * as Effect from "effect/Effect"
import type * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as AllowList from "../contract/AllowList.ts"
import { Authentication, CurrentAccount } from "../contract/Authentication.ts"
import { RequestInfo } from "../contract/Envelope.ts"
import { EndpointNotAllowed, InvalidApiKey, MissingApiKey } from "../contract/Errors.ts"

const missing = new MissingApiKey({ message: "The header x-api-key is missing" })
const invalid = new InvalidApiKey({ message: "The API key is unknown, revoked or expired" })

const admit = (
  caller: Caller | undefined,
  group: HttpApiGroup.Top,
  endpoint: HttpApiEndpoint.Top
): Effect.Effect<CurrentAccount["Service"], InvalidApiKey | EndpointNotAllowed> => {
  if (caller === undefined) return invalid
  const { account: id, endpoints, readOnly } = caller
  if (!AllowList.allows(endpoints, group.identifier, endpoint.identifier)) {
    const name = `${group.identifier}.${endpoint.identifier}`
    return new EndpointNotAllowed({ message: `The API key may not call ${name}` })
  }
  return readOnly && !AllowList.readsOnly(endpoint)
    ? new EndpointNotAllowed({ message: "The API key may only read" })
    : Effect.succeed({ id, readOnly })
}

export const layer = Layer.effect(
  Authentication,
  Effect.map(Accounts, ({ authenticate }) =>
    Authentication.of({
      apiKey: (handled, { credential, endpoint, group }) =>
        RequestInfo.pipe(
          Effect.flatMap((request): Effect.Effect<Caller | undefined, MissingApiKey> => {
            request.operation = endpoint.identifier
            return Redacted.value(credential) === "" ? missing : Effect.orDie(authenticate(credential))
          }),
          Effect.flatMap((caller) => admit(caller, group, endpoint)),
          Effect.flatMap((account) => Effect.provideService(handled, CurrentAccount, account))
        )
    })
  )
)
