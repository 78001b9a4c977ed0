/** The errors of every operation: requests that do not fit the contract, and failures of the server itself. */
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { Failures } from "./Errors.ts"

export class Validation extends HttpApiMiddleware.Service<Validation>()("@headwater/http/contract/Validation", {
  error: [
    Failures.invalidData,
    Failures.invalidPagination,
    Failures.limitGreaterThanAllowed,
    Failures.invalidRequestBodyStructure,
    Failures.uriNotFound,
    Failures.unexpectedServerError,
    Failures.nodeUnavailable
  ]
}) {}
