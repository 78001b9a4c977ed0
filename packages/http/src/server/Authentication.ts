/** Finds the account of an API key, and the operations that the key may call. */
import { Accounts } from "@headwater/indexer/store/accounts/Accounts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as AllowList from "../contract/AllowList.ts"
import { Authentication, CurrentAccount } from "../contract/Authentication.ts"
import { RequestInfo } from "../contract/Envelope.ts"
import { EndpointNotAllowed, InvalidApiKey, MissingApiKey } from "../contract/Errors.ts"

const missing = new MissingApiKey({ message: "The header x-api-key is missing" })
const invalid = new InvalidApiKey({ message: "The API key is unknown, revoked or expired" })

export const layer = Layer.effect(
  Authentication,
  Effect.gen(function* () {
    const accounts = yield* Accounts
    return Authentication.of({
      apiKey: Effect.fnUntraced(function* (handled, { credential, endpoint, group }) {
        const request = yield* RequestInfo
        request.operation = endpoint.identifier
        if (Redacted.value(credential) === "") return yield* missing
        const caller = yield* Effect.orDie(accounts.authenticate(credential))
        if (caller === undefined) return yield* invalid
        if (!AllowList.allows(caller.endpoints, group.identifier, endpoint.identifier)) {
          const name = `${group.identifier}.${endpoint.identifier}`
          return yield* new EndpointNotAllowed({ message: `The API key may not call ${name}` })
        }
        if (caller.readOnly && !AllowList.readsOnly(endpoint)) {
          return yield* new EndpointNotAllowed({ message: "The API key may only read" })
        }
        const { account: id, readOnly } = caller
        return yield* Effect.provideService(handled, CurrentAccount, { id, readOnly })
      })
    })
  })
)
