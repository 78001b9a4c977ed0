/** The calling account, by the key in the header `x-api-key`. */
import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { Failures } from "./Errors.ts"

/** The account that calls. */
export class CurrentAccount extends Context.Service<CurrentAccount, { readonly id: number }>()(
  "@headwater/http/contract/Authentication/CurrentAccount"
) {}

/** Provides {@link CurrentAccount} to every handler. */
export class Authentication extends HttpApiMiddleware.Service<Authentication, { provides: CurrentAccount }>()(
  "@headwater/http/contract/Authentication",
  {
    security: { apiKey: HttpApiSecurity.apiKey({ key: "x-api-key", in: "header" }) },
    error: [Failures.missingApiKey, Failures.invalidApiKey, Failures.endpointNotAllowed]
  }
) {}
