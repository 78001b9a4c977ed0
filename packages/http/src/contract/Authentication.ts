/** The calling account, by the key in the header `x-api-key`. */
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { Failures } from "./Errors.ts"

/** The account that calls, and whether its key may only read: who has such a key is shown no secret. */
export class CurrentAccount extends Context.Service<
  CurrentAccount,
  { readonly id: number; readonly readOnly: boolean }
>()("@headwater/http/contract/Authentication/CurrentAccount") {}

/** Provides {@link CurrentAccount} to every handler. */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: CurrentAccount }>()(
  "@headwater/http/contract/Authentication",
  {
    security: { apiKey: HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }) },
    error: [Failures.missingApiKey, Failures.invalidApiKey, Failures.endpointNotAllowed]
  }
) {}
