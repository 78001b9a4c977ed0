/** The errors by which requests are refused that do not fit the contract's schemas. */
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { Failures } from "../Errors.ts"

export class Validation extends HttpApiMiddleware.Service<Validation>()("@headwater/http/contract/Validation", {
  error: [
    Failures.invalidData,
    Failures.invalidPagination,
    Failures.limitGreaterThanAllowed,
    Failures.invalidRequestBodyStructure
  ]
}) {}
